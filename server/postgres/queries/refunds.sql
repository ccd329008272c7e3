-- name: BookRefund :one
-- The rules are those of disbursements.sql: one round trip in the tenant scope, one order of locks, and the
-- float set to its locked balance minus the amount. In place of the version check, the statement requires a
-- sandbox that is not suspended.
--
-- The parent's lock makes refunds of one collection take turns, so that together they never exceed the
-- collection. The parent is locked before the quota, so that a refused refund is not counted. The refund
-- inherits its order, environment and number from the parent. amount null: all that is left to refund.
-- recipient_full: an earlier attempt found that the recipient's SIM cannot hold the amount. clocked: the
-- caller knows of the sandbox's clock, if it has one.
with sandbox as (
  select (o.webhook_url is not null and 'refund' = any(o.webhook_types))::boolean as deliver,
    o.monthly_quota as quota
  from organizations o
  where o.tenant = sqlc.arg(tenant) and not o.suspended and (sqlc.arg(clocked)::boolean or not o.clocked)
    and not exists (select from transactions_by_reference x
      where x.reference_key = sqlc.arg(tenant)::bigint::text || ' ' || sqlc.arg(reference)::text)
), locked as (
  select p.*, coalesce(sqlc.narg(amount)::bigint, p.amount - p.refunded) as asked
  from transactions p, sandbox
  where p.tenant = sqlc.arg(tenant) and p.id = sqlc.arg(parent_id) and p.type = 'collection'
    and p.status = 'SUCCESS'
    and p.refunded + coalesce(sqlc.narg(amount)::bigint, 1) <= p.amount
  for update of p
), counted as (
  insert into quota_usage as q (tenant, month, used)
  select sqlc.arg(tenant), date_trunc('month', recording_time() at time zone 'utc')::date, 1
  from sandbox, locked where sandbox.quota is not null
  on conflict (tenant, month) do update set used = q.used + 1 where q.used < (select quota from sandbox)
  returning 1
), parent as (
  select locked.* from locked, sandbox where sandbox.quota is null or exists (select from counted)
), recipient as (
  select s.sim_id, s.msisdn from sims_by_number s, parent
  where s.number_key = sqlc.arg(tenant)::bigint::text || parent.msisdn and s.currency = parent.float_currency
  for update of s
), float as (
  select f.balance, f.movements from floats f, parent
  where f.tenant = sqlc.arg(tenant) and f.currency = parent.float_currency
    and (select count(*) from recipient) >= 0
  for update of f
), decided as (
  select accepted.deliver, parent.asked, float.balance, float.movements,
    float.balance >= parent.asked and not sqlc.arg(recipient_full)::boolean as paid,
    case when float.balance < parent.asked then 'INSUFFICIENT_FUNDS'
      else 'LIMIT_EXCEEDED' end as unpaid_status
  from sandbox as accepted, parent, float
), merchant as (
  update floats f
  set balance = decided.balance - decided.asked, movements = decided.movements + 1, changed_at = now()
  from decided, parent
  where decided.paid and f.tenant = sqlc.arg(tenant) and f.currency = parent.float_currency
), credited as (
  update sims_by_number s
  set balance = s.balance + decided.asked, movements = s.movements + 1, changed_at = now()
  from decided, recipient
  where decided.paid and s.number_key = sqlc.arg(tenant)::bigint::text || recipient.msisdn
  returning s.sim_id, s.balance, s.movements
), marked as (
  update transactions p set refunded = p.refunded + decided.asked
  from decided where decided.paid and p.tenant = sqlc.arg(tenant) and p.id = sqlc.arg(parent_id)
), booked as (
  insert into transactions (tenant, id, type, status, parent_id, reference, request_hash, order_ref,
    order_url, is_url_protected, store, description, scenario, env_id, operator, country, currency, msisdn,
    amount, commission, net_amount, absorption_pct, latency_ms, float_currency, sim_id, completed_at,
    merchant_delta, sim_delta, merchant_balance_after, sim_balance_after, merchant_number, sim_number,
    created_at)
  select sqlc.arg(tenant), recording_id(sqlc.arg(id)), 'refund',
    case when decided.paid then 'SUCCESS' else decided.unpaid_status end::transaction_status, parent.id,
    sqlc.arg(reference), sqlc.arg(request_hash), parent.order_ref, parent.order_url, parent.is_url_protected,
    parent.store, null, '', parent.env_id, parent.operator, parent.country, parent.currency, parent.msisdn,
    decided.asked, 0, decided.asked, parent.absorption_pct,
    case when decided.paid then sqlc.arg(paid_latency_ms)::integer
      else sqlc.arg(refused_latency_ms)::integer end,
    parent.float_currency, credited.sim_id, recording_time(),
    case when decided.paid then -decided.asked else 0 end,
    case when credited.sim_id is not null then decided.asked else 0 end,
    decided.balance - case when decided.paid then decided.asked else 0 end, credited.balance,
    case when decided.paid then decided.movements + 1 else 0 end, coalesce(credited.movements, 0),
    recording_time()
  from decided, parent left join credited on true
  returning *
), event as (
  insert into events (tenant, id, state, due_at, created_at)
  select sqlc.arg(tenant), recording_id(sqlc.arg(id)),
    case when decided.deliver then 'queued' else 'recorded' end::event_state,
    case when decided.deliver then recording_time()
      + make_interval(secs => case when decided.paid then sqlc.arg(paid_after_ms)::float8
      else sqlc.arg(refused_after_ms)::float8 end / 1000) end, recording_time()
  from decided, booked
)
select * from booked;
