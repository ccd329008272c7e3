-- Refunds and disbursements. Like the statements in payments.sql: one round trip in the tenant scope, the
-- version check first, and the same order of locks. Whether the float suffices is decided here, under its
-- lock, so the latencies of both outcomes are given.
--
-- The float is set to what its locked balance leaves, not lowered by the amount: Postgres checks a constraint
-- first against the version that the statement's snapshot saw, which may be too low although the present one
-- is not.

-- name: BookDisbursement :one
-- The recipient decides first, as the registry knows the number at this moment, and the float where nothing
-- speaks against the recipient: a status of null. Of latencies and after_ms there are four: for SUCCESS,
-- INSUFFICIENT_FUNDS, a number that is not in the registry, and a SIM that is blocked. recipient_full: it was
-- found that the recipient's SIM can take no more.
with present as (
  select (o.webhook_url is not null and 'disbursement' = any(o.webhook_types))::boolean as deliver,
    o.monthly_quota as quota
  from organizations o
  where o.tenant = sqlc.arg(tenant) and o.version = sqlc.arg(config_version)
    and not exists (select from transactions_by_reference x
      where x.reference_key = sqlc.arg(tenant)::bigint::text || ' ' || sqlc.arg(reference)::text)
), counted as (
  insert into quota_usage as q (tenant, month, used)
  select sqlc.arg(tenant), date_trunc('month', recording_time() at time zone 'utc')::date, 1 from present
  where present.quota is not null
  on conflict (tenant, month) do update set used = q.used + 1 where q.used < (select quota from present)
  returning 1
), accepted as (
  select present.deliver from present where present.quota is null or exists (select from counted)
), recipient as (
  select s.sim_id, s.blocked from sims_by_number s, accepted
  where s.number_key = sqlc.arg(tenant)::bigint::text || sqlc.arg(msisdn)::text
    and s.currency = sqlc.arg(float_currency)
    and not sqlc.arg(recipient_full)::boolean
  for update of s
), judged as (
  select accepted.deliver, recipient.sim_id,
    nullif(case when sqlc.arg(recipient_full)::boolean then 'LIMIT_EXCEEDED'
    when recipient.sim_id is null then sqlc.arg(unknown_status)::text
    when recipient.blocked then sqlc.arg(blocked_status)::text else 'SUCCESS' end, 'SUCCESS') as status
  from accepted left join recipient on true
), float as (
  select f.balance, f.movements from floats f, accepted
  where f.tenant = sqlc.arg(tenant) and f.currency = sqlc.arg(float_currency)
    and (select count(*) from recipient) >= 0
  for update of f
), decided as (
  select judged.*, float.balance, float.movements, judged.status is null
    and float.balance >= sqlc.arg(amount)::bigint as paid, case when judged.status is null
      and float.balance >= sqlc.arg(amount)::bigint then 1
      when judged.status is null or sqlc.arg(recipient_full)::boolean then 2 when judged.sim_id is null then 3
        else 4 end as outcome
  from judged, float
), merchant as (
  update floats f
  set balance = decided.balance - sqlc.arg(amount)::bigint, movements = decided.movements + 1,
    changed_at = now()
  from decided where decided.paid and f.tenant = sqlc.arg(tenant) and f.currency = sqlc.arg(float_currency)
), credited as (
  update sims_by_number s
  set balance = s.balance + sqlc.arg(amount)::bigint, movements = s.movements + 1, changed_at = now()
  from decided
  where decided.paid and decided.sim_id is not null
    and s.number_key = sqlc.arg(tenant)::bigint::text || sqlc.arg(msisdn)::text
  returning s.balance, s.movements
), booked as (
  insert into transactions (tenant, id, type, status, reference, request_hash, order_ref, order_url,
    is_url_protected, store, description, scenario, env_id, operator, country, currency, msisdn, amount,
    commission, net_amount, absorption_pct, latency_ms, float_currency, sim_id, completed_at, merchant_delta,
    sim_delta, merchant_balance_after, sim_balance_after, merchant_number, sim_number, created_at)
  select sqlc.arg(tenant), recording_id(sqlc.arg(id)), 'disbursement',
    coalesce(decided.status, case when decided.paid then 'SUCCESS'
      else 'INSUFFICIENT_FUNDS' end)::transaction_status,
    sqlc.arg(reference), sqlc.arg(request_hash), sqlc.arg(order_ref), sqlc.narg(order_url),
    sqlc.arg(is_url_protected), sqlc.arg(store), sqlc.narg(description), '', sqlc.arg(env_id),
    sqlc.arg(operator), sqlc.arg(country), sqlc.arg(currency), sqlc.arg(msisdn), sqlc.arg(amount)::bigint, 0,
    sqlc.arg(amount)::bigint, sqlc.arg(absorption_pct), (sqlc.arg(latencies)::integer[])[decided.outcome],
    sqlc.arg(float_currency), decided.sim_id, recording_time(),
    case when decided.paid then -sqlc.arg(amount)::bigint else 0 end,
    case when credited.balance is not null then sqlc.arg(amount)::bigint else 0 end,
    decided.balance - case when decided.paid then sqlc.arg(amount)::bigint else 0 end, credited.balance,
    case when decided.paid then decided.movements + 1 else 0 end, coalesce(credited.movements, 0),
    recording_time()
  from decided left join credited on true
  returning id, status, latency_ms, created_at, completed_at, merchant_balance_after, sim_balance_after
), event as (
  insert into events (tenant, id, state, due_at, created_at)
  select sqlc.arg(tenant), recording_id(sqlc.arg(id)),
    case when decided.deliver then 'queued' else 'recorded' end::event_state,
    case when decided.deliver then recording_time()
      + make_interval(secs => (sqlc.arg(after_ms)::float8[])[decided.outcome] / 1000) end, recording_time()
  from decided, booked
)
select id, status, latency_ms, created_at, completed_at, merchant_balance_after, sim_balance_after
from booked;

-- name: BookRefund :one
-- The parent's lock makes refunds of one collection take turns, so that together they never exceed it; it
-- comes before the quota's, so that what is refused is not counted. What a refund inherits is copied from the
-- parent. amount null: all that is left. recipient_full: it was found that the recipient's SIM can take no
-- more. clocked: the caller knows of the sandbox's clock, if it has one.
with present as (
  select (o.webhook_url is not null and 'refund' = any(o.webhook_types))::boolean as deliver,
    o.monthly_quota as quota
  from organizations o
  where o.tenant = sqlc.arg(tenant) and not o.suspended and (sqlc.arg(clocked)::boolean or not o.clocked)
    and not exists (select from transactions_by_reference x
      where x.reference_key = sqlc.arg(tenant)::bigint::text || ' ' || sqlc.arg(reference)::text)
), locked as (
  select p.*, coalesce(sqlc.narg(amount)::bigint, p.amount - p.refunded) as asked
  from transactions p, present
  where p.tenant = sqlc.arg(tenant) and p.id = sqlc.arg(parent_id) and p.type = 'collection'
    and p.status = 'SUCCESS'
    and p.refunded + coalesce(sqlc.narg(amount)::bigint, 1) <= p.amount
  for update of p
), counted as (
  insert into quota_usage as q (tenant, month, used)
  select sqlc.arg(tenant), date_trunc('month', recording_time() at time zone 'utc')::date, 1
  from present, locked where present.quota is not null
  on conflict (tenant, month) do update set used = q.used + 1 where q.used < (select quota from present)
  returning 1
), parent as (
  select locked.* from locked, present where present.quota is null or exists (select from counted)
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
  from present as accepted, parent, float
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
