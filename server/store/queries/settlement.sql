-- Settlement of what is due, in one database transaction: the row locks are the lease, and a worker that dies gives
-- everything back by dying.

-- name: ClaimDueTransactions :many
-- Whether a payment expired is decided by its own times, not by how late a worker comes to it. What is forwarded to an
-- operator is settled, and expires, in passthrough.sql.
select *, coalesce(due_at >= expires_at, false)::boolean as expired
from transactions
where due_at <= now() and status = 'PENDING' and not passthrough
order by due_at
limit sqlc.arg(batch)
for update skip locked;

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
