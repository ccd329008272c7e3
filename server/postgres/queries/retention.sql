-- Removal of rows after their retention time, in small batches.

-- name: AgedTenants :many
-- Returns the sandboxes with old events. Events with ids below `before` are old. In a sandbox with a clock,
-- ids do not show the time of the database: the recorded_at of its first events decides. Retained sandboxes
-- are left out.
select o.tenant, (c.tenant is not null)::boolean as clocked
from organizations o left join clocks c on c.tenant = o.tenant
where o.retained_at is null and case when c.tenant is null
  then exists (select from events e where e.tenant = o.tenant and e.id < sqlc.arg(before))
  else sqlc.arg(cutoff)::timestamptz > any (array(
    select e.recorded_at from events e where e.tenant = o.tenant order by e.id
    limit sqlc.arg(batch)::integer))
  end;

-- name: RemoveAgedEvents :one
-- Looks at the next events, and removes the old ones with their attempts, and with the native requests,
-- callbacks and callback attempts of their transactions. Queued events stay, and so do events of which a
-- callback is still due. Locked events stay until the next call. Returns how many events it looked at, how
-- many of these were old, and the last id, after which the next call continues. Locks are taken as in
-- delivery.sql: the events, then endpoint_health, whose counts it updates.
with span as (
  select e.id, case when sqlc.arg(clocked)::boolean then e.recorded_at
    else e.created_at end < sqlc.arg(cutoff) as old from events e
  where e.tenant = sqlc.arg(tenant) and e.id > sqlc.arg(after) and e.id < sqlc.arg(before)
  order by e.id limit sqlc.arg(batch)
), aged as (
  select e.id, e.state from events e join span on span.id = e.id
  where e.tenant = sqlc.arg(tenant) and span.old and e.state <> 'queued'
    and not exists (select from native_callbacks n
      where n.tenant = sqlc.arg(tenant) and n.id between first_callback_id(e.id) and last_callback_id(e.id)
        and n.transaction_id = e.id and n.due_at is not null)
  order by e.id for update of e skip locked
), attempts as (
  delete from delivery_attempts a using aged where a.tenant = sqlc.arg(tenant) and a.event_id = aged.id
), faults as (
  delete from event_faults f using aged where f.tenant = sqlc.arg(tenant) and f.event_id = aged.id
), requests as (
  delete from native_requests n using aged where n.tenant = sqlc.arg(tenant) and n.id = aged.id
), callbacks as (
  delete from native_callbacks n using aged
  where n.tenant = sqlc.arg(tenant) and n.id between first_callback_id(aged.id) and last_callback_id(aged.id)
    and n.transaction_id = aged.id
  returning n.id
), tries as (
  delete from callback_attempts a using callbacks where a.tenant = sqlc.arg(tenant) and a.id = callbacks.id
), gone as (
  delete from events e using aged where e.tenant = sqlc.arg(tenant) and e.id = aged.id
), forgotten as (
  delete from unacknowledged_events u using aged
  where u.tenant = sqlc.arg(tenant) and u.id between first_callback_id(aged.id) and last_callback_id(aged.id)
), counts as (
  select count(*) as removed, count(*) filter (where state = 'delivered') as delivered,
    count(*) filter (where state = 'failed') as failed
  from aged
), counted as (
  update endpoint_health h
  set delivered = greatest(0, h.delivered - counts.delivered), failed = greatest(0, h.failed - counts.failed),
    changed_at = now()
  from counts where h.tenant = sqlc.arg(tenant) and counts.delivered + counts.failed > 0
)
select (select count(*) from span)::integer as seen,
  (select count(*) from span where span.old)::integer as old,
  (select span.id from span order by span.id desc limit 1)::uuid as last, counts.removed
from counts;

-- name: RemoveAgedRateUsage :execrows
-- Removes the rows of sandboxes that get no requests any more. TakeRequests removes those of the others.
delete from rate_usage where (tenant, second) in (
  select r.tenant, r.second from rate_usage r where r.second < extract(epoch from now())::bigint - 3600
  limit sqlc.arg(batch));

-- name: RemoveAgedQuotaUsage :execrows
-- Removes months that began more than a year ago, in sandbox time. No statement reads a past month.
delete from quota_usage where (tenant, month) in (
  select q.tenant, q.month from quota_usage q left join clocks c on c.tenant = q.tenant
  where q.month < (clock_time(c.stands_at, c.ahead, c.last_stamp) - interval '1 year')::date
  limit sqlc.arg(batch));

-- The following statements remove the oldest rows of all sandboxes first.

-- name: RemoveAgedNativeTokens :execrows
-- No token lives longer than a day.
delete from native_tokens where (tenant, operator, hash) in (
  select k.tenant, k.operator, k.hash from native_tokens k where k.created_at < now() - interval '1 day'
  order by k.created_at limit sqlc.arg(batch));

-- name: RemoveAgedNativeOrders :execrows
delete from native_orders where (tenant, operator, token_hash) in (
  select k.tenant, k.operator, k.token_hash from native_orders k
  where k.created_at < now() - interval '30 days' order by k.created_at limit sqlc.arg(batch));

-- name: RemoveAgedNotices :one
-- Callbacks that belong to no transaction, with their attempts.
with aged as (
  delete from native_callbacks where (tenant, id) in (
    select n.tenant, n.id from native_callbacks n
    where n.recorded_at < now() - interval '30 days' order by n.recorded_at limit sqlc.arg(batch))
  returning tenant, id
), attempts as (
  delete from callback_attempts a using aged where a.tenant = aged.tenant and a.id = aged.id
), forgotten as (
  delete from unacknowledged_events u using aged
  where u.tenant = aged.tenant and u.id = aged.id and u.operator || '' > ''
)
select count(*) from aged;

-- name: RemoveAgedFaultActs :execrows
-- A reference is remembered for 30 days.
delete from fault_acts where (tenant, name, reference) in (
  select a.tenant, a.name, a.reference from fault_acts a where a.acted_at < now() - interval '30 days'
  order by a.acted_at limit sqlc.arg(batch));

-- name: RemoveAgedFaultRequests :execrows
delete from fault_requests where (tenant, reference) in (
  select r.tenant, r.reference from fault_requests r where r.counted_at < now() - interval '30 days'
  order by r.counted_at limit sqlc.arg(batch));

-- name: RemoveAgedConsoleLinks :execrows
delete from console_links where (org_id, hash) in (
  select l.org_id, l.hash from console_links l where l.expires_at < now()
  order by l.expires_at limit sqlc.arg(batch));

-- name: RemoveAgedConsoleSessions :execrows
delete from console_sessions where (org_id, hash) in (
  select s.org_id, s.hash from console_sessions s where s.expires_at < now()
  order by s.expires_at limit sqlc.arg(batch));
