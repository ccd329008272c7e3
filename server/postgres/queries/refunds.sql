-- name: BookRefund :one
-- The rules are those of disbursements.sql: one round trip in the tenant scope, one order of locks, and the
-- float set to its locked balance minus the amount. In place of the version check, the statement requires a
-- sandbox that is not suspended.
--
-- The parent's lock makes refunds of one collection take turns, so that together they never exceed the
-- collection. The parent is locked before the quota, so that a refused refund is not counted. The refund
-- inherits its order, environment and number from the parent. amount null: all that is left to refund.
-- recipient_full: an earlier attempt found that the recipient's SIM cannot hold the amount. clocked: the
-- caller knows of the sandbox's clock, if it has one. own: a refund by an operator's own API goes to a SIM of
-- the parent's operator and country, or to the one that paid.
with sandbox as (
  {{template "sandbox" "refund"}}
    and not o.suspended and (sqlc.arg(clocked)::boolean or not o.clocked)
), locked as (
  select p.*, coalesce(sqlc.narg(amount)::bigint, p.amount - p.refunded) as asked
  from transactions p, sandbox
  where p.tenant = sqlc.arg(tenant) and p.id = sqlc.arg(parent_id) and p.type = 'collection'
    and p.status = 'SUCCESS'
    and p.refunded + coalesce(sqlc.narg(amount)::bigint, 1) <= p.amount
  for update of p
), {{template "counted" "sandbox, locked"}}, parent as (
  select locked.* from locked, sandbox where {{template "within quota"}}
), recipient as (
  select s.sim_id, s.msisdn from sims_by_number s, parent
  where s.number_key = sqlc.arg(tenant)::bigint::text || parent.msisdn and s.currency = parent.float_currency
    and (not sqlc.arg(own)::boolean or s.sim_id = parent.sim_id
      or s.operator = parent.operator and s.country = parent.country)
  for update of s
), float as (
  select f.balance, f.movements from floats f, parent
  where f.tenant = sqlc.arg(tenant) and f.currency = parent.float_currency
    and (select count(*) from recipient) >= 0
  for update of f
), decided as (
  select sandbox.deliver, parent.asked, float.balance, float.movements,
    float.balance >= parent.asked and not sqlc.arg(recipient_full)::boolean as paid,
    case when float.balance < parent.asked then 'INSUFFICIENT_FUNDS'
      else 'LIMIT_EXCEEDED' end as unpaid_status
  from sandbox, parent, float
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
  insert into transactions ({{template "request columns"}},
    {{template "outcome columns"}}, parent_id, created_at)
  select sqlc.arg(tenant), {{recordingID}}, 'refund', {{refundValues}},
    case when decided.paid then 'SUCCESS' else decided.unpaid_status end::transaction_status, '', 0,
    decided.asked,
    case when decided.paid then sqlc.arg(paid_latency_ms)::integer
      else sqlc.arg(refused_latency_ms)::integer end,
    credited.sim_id, {{recordingTime}}, case when decided.paid then -decided.asked else 0 end,
    case when credited.sim_id is not null then decided.asked else 0 end,
    decided.balance - case when decided.paid then decided.asked else 0 end, credited.balance,
    case when decided.paid then decided.movements + 1 else 0 end, coalesce(credited.movements, 0), parent.id,
    {{recordingTime}}
  from decided, parent left join credited on true
  returning *
), {{template "event" `from (
    select decided.deliver, case when decided.paid then sqlc.arg(paid_after_ms)::float8
      else sqlc.arg(refused_after_ms)::float8 end as after_ms
    from decided) d, booked`}}
select * from booked;
