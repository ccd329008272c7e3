-- Checks of receivers: the api asks for them, and a worker runs them. All times are real times.

-- name: RequestReceiverCheck :execrows
-- Asks for a check, unless one of the sandbox is open or began less than a minute ago.
insert into receiver_checks (tenant, id, tx_id, allow)
select sqlc.arg(tenant), sqlc.arg(id), sqlc.narg(tx_id), sqlc.arg(allow)
where not exists (
  select from (
    select c.finished_at, c.requested_at from receiver_checks c where c.tenant = sqlc.arg(tenant)
    order by c.tenant desc, c.id desc limit 1) newest
  where newest.finished_at is null or newest.requested_at > now() - interval '1 minute')
on conflict do nothing;

-- name: TrimReceiverChecks :exec
-- A sandbox keeps its newest checks.
delete from receiver_checks c
where c.tenant = sqlc.arg(tenant) and c.id < (
  select newest.id from receiver_checks newest where newest.tenant = sqlc.arg(tenant)
  order by newest.tenant desc, newest.id desc offset 19 limit 1);

-- name: ReceiverCheckAllowedIn :one
-- For how many seconds no other check of the sandbox can be asked for; 0 while one is open.
select (case when finished_at is null then 0 else
  greatest(1, ceil(extract(epoch from requested_at + interval '1 minute' - now()))) end)::integer
from receiver_checks where tenant = sqlc.arg(tenant) order by tenant desc, id desc limit 1;

-- name: GetReceiverCheck :one
select * from receiver_checks where tenant = sqlc.arg(tenant) and id = sqlc.arg(id);

-- name: NewestReceiverCheck :one
select * from receiver_checks where tenant = sqlc.arg(tenant) order by tenant desc, id desc limit 1;

-- name: ExpireReceiverChecks :exec
-- Those that no worker could begin.
update receiver_checks c set finished_at = now(), problem = sqlc.arg(problem)
where c.finished_at is null and c.leased_until is null
  and c.requested_at < now() - make_interval(secs => sqlc.arg(after_ms)::float8 / 1000);

-- name: OneReceiverCheckAtATime :one
-- Only one worker at a time looks for a check to begin, so that no two begin checks of one host.
select pg_try_advisory_xact_lock(7226118305);

-- name: LeaseReceiverCheck :many
-- Leases one check whose receiving host is not checked now, and was not within a minute.
update receiver_checks c
set fence = c.fence + 1, host = regexp_replace(o.webhook_host, ':[0-9]+$', ''), began_at = now(), card = null,
  leased_until = now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000)
from organizations o
where o.tenant = c.tenant and (c.tenant, c.id) = (
  select due.tenant, due.id from receiver_checks due
  join organizations org on org.tenant = due.tenant and not org.suspended and org.retained_at is null
    and org.webhook_url is not null
  where due.finished_at is null and coalesce(due.leased_until, 'epoch') <= now() and not exists (
    select from receiver_checks other
    where other.host = regexp_replace(org.webhook_host, ':[0-9]+$', '')
      and other.began_at > now() - interval '10 minutes'
      and (other.began_at > now() - interval '1 minute' or other.leased_until > now()))
  order by due.id
  limit 1)
returning c.tenant, c.id, c.fence, c.tx_id, c.allow, o.org_id, o.resource_uid, o.webhook_url,
  o.signing_secret, (select e.body from events e where e.tenant = c.tenant and e.id = c.tx_id) as body,
  coalesce((select e.operator from environments e where e.tenant = c.tenant and e.enabled and not e.removed
    order by e.place limit 1), '')::text as operator,
  coalesce((select e.country from environments e where e.tenant = c.tenant and e.enabled and not e.removed
    order by e.place limit 1), '')::text as country;

-- name: RenewReceiverCheck :execrows
-- No row: the sandbox was reset, suspended or deleted, or another worker has the check.
update receiver_checks c
set card = sqlc.arg(card), leased_until = now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000)
from organizations o
where c.tenant = sqlc.arg(tenant) and c.id = sqlc.arg(id) and c.fence = sqlc.arg(fence)
  and o.tenant = c.tenant and not o.suspended and o.retained_at is null;

-- name: FinishReceiverCheck :execrows
update receiver_checks c
set card = coalesce(sqlc.narg(card), c.card), problem = sqlc.arg(problem), finished_at = now(),
  leased_until = null
where c.tenant = sqlc.arg(tenant) and c.id = sqlc.arg(id) and c.fence = sqlc.arg(fence);

-- name: PurgeReceiverChecks :execrows
delete from receiver_checks where tenant = sqlc.arg(tenant);
