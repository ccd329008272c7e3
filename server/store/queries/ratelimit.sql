-- name: LockRate :exec
-- The replicas of the api take turns with one sandbox's requests.
select pg_advisory_xact_lock(hashtextextended('rate', sqlc.arg(tenant)::bigint));

-- name: TakeRequests :one
-- Grants up to `wanted` requests within the limit of the last 60 seconds, and tells when the oldest of them leaves that minute.
with present as (
  select coalesce(sum(r.granted), 0)::bigint as used, min(r.second) as oldest, extract(epoch from now())::bigint as second
  from rate_usage r
  where r.tenant = sqlc.arg(tenant) and r.second > extract(epoch from now())::bigint - 60
), forgotten as (
  delete from rate_usage r where r.tenant = sqlc.arg(tenant) and r.second <= extract(epoch from now())::bigint - 60
), taken as (
  select second, greatest(0, least(sqlc.arg(wanted)::bigint, sqlc.arg(request_limit)::bigint - used))::integer as granted from present
), written as (
  insert into rate_usage as r (tenant, second, granted)
  select sqlc.arg(tenant), second, granted from taken where granted > 0
  on conflict (tenant, second) do update set granted = r.granted + excluded.granted
)
select taken.granted, greatest(0, sqlc.arg(request_limit)::bigint - present.used - taken.granted)::bigint as remaining,
  coalesce(present.oldest + 60 - present.second, 60)::bigint as reset_seconds
from present, taken;
