-- Settlement of due transactions, of a few sandboxes in one database transaction. Row locks replace leases:
-- if a worker dies, its database transaction ends, and other workers can settle the rows.
--
-- Due times are in sandbox time, which is the time of the database unless the sandbox has a clock. While a
-- clock is being advanced, its worker does all due work of the sandbox. So the statements that list sandboxes
-- with due work leave the sandbox out.

-- name: TenantsToSettle :many
-- Returns the sandboxes with due transactions that are neither suspended nor deleted, in random order. The
-- scan skips from one sandbox to the next and reads one row of each. A sandbox in which the settlement failed
-- waits for its retry time. Collections that are forwarded are settled, and expire, in forwarding.sql.
with recursive due_tenants as (
  (select t.tenant, t.due_at from transactions t
   where t.status = 'PENDING' and not t.passthrough
   order by t.tenant, t.due_at limit 1)
  union all
  select following.tenant, following.due_at from due_tenants cross join lateral (
    select t.tenant, t.due_at from transactions t
    where t.tenant > due_tenants.tenant and t.status = 'PENDING' and not t.passthrough
    order by t.tenant, t.due_at limit 1) following
)
select due_tenants.tenant, (p.tenant is not null)::boolean as sweep_failed from due_tenants
cross join lateral (
  select from organizations o
  where o.tenant = due_tenants.tenant and not o.suspended and o.retained_at is null limit 1) o
left join clocks c on c.tenant = due_tenants.tenant
left join sweep_failures p on p.tenant = due_tenants.tenant and p.sweep = 'settlement'
where due_tenants.due_at <= clock_time(c.stands_at, c.ahead, c.last_stamp) and c.target is null
  and (p.retry_at is null or p.retry_at <= now())
order by random();

-- name: ClaimDueTransactions :many
-- Locks up to per_tenant due transactions of each given sandbox. Skips sandboxes that another worker is
-- settling, without waiting. The advisory lock on a sandbox ends with the database transaction.
--
-- Whether a payment has expired depends on its own times, and not on the delay of a worker.
with mine as materialized (
  select given.tenant from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant) given
  where pg_try_advisory_xact_lock(hashtextextended('cauri settlement', given.tenant))
)
select claimed.tenant, claimed.id, claimed.due_at, claimed.expired, claimed.float_currency, claimed.sim_id,
  claimed.net_amount, claimed.commission, claimed.test_behavior, claimed.operator, claimed.country,
  claimed.request_hash, (c.tenant is not null)::boolean as clocked,
  (extract(epoch from now() - claimed.due_at) * 1000)::float8 as late_ms
from mine join organizations o on o.tenant = mine.tenant and not o.suspended and o.retained_at is null
left join clocks c on c.tenant = mine.tenant
cross join lateral (
  select t.tenant, t.id, t.due_at, coalesce(t.due_at >= t.expires_at, false)::boolean as expired,
    t.float_currency, t.sim_id, t.net_amount, t.commission, t.test_behavior, t.operator, t.country,
    t.request_hash
  from transactions t
  where t.tenant = mine.tenant and t.due_at <= clock_time(c.stands_at, c.ahead, c.last_stamp)
    and t.status = 'PENDING' and not t.passthrough
  order by t.due_at
  limit sqlc.arg(per_tenant)::integer
  for update skip locked) claimed;

-- name: LockBalances :many
-- Locks and returns the SIMs and floats of a batch; a float has no sim_id. The order is that of shared
-- commits: sandbox by sandbox, and in each the SIMs before the floats, as in all statements.
select locked.tenant, locked.sim_id, locked.currency, locked.operator::text as operator,
  locked.country::text as country,
  locked.blocked::boolean as blocked, locked.behavior::text as behavior, locked.balance
from (select distinct unnest(sqlc.arg(float_tenants)::bigint[]) as tenant order by 1) of_batch
cross join lateral (
  select p.tenant, p.sim_id, p.currency, p.operator, p.country, p.blocked, p.behavior, p.balance from (
    select s.tenant, s.sim_id, s.currency, s.operator, s.country, s.blocked,
      case when s.manual_until > now() then 'Manual' else s.behavior end as behavior, s.balance
    from (select unnest(sqlc.arg(sim_tenants)::bigint[]) as tenant,
      unnest(sqlc.arg(sim_ids)::uuid[]) as sim_id) wanted
    join sims s on s.tenant = wanted.tenant and s.sim_id = wanted.sim_id
    where wanted.tenant = of_batch.tenant
    order by s.sim_id
    for update of s) p
  union all
  select m.tenant, null::uuid, m.currency, '', '', false, '', m.balance from (
    select f.tenant, f.currency, f.balance
    from (select unnest(sqlc.arg(float_tenants)::bigint[]) as tenant,
      unnest(sqlc.arg(currencies)::text[]) as currency) wanted
    join floats f on f.tenant = wanted.tenant and f.currency = wanted.currency
    where wanted.tenant = of_batch.tenant
    order by f.currency
    for update of f) m) locked;

-- name: SkipNotes :exec
-- Changes of this database transaction are not noted if no stream follows a sandbox. Otherwise the triggers
-- look for streams for each row. The database transaction must have an id, see note_change: it has locked a
-- row.
select set_config('cauri.followed', 'no', true)
where not exists (select from organizations where followed_until > now());

-- name: ParkTransactions :exec
-- Makes payments due when they expire: their payer does not answer before.
update transactions t set due_at = t.expires_at
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) parked
where t.tenant = parked.tenant and t.id = parked.id;

-- name: SettleTransactions :exec
-- Writes the outcomes of a batch: transactions, SIMs, floats, events and callbacks. SIMs and floats were
-- locked before. merchant_balances and sim_balances are the balances after each transaction.
with given as (
  select generate_subscripts(sqlc.arg(ids)::uuid[], 1) as n, unnest(sqlc.arg(tenants)::bigint[]) as tenant,
    unnest(sqlc.arg(ids)::uuid[]) as id, unnest(sqlc.arg(statuses)::text[]) as status,
    unnest(sqlc.arg(float_currencies)::text[]) as currency,
    unnest(sqlc.arg(merchant_deltas)::bigint[]) as merchant_delta,
    unnest(sqlc.arg(merchant_balances)::bigint[]) as merchant_balance,
    unnest(sqlc.arg(sim_ids)::uuid[]) as sim_id, unnest(sqlc.arg(sim_deltas)::bigint[]) as sim_delta,
    unnest(sqlc.arg(sim_balances)::bigint[]) as sim_balance
), settled as (
  select given.*, clock_time(c.stands_at, c.ahead, c.last_stamp) as present,
    case when given.status <> 'SUCCESS' then 0 else f.movements
      + count(*) filter (where given.status = 'SUCCESS') over (partition by given.tenant, given.currency
        order by given.n) end as merchant_number,
    case when given.sim_delta = 0 then 0 else p.movements
      + count(*) filter (where given.sim_delta <> 0) over (partition by given.tenant, given.sim_id
        order by given.n) end as sim_number
  from given left join clocks c on c.tenant = given.tenant
  left join floats f on f.tenant = given.tenant and f.currency = given.currency and given.status = 'SUCCESS'
  left join sims p on p.tenant = given.tenant and p.sim_id = given.sim_id and given.sim_delta <> 0
), payers as (
  update sims
  set balance = sims.balance + paid.delta, movements = sims.movements + paid.movements, changed_at = now()
  from (select tenant, sim_id, sum(sim_delta)::bigint as delta, count(*) as movements from settled
    where sim_delta <> 0 group by tenant, sim_id) paid
  where sims.tenant = paid.tenant and sims.sim_id = paid.sim_id
), events_of as (
  insert into events (tenant, id, state, due_at, created_at)
  select s.tenant, s.id, case when o.deliver then 'queued' else 'recorded' end::event_state,
    case when o.deliver then s.present end, s.present
  from settled s
  join (select tenant, webhook_url is not null and 'collection' = any(webhook_types) as deliver
    from organizations) o
    on o.tenant = s.tenant
), callbacks as (
  insert into native_callbacks (tenant, id, transaction_id, kind, url, state, due_at)
  select n.tenant, c.callback_id, n.id, c.kind, c.url, 'queued', s.present
  from settled s
  join native_requests n on n.tenant = s.tenant and n.id = s.id
  cross join lateral callbacks_of(n.id, n.callback_urls, n.callback_kinds, n.callback_outcomes, s.status) c
), merchants as (
  update floats f
  set balance = f.balance + earned.delta, movements = f.movements + earned.movements, changed_at = now()
  from (select tenant, currency, sum(merchant_delta)::bigint as delta, count(*) as movements
    from settled where status = 'SUCCESS' group by tenant, currency) earned
  where f.tenant = earned.tenant and f.currency = earned.currency
)
update transactions t set status = s.status::transaction_status, completed_at = s.present, due_at = null,
  merchant_delta = s.merchant_delta, sim_delta = s.sim_delta,
  merchant_balance_after = case when s.status = 'SUCCESS' then s.merchant_balance end,
  sim_balance_after = case when s.sim_delta <> 0 then s.sim_balance end,
  merchant_number = s.merchant_number, sim_number = s.sim_number
from settled s
where t.tenant = s.tenant and t.id = s.id;

-- name: RequeueStuck :execrows
-- Makes expired pending payments due that no worker would take any more. No lease, and no interval between
-- two requests to an operator, is as long as a minute. So a payment that is due within a minute is not stuck.
with stuck as materialized (
  select f.tenant, f.id, clock_time(c.stands_at, c.ahead, c.last_stamp) as present
  from transactions f left join clocks c on c.tenant = f.tenant
  where f.status = 'PENDING' and f.expires_at < clock_time(c.stands_at, c.ahead,
    c.last_stamp) - interval '1 minute'
    and (f.due_at is null or f.due_at > clock_time(c.stands_at, c.ahead, c.last_stamp) + interval '1 minute')
  limit sqlc.arg(batch)::integer
  for update of f skip locked
)
update transactions t set due_at = stuck.present
from stuck where t.tenant = stuck.tenant and t.id = stuck.id;
