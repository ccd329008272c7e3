-- The group commit. Each statement does the work of BookCollection or BookDisbursement for several requests
-- of one float, in order. A request is one position in all arrays, and n is this position. A request that a
-- statement does not return is not recorded: its reference is taken, maybe by an earlier request of the
-- batch, or it was decided on another version of the configuration. If the requests together exceed the
-- quota, none is recorded. The callers then try each of these requests alone.
--
-- Rows are locked in the same order as in all statements: quota, SIMs by their ids, float.
--
-- SIMs are looked up one by one in lateral joins with a limit, or by an array of keys: in a plain join,
-- without statistics, Postgres may read all SIMs of the sandbox.

-- name: BookCollections :many
with recursive asked as materialized (
  {{template "requests"}},
    unnest(sqlc.arg(scenarios)::text[]) as scenario, unnest(sqlc.arg(commissions)::bigint[]) as commission,
    unnest(sqlc.arg(net_amounts)::bigint[]) as net_amount,
    unnest(sqlc.arg(latencies)::integer[]) as latency_ms, unnest(sqlc.arg(after_ms)::float8[]) as after_ms
), {{template "accepted of several" "collection"}}, payers as materialized (
  select s.* from (
    select s.sim_id, paying.msisdn from (select distinct accepted.msisdn from accepted) paying
    cross join lateral (
      select s.sim_id from sims_by_number s
      where s.number_key = sqlc.arg(tenant)::bigint::text || paying.msisdn limit 1) s
    order by s.sim_id offset 0
  ) found cross join lateral (
    select s.sim_id, s.msisdn, s.balance, s.movements from sims_by_number s
    where s.number_key = sqlc.arg(tenant)::bigint::text || found.msisdn
      and s.currency = sqlc.arg(float_currency) and not s.blocked
    limit 1 for update) s
), owed as materialized (
  select payers.sim_id, accepted.n, accepted.net_amount + accepted.commission as total,
    row_number() over (partition by payers.sim_id order by accepted.n) as rank
  from accepted join payers on payers.msisdn = accepted.msisdn
), debits as (
  -- Each SIM pays what it can, in the order of the requests.
  select payers.sim_id, 0::bigint as rank, payers.balance, payers.movements, 0 as n, false as paid from payers
  union all
  select d.sim_id, o.rank, case when d.balance >= o.total then d.balance - o.total else d.balance end,
    d.movements + (d.balance >= o.total)::integer, o.n, d.balance >= o.total
  from debits d join owed o on o.sim_id = d.sim_id and o.rank = d.rank + 1
), spent as materialized (
  select payers.msisdn, min(debits.balance) as balance, max(debits.movements) as movements
  from debits join payers on payers.sim_id = debits.sim_id where debits.paid group by payers.msisdn
), debited as (
  update sims_by_number s set balance = (select spent.balance from spent where spent.msisdn = s.msisdn),
    movements = (select spent.movements from spent where spent.msisdn = s.msisdn), changed_at = now()
  where s.number_key = any (array(select sqlc.arg(tenant)::bigint::text || spent.msisdn from spent))
  returning 1
), merchant as (
  update floats f set balance = f.balance + (select sum(accepted.net_amount) from accepted)::bigint,
    movements = f.movements + (select count(*) from accepted), changed_at = now()
  where f.tenant = sqlc.arg(tenant) and f.currency = sqlc.arg(float_currency)
    and exists (select from accepted)
    and (select count(*) from debited) >= 0
  returning f.balance - (select sum(accepted.net_amount) from accepted)::bigint as before,
    f.movements - (select count(*) from accepted) as moved_before
), booked as (
  insert into transactions ({{template "request columns"}},
    {{template "outcome columns"}})
  select {{template "each request" "collection"}}, 'SUCCESS', d.scenario,
    d.commission, d.net_amount, d.latency_ms, debits.sim_id, now(), d.net_amount,
    case when debits.sim_id is null then 0 else -(d.net_amount + d.commission) end,
    merchant.before + (sum(d.net_amount) over (order by d.n))::bigint, debits.balance,
    merchant.moved_before + row_number() over (order by d.n), coalesce(debits.movements, 0)
  from accepted d cross join merchant left join debits on debits.n = d.n and debits.paid
  returning id, created_at, completed_at, merchant_balance_after, sim_balance_after
), event as (
  insert into events (tenant, id, state, due_at)
  select sqlc.arg(tenant), d.id, case when d.deliver then 'queued' else 'recorded' end::event_state,
    case when d.deliver then now() + make_interval(secs => d.after_ms / 1000) end
  from accepted d, (select count(*) from booked) done
)
select id, created_at, completed_at, merchant_balance_after, sim_balance_after from booked;

-- name: BookDisbursements :many
-- latencies and after_ms have four elements for each request, in the order of BookDisbursement.
with recursive asked as materialized (
  {{template "requests"}}, unnest(sqlc.arg(unknown_statuses)::text[]) as unknown_status
), {{template "accepted of several" "disbursement"}}, recipients as materialized (
  select s.* from (
    select s.sim_id, paid.msisdn from (select distinct accepted.msisdn from accepted) paid
    cross join lateral (
      select s.sim_id from sims_by_number s where s.number_key = sqlc.arg(tenant)::bigint::text || paid.msisdn
      limit 1) s
    order by s.sim_id offset 0
  ) found cross join lateral (
    select s.sim_id, s.msisdn, s.blocked, s.balance, s.movements from sims_by_number s
    where s.number_key = sqlc.arg(tenant)::bigint::text || found.msisdn
      and s.currency = sqlc.arg(float_currency)
    limit 1 for update) s
), judged as materialized (
  -- The recipient decides the status first. If it is null, the float decides.
  select accepted.*, recipients.sim_id, recipients.balance as sim_before,
    recipients.movements as sim_moved_before, row_number() over (order by accepted.n) as rank,
    nullif(case when recipients.sim_id is null then accepted.unknown_status when recipients.blocked
      then sqlc.arg(blocked_status)::text else 'SUCCESS' end, 'SUCCESS') as status
  from accepted left join recipients on recipients.msisdn = accepted.msisdn
), queue as materialized (
  select array_agg(case when judged.status is null then judged.amount end order by judged.rank) as amounts
  from judged
), float as materialized (
  select f.balance, f.movements from floats f
  where f.tenant = sqlc.arg(tenant) and f.currency = sqlc.arg(float_currency)
    and exists (select from accepted)
    and (select count(*) from recipients) >= 0
  for update of f
), payments as (
  -- The float pays what it can, in the order of the requests.
  select 0::bigint as rank, float.balance, float.movements, false as paid from float
  union all
  select p.rank + 1, case when p.balance >= q.amounts[p.rank + 1] then p.balance - q.amounts[p.rank + 1]
    else p.balance end, p.movements + coalesce(p.balance >= q.amounts[p.rank + 1], false)::integer,
    coalesce(p.balance >= q.amounts[p.rank + 1], false)
  from payments p, queue q where p.rank < cardinality(q.amounts)
), decided as materialized (
  select j.*, payments.balance, payments.movements, payments.paid,
    (j.n - 1) * 4 + case when payments.paid then 1 when j.status is null then 2
      when j.sim_id is null then 3 else 4 end as outcome,
    case when payments.paid and j.sim_id is not null then j.sim_before
      + (sum(j.amount) filter (where payments.paid) over (partition by j.sim_id
        order by j.n))::bigint end as sim_after,
    case when payments.paid and j.sim_id is not null then j.sim_moved_before
      + count(*) filter (where payments.paid) over (partition by j.sim_id order by j.n)
        else 0 end as sim_number
  from judged j join payments on payments.rank = j.rank
), merchant as (
  update floats f
  set balance = (select min(payments.balance) from payments),
    movements = (select max(payments.movements) from payments), changed_at = now()
  where f.tenant = sqlc.arg(tenant) and f.currency = sqlc.arg(float_currency)
    and exists (select from decided where decided.paid)
), grown as materialized (
  select decided.msisdn, max(decided.sim_after) as balance, max(decided.sim_number) as movements
  from decided where decided.sim_after is not null group by decided.msisdn
), credited as (
  update sims_by_number s set balance = (select grown.balance from grown where grown.msisdn = s.msisdn),
    movements = (select grown.movements from grown where grown.msisdn = s.msisdn), changed_at = now()
  where s.number_key = any (array(select sqlc.arg(tenant)::bigint::text || grown.msisdn from grown))
), booked as (
  insert into transactions ({{template "request columns"}},
    {{template "outcome columns"}})
  select {{template "each request" "disbursement"}},
    coalesce(d.status, case when d.paid then 'SUCCESS' else 'INSUFFICIENT_FUNDS' end)::transaction_status, '',
    0, d.amount, (sqlc.arg(latencies)::integer[])[d.outcome], d.sim_id, now(),
    case when d.paid then -d.amount else 0 end, case when d.sim_after is not null then d.amount else 0 end,
    d.balance, d.sim_after, case when d.paid then d.movements else 0 end, d.sim_number
  from decided d
  returning id, status, latency_ms, created_at, completed_at, merchant_balance_after, sim_balance_after
), event as (
  insert into events (tenant, id, state, due_at)
  select sqlc.arg(tenant), d.id, case when d.deliver then 'queued' else 'recorded' end::event_state,
    case when d.deliver
      then now() + make_interval(secs => (sqlc.arg(after_ms)::float8[])[d.outcome] / 1000) end
  from decided d, (select count(*) from booked) done
)
select id, status, latency_ms, created_at, completed_at, merchant_balance_after, sim_balance_after
from booked;
