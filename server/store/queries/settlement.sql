-- Settlement of what is due, in one database transaction: the row locks are the lease, and a worker that dies gives
-- everything back by dying.

-- name: ClaimDueTransactions :many
-- A share of what is due, from each sandbox that has something due and is neither suspended nor deleted: the scan skips from
-- one to the next, and looks at one row of each. With more sandboxes than the batch has places the lot decides, so that none is
-- always the last.
--
-- Whether a payment expired is decided by its own times, not by how late a worker comes to it. What is forwarded to an
-- operator is settled, and expires, in passthrough.sql.
with recursive lanes as (
  (select t.tenant, t.due_at from transactions t
   where t.status = 'PENDING' and not t.passthrough
   order by t.tenant, t.due_at limit 1)
  union all
  select following.tenant, following.due_at from lanes cross join lateral (
    select t.tenant, t.due_at from transactions t
    where t.tenant > lanes.tenant and t.status = 'PENDING' and not t.passthrough
    order by t.tenant, t.due_at limit 1) following
), chosen as materialized (
  select lanes.tenant from lanes join organizations o on o.tenant = lanes.tenant
  where lanes.due_at <= now() and not o.suspended and o.retained_at is null
  order by random() limit sqlc.arg(batch)::integer
), share as materialized (
  select sqlc.arg(batch)::integer / greatest(count(*), 1) as size from chosen
)
select claimed.tenant, claimed.id, claimed.due_at, claimed.expired, claimed.float_currency, claimed.sim_id, claimed.net_amount,
  claimed.commission, (select size from share)::integer as share, (extract(epoch from now() - claimed.due_at) * 1000)::float8 as late_ms
from chosen cross join lateral (
  select t.tenant, t.id, t.due_at, coalesce(t.due_at >= t.expires_at, false)::boolean as expired, t.float_currency, t.sim_id,
    t.net_amount, t.commission
  from transactions t
  where t.tenant = chosen.tenant and t.due_at <= now() and t.status = 'PENDING' and not t.passthrough
  order by t.due_at
  limit (select size from share)
  for update skip locked) claimed;

-- name: ClaimMoreTransactions :many
-- More of the same for the sandboxes that have it, where others left room in the batch.
select claimed.tenant, claimed.id, claimed.due_at, claimed.expired, claimed.float_currency, claimed.sim_id, claimed.net_amount,
  claimed.commission, sqlc.arg(share)::integer as share, (extract(epoch from now() - claimed.due_at) * 1000)::float8 as late_ms
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant) lane cross join lateral (
  select t.tenant, t.id, t.due_at, coalesce(t.due_at >= t.expires_at, false)::boolean as expired, t.float_currency, t.sim_id,
    t.net_amount, t.commission
  from transactions t
  where t.tenant = lane.tenant and t.due_at <= now() and t.status = 'PENDING' and not t.passthrough
    and t.id <> all (sqlc.arg(claimed)::uuid[])
  order by t.due_at
  limit sqlc.arg(share)::integer
  for update skip locked) claimed;

-- name: LockPayers :many
select s.* from sims s
join (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(sim_ids)::uuid[]) as sim_id) wanted
  on s.tenant = wanted.tenant and s.sim_id = wanted.sim_id
order by s.tenant, s.sim_id
for update of s;

-- name: ParkTransactions :exec
-- The payer has not answered: nothing more is due before the payment expires.
update transactions t set due_at = t.expires_at
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) parked
where t.tenant = parked.tenant and t.id = parked.id;

-- name: SettleTransactions :exec
-- All that a batch of outcomes does. merchant_before is what earlier payments of the same batch gave to the same float. Floats
-- are locked last and in one order, SIMs were locked before.
with settled as (
  select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
    unnest(sqlc.arg(statuses)::text[]) as status, unnest(sqlc.arg(float_currencies)::text[]) as currency,
    unnest(sqlc.arg(merchant_deltas)::bigint[]) as merchant_delta, unnest(sqlc.arg(merchant_before)::bigint[]) as merchant_before,
    unnest(sqlc.arg(sim_ids)::uuid[]) as sim_id, unnest(sqlc.arg(sim_deltas)::bigint[]) as sim_delta,
    unnest(sqlc.arg(sim_balances)::bigint[]) as sim_balance
), payers as (
  update sims set balance = sims.balance + paid.delta, changed_at = now()
  from (select tenant, sim_id, sum(sim_delta)::bigint as delta from settled where sim_delta <> 0 group by tenant, sim_id) paid
  where sims.tenant = paid.tenant and sims.sim_id = paid.sim_id
  returning 1
), events_of as (
  insert into events (tenant, id, state, due_at)
  select s.tenant, s.id, case when o.deliver then 'queued' else 'recorded' end::event_state,
    case when o.deliver then now() end
  from settled s join (select tenant, webhook_url is not null and 'collection' = any(webhook_types) as deliver from organizations) o
    on o.tenant = s.tenant
), earned as (
  select tenant, currency, sum(merchant_delta)::bigint as delta from settled where status = 'SUCCESS' group by tenant, currency
), hot as (
  select f.tenant, f.currency from floats f join earned e on e.tenant = f.tenant and e.currency = f.currency
  where (select count(*) from payers) >= 0
  order by f.tenant, f.currency for update of f
), merchants as (
  update floats f set balance = f.balance + e.delta, changed_at = now()
  from hot join earned e on e.tenant = hot.tenant and e.currency = hot.currency
  where f.tenant = hot.tenant and f.currency = hot.currency
  returning f.tenant, f.currency, f.balance - e.delta as before
)
update transactions t set status = s.status::transaction_status, completed_at = now(), due_at = null,
  merchant_delta = s.merchant_delta, sim_delta = s.sim_delta,
  merchant_balance_after = case when s.status = 'SUCCESS' then m.before + s.merchant_before + s.merchant_delta end,
  sim_balance_after = case when s.sim_delta <> 0 then s.sim_balance end
from settled s left join merchants m on m.tenant = s.tenant and m.currency = s.currency
where t.tenant = s.tenant and t.id = s.id;

-- name: WakeForgotten :execrows
-- Pending payments whose time ran out and that nothing would come to any more are made due. No lease, and no pause between two
-- questions to an operator, is a minute long: what is due within one is not forgotten.
with forgotten as materialized (
  select f.tenant, f.id from transactions f
  where f.status = 'PENDING' and f.expires_at < now() - interval '1 minute'
    and (f.due_at is null or f.due_at > now() + interval '1 minute')
  limit sqlc.arg(batch)::integer
  for update skip locked
)
update transactions t set due_at = now()
from forgotten where t.tenant = forgotten.tenant and t.id = forgotten.id;
