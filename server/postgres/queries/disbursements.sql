-- Disbursements; refunds are in refunds.sql. Like the statements in payments.sql: one round trip in the
-- tenant scope, the version check first, and the same order of locks. The statement locks the float and
-- decides under that lock whether it suffices, so the caller gives the latencies of both outcomes.
--
-- The statement sets the float to its locked balance minus the amount. It does not subtract from the column:
-- Postgres would first check the constraint on the row version in the statement's snapshot, whose balance may
-- be too low although the present balance is not.

-- name: BookDisbursement :one
-- The recipient in the registry decides the status first. If it is null, the float decides. latencies and
-- after_ms have four elements: for SUCCESS, INSUFFICIENT_FUNDS, a number that is not in the registry, and a
-- SIM that is blocked. failed: the status of a failure that was decided before, whoever the recipient is;
-- empty for none. An earlier attempt may have found that the recipient's SIM cannot hold the amount.
-- own: a SIM of another operator or country is not in the registry, as an operator's own API has it.
with sandbox as (
  {{template "sandbox" "disbursement"}} and o.version = sqlc.arg(config_version)
), {{template "counted" "sandbox"}}, accepted as (
  select sandbox.deliver from sandbox where {{template "within quota"}}
), recipient as (
  select s.sim_id, s.blocked from sims_by_number s, accepted
  where s.number_key = sqlc.arg(tenant)::bigint::text || sqlc.arg(msisdn)::text
    and s.currency = sqlc.arg(float_currency)
    and sqlc.arg(failed)::text = ''
    and (not sqlc.arg(own)::boolean
      or s.operator = sqlc.arg(operator) and s.country = sqlc.arg(country))
  for update of s
), judged as (
  select accepted.deliver, recipient.sim_id,
    nullif(case when sqlc.arg(failed)::text <> '' then sqlc.arg(failed)::text
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
      when judged.status is null or sqlc.arg(failed)::text <> '' then 2 when judged.sim_id is null then 3
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
  insert into transactions ({{template "request columns"}},
    {{template "outcome columns"}}, created_at)
  select {{template "request" "disbursement"}},
    coalesce(decided.status, case when decided.paid then 'SUCCESS'
      else 'INSUFFICIENT_FUNDS' end)::transaction_status,
    '', 0, sqlc.arg(amount)::bigint, (sqlc.arg(latencies)::integer[])[decided.outcome], decided.sim_id,
    {{recordingTime}},
    case when decided.paid then -sqlc.arg(amount)::bigint else 0 end,
    case when credited.balance is not null then sqlc.arg(amount)::bigint else 0 end,
    decided.balance - case when decided.paid then sqlc.arg(amount)::bigint else 0 end, credited.balance,
    case when decided.paid then decided.movements + 1 else 0 end, coalesce(credited.movements, 0),
    {{recordingTime}}
  from decided left join credited on true
  returning id, status, latency_ms, created_at, completed_at, merchant_balance_after, sim_balance_after
), {{template "event" `from (
    select decided.deliver, (sqlc.arg(after_ms)::float8[])[decided.outcome] as after_ms
    from decided) d, booked`}}
select id, status, latency_ms, created_at, completed_at, merchant_balance_after, sim_balance_after
from booked;
