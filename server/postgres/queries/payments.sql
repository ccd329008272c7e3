-- Every statement here runs in the tenant scope and is one round trip.
--
-- A statement that records a transaction begins with the version check. It accepts a transaction only if the
-- outcome was decided on the current configuration and the reference is free, and counts it against the
-- sandbox's quota, if it has one. Otherwise it returns no row, and the caller finds out why. Rows are locked
-- in one order everywhere: parent, quota, SIM, float.

-- name: FindSIM :one
select * from sims where tenant = sqlc.arg(tenant) and msisdn = sqlc.arg(msisdn);

-- name: GetTransaction :one
select * from transactions where tenant = sqlc.arg(tenant) and id = sqlc.arg(id);

-- name: FindReference :one
select t.* from transactions_by_reference x
join transactions t on t.tenant = sqlc.arg(tenant)::bigint and t.id = x.id
where x.reference_key = sqlc.arg(tenant)::bigint::text || ' ' || sqlc.arg(reference)::text;

-- name: QuotaUsed :one
-- Returns the quota, its use in the present calendar month of sandbox time, and the start of the next month.
select o.monthly_quota as quota, coalesce(q.used, 0)::bigint as used,
  ((clock.month + interval '1 month') at time zone 'utc')::timestamptz as renews_at
from organizations o
cross join lateral (
  select date_trunc('month', sandbox_time(o.tenant) at time zone 'utc') as month
) clock
left join quota_usage q on q.tenant = o.tenant and q.month = clock.month::date
where o.tenant = sqlc.arg(tenant);

-- name: SetProviderTxID :exec
-- Is sent after the statement that records the transaction.
update transactions set provider_tx_id = sqlc.arg(provider_tx_id)
where tenant = sqlc.arg(tenant) and id = (select {{recordingID}});

-- name: BookCollection :one
-- Records a collection that succeeds at once. It debits the payer's SIM if the SIM is registered, is not
-- blocked and can pay. It credits the float in any case. `merchant` refers to `payer`, so that the SIM is
-- locked before the float.
with sandbox as (
  {{template "sandbox" "collection"}} and o.version = sqlc.arg(config_version)
), {{template "counted" "sandbox"}}, accepted as (
  select sandbox.deliver from sandbox where {{template "within quota"}}
), payer as (
  update sims_by_number s
  set balance = s.balance - (sqlc.arg(net_amount)::bigint + sqlc.arg(commission)::bigint),
    movements = s.movements + 1, changed_at = now()
  from accepted
  where s.number_key = sqlc.arg(tenant)::bigint::text || sqlc.arg(msisdn)::text
    and s.currency = sqlc.arg(float_currency) and not s.blocked
    and s.balance >= sqlc.arg(net_amount)::bigint + sqlc.arg(commission)::bigint
  returning s.sim_id, s.balance, s.movements
), merchant as (
  update floats f
  set balance = f.balance + sqlc.arg(net_amount), movements = f.movements + 1, changed_at = now()
  from accepted
  where f.tenant = sqlc.arg(tenant) and f.currency = sqlc.arg(float_currency)
    and (select count(*) from payer) >= 0
  returning f.balance, f.movements
), booked as (
  insert into transactions ({{template "request columns"}},
    {{template "outcome columns"}}, created_at)
  select {{template "request" "collection"}}, 'SUCCESS',
    sqlc.arg(scenario), sqlc.arg(commission), sqlc.arg(net_amount), sqlc.arg(latency_ms), payer.sim_id,
    {{recordingTime}}, sqlc.arg(net_amount),
    case when payer.sim_id is null then 0
      else -(sqlc.arg(net_amount)::bigint + sqlc.arg(commission)::bigint) end,
    merchant.balance, payer.balance, merchant.movements, coalesce(payer.movements, 0), {{recordingTime}}
  from merchant left join payer on true
  returning id, created_at, completed_at, merchant_balance_after, sim_balance_after
), {{template "event" `from (
    select accepted.deliver, sqlc.arg(answer_after_ms)::float8 as after_ms from accepted) d, booked`}}
select id, created_at, completed_at, merchant_balance_after, sim_balance_after from booked;

-- name: RecordCollection :one
-- Records a collection that moves no money, because it is pending or has failed. The state of the payer in
-- the registry decides the outcome. statuses, latencies and after_ms have an element for each state, in this
-- order: not in the registry, blocked, short of money, able to pay. A collection with a forced scenario has
-- no SIM. If the market was presumed from the number's prefix and the registry has another one, nothing is
-- recorded. A pending collection from a number that is not in the registry is forwarded to the operator at
-- once, unless it is from a test number: then test_behavior is set.
{{template "record collection" false}}

-- name: RecordNativeCollection :one
-- RecordCollection and RecordNativeRequest in one statement, which takes less time than two. A SIM of another
-- operator or country is not in the registry of this operator.
{{template "record collection" true}}
{{- define "record collection"}}with sandbox as (
  {{template "sandbox" "collection"}} and o.version = sqlc.arg(config_version)
    and not (sqlc.arg(presumed)::boolean and exists (
      select from sims_by_number s
      where s.number_key = sqlc.arg(tenant)::bigint::text || sqlc.arg(msisdn)::text
        and (s.operator <> sqlc.arg(operator) or s.country <> sqlc.arg(country))))
), {{template "counted" "sandbox"}}, accepted as (
  select sandbox.deliver from sandbox where {{template "within quota"}}
), payer as (
  select accepted.deliver, s.sim_id, s.sim_id is null
    and sqlc.narg(test_behavior)::text is null as of_operator,
    case when s.sim_id is null then 1 when s.blocked then 2
      when s.balance < sqlc.arg(net_amount)::bigint + sqlc.arg(commission)::bigint then 3
        else 4 end as payer_state
  from accepted left join sims_by_number s
    on sqlc.arg(scenario) = '' and s.number_key = sqlc.arg(tenant)::bigint::text || sqlc.arg(msisdn)::text
      and s.currency = sqlc.arg(float_currency){{if .}}
      and s.operator = sqlc.arg(operator) and s.country = sqlc.arg(country){{end}}
), decided as (
  select payer.*, (sqlc.arg(statuses)::text[])[payer.payer_state]::transaction_status as status,
    (sqlc.arg(latencies)::integer[])[payer.payer_state] as latency_ms,
    (sqlc.arg(after_ms)::float8[])[payer.payer_state] as after_ms
  from payer
), recorded as (
  insert into transactions ({{template "request columns"}},
    status, scenario, commission, net_amount, latency_ms, sim_id, completed_at, passthrough, forward_fence,
    forward_failures, test_behavior, due_at, expires_at, created_at)
  select {{template "request" "collection"}}, d.status,
    sqlc.arg(scenario), sqlc.arg(commission), sqlc.arg(net_amount), d.latency_ms, d.sim_id,
    case when d.status <> 'PENDING' then {{recordingTime}} end, d.status = 'PENDING' and d.of_operator,
    case when d.status = 'PENDING' and d.of_operator then 0 end, case when d.status = 'PENDING'
      and d.of_operator then 0 end,
    case when d.status = 'PENDING' and d.sim_id is null then sqlc.narg(test_behavior)::text end,
    case when d.status <> 'PENDING' then null when d.of_operator then {{recordingTime}}
      else {{recordingTime}} + make_interval(secs => least(d.after_ms,
        sqlc.arg(expire_after_ms)::float8) / 1000) end,
    case when d.status = 'PENDING' then {{recordingTime}}
      + make_interval(secs => sqlc.arg(expire_after_ms)::float8 / 1000) end,
    {{recordingTime}}
  from decided d
  returning id, status, latency_ms, created_at, completed_at
), {{template "event" "from decided d, recorded where recorded.status <> 'PENDING'"}}{{if .}}, request as (
  insert into native_requests (tenant, id, operation, sent, callback_urls, callback_kinds, callback_outcomes)
  select sqlc.arg(tenant), recorded.id, {{template "native request"}} from recorded
){{end}}
select recorded.id, recorded.status, recorded.created_at, recorded.completed_at, decided.payer_state
from recorded, decided;{{end}}
