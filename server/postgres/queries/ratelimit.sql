-- name: LockRate :exec
-- Lets one replica of the api at a time take requests of a sandbox.
select pg_advisory_xact_lock(hashtextextended('rate', sqlc.arg(tenant)::bigint));

-- name: ReturnRequests :exec
-- Gives back requests that were granted in a second and not used.
update rate_usage set granted = granted - sqlc.arg(unused)::integer
where tenant = sqlc.arg(tenant) and second = sqlc.arg(second) and granted >= sqlc.arg(unused)::integer;

-- name: GrantedRequests :one
-- In the tenant scope. The requests of the last minute, as TakeRequests counts them.
select coalesce(sum(r.granted), 0)::bigint from rate_usage r
where r.tenant = sqlc.arg(tenant)
  and r.second > floor(extract(epoch from statement_timestamp()))::bigint - 62;

-- name: TakeRequests :one
-- Grants up to `wanted` requests within the limit of the last minute, and returns when the oldest grant
-- leaves this minute. Of a grant only its second is stored, and its requests are used within another second.
-- So after 62 seconds its last request is a minute old. Runs after LockRate: statement_timestamp() is then
-- after the lock was granted.
with clock as (
  select floor(extract(epoch from statement_timestamp()))::bigint as second
), usage as (
  select coalesce(sum(r.granted), 0)::bigint as used, min(r.second) filter (where r.granted > 0) as oldest
  from rate_usage r, clock
  where r.tenant = sqlc.arg(tenant) and r.second > clock.second - 62
), forgotten as (
  delete from rate_usage r using clock where r.tenant = sqlc.arg(tenant) and r.second <= clock.second - 62
), taken as (
  select greatest(0, least(sqlc.arg(wanted)::bigint,
    sqlc.arg(request_limit)::bigint - used))::integer as granted from usage
), written as (
  insert into rate_usage as r (tenant, second, granted)
  select sqlc.arg(tenant), clock.second, taken.granted from clock, taken where taken.granted > 0
  on conflict (tenant, second) do update set granted = r.granted + excluded.granted
)
select taken.granted,
  greatest(0, sqlc.arg(request_limit)::bigint - usage.used - taken.granted)::bigint as remaining,
  coalesce(usage.oldest + 62 - clock.second, 62)::bigint as reset_seconds, clock.second
from clock, usage, taken;
