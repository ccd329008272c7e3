-- Forwarding of collections to an operator's API. Workers lease collections, since they call the operator
-- outside of any database transaction. Sandbox time and leases are as in delivery.sql.

-- name: TenantsToForward :many
-- Returns the sandboxes with collections to forward, or to ask an operator about, as TenantsToDeliver does.
with recursive due_tenants as (
  (select t.tenant, t.due_at from transactions t
   where t.status = 'PENDING' and t.passthrough
   order by t.tenant, t.due_at limit 1)
  union all
  select following.tenant, following.due_at from due_tenants cross join lateral (
    select t.tenant, t.due_at from transactions t
    where t.tenant > due_tenants.tenant and t.status = 'PENDING' and t.passthrough
    order by t.tenant, t.due_at limit 1) following
)
select due_tenants.tenant, (p.tenant is not null)::boolean as sweep_failed from due_tenants
cross join lateral (
  select from organizations o
  where o.tenant = due_tenants.tenant and not o.suspended and o.retained_at is null limit 1) o
left join clocks c on c.tenant = due_tenants.tenant
left join sweep_failures p on p.tenant = due_tenants.tenant and p.sweep = 'passthrough'
where due_tenants.due_at <= clock_time(c.stands_at, c.ahead, c.last_stamp) and c.target is null
  and (p.retry_at is null or p.retry_at <= now());

-- name: LockDueForwards :many
-- Locks up to the given number of due collections of each sandbox. Whether a collection has expired depends
-- on its own times, and not on the delay of a worker. In a sandbox with a clock it depends on the clock,
-- which may have passed the times at which the operator was to be asked.
select sqlc.embed(t), claimed.forward_fence, o.org_id, o.resource_uid, a.base_url, a.sealed,
  coalesce(case when c.tenant is null then t.due_at
    else clock_time(c.stands_at, c.ahead, c.last_stamp) end >= t.expires_at, true)::boolean as expired,
  (extract(epoch
    from clock_time(c.stands_at, c.ahead, c.last_stamp) - t.created_at) * 1000)::float8 as age_ms,
  coalesce(extract(epoch from t.expires_at - t.created_at) * 1000, 0)::float8 as expire_after_ms,
  (t.latency_ms::bigint * o.latency_percent / 100)::bigint as answer_after_ms
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant,
  unnest(sqlc.arg(limits)::integer[]) as n) due_tenant
join organizations o on o.tenant = due_tenant.tenant and not o.suspended and o.retained_at is null
left join clocks c on c.tenant = due_tenant.tenant
cross join lateral (
  select d.tenant, d.id, d.forward_fence
  from transactions d
  where d.tenant = due_tenant.tenant and d.due_at <= clock_time(c.stands_at, c.ahead, c.last_stamp)
    and d.status = 'PENDING' and d.passthrough
    and (d.leased_until is null or d.leased_until <= now())
  order by d.due_at
  limit due_tenant.n
  for update skip locked) claimed
join transactions t on t.tenant = claimed.tenant and t.id = claimed.id
left join operator_credentials a on a.tenant = t.tenant and a.store = t.store and a.operator = t.operator
  and a.country = t.country;

-- name: LeaseForwards :exec
update transactions t set forward_fence = t.forward_fence + 1,
  due_at = case when c.tenant is null then now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000)
    else t.due_at end,
  leased_until = case when c.tenant is not null then now()
    + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000) end
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) leased
left join clocks c on c.tenant = leased.tenant
where t.tenant = leased.tenant and t.id = leased.id;

-- name: BeginForwardAttempt :execrows
-- Is committed before the request is sent. Changes no row if the lease was lost.
update transactions t set forward_attempts = coalesce(t.forward_attempts, 0) + 1
where t.tenant = sqlc.arg(tenant) and t.id = sqlc.arg(id) and t.forward_fence = sqlc.arg(fence)::bigint
  and t.status = 'PENDING';

-- name: GiveBackForwards :exec
-- Ends the leases of collections for which no attempt was made. The new due_at is not after expires_at, so
-- that an expired collection stays expired.
update transactions t set forward_fence = t.forward_fence + 1, leased_until = null,
  due_at = case when t.leased_until is null then least(clock_time(c.stands_at, c.ahead, c.last_stamp),
    t.expires_at) else t.due_at end
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
  unnest(sqlc.arg(fences)::bigint[]) as fence) given
left join clocks c on c.tenant = given.tenant
where t.tenant = given.tenant and t.id = given.id and t.forward_fence = given.fence and t.status = 'PENDING';

-- name: DeferForward :execrows
-- Ends the lease of a collection that has no outcome yet. Changes no row if the lease was lost.
update transactions t set forward_fence = t.forward_fence + 1, leased_until = null,
  due_at = least(clock.at + make_interval(secs => sqlc.arg(again_after_ms)::float8 / 1000), t.expires_at),
  forward_failures = sqlc.arg(failures)::integer,
  forwarded_at = case when sqlc.arg(accepted)::boolean then coalesce(t.forwarded_at, clock.at)
    else t.forwarded_at end,
  native_id = coalesce(t.native_id, sqlc.narg(native_id)), native_raw = sqlc.narg(native_raw)
from (
  select sandbox_time(sqlc.arg(tenant)) as at
) clock
where t.tenant = sqlc.arg(tenant) and t.id = sqlc.arg(id) and t.forward_fence = sqlc.arg(fence)::bigint
  and t.status = 'PENDING';

-- name: SettleForward :execrows
-- Gives a collection its outcome, moves the money, and adds the event. The payer has no SIM in the sandbox,
-- so no SIM pays. Changes no row if the lease was lost.
with forwarded as (
  select t.tenant, t.id, t.float_currency, case when sqlc.arg(status)::transaction_status = 'SUCCESS'
    then t.net_amount else 0 end as earned, clock_time(c.stands_at, c.ahead, c.last_stamp) as present
  from transactions t left join clocks c on c.tenant = t.tenant
  where t.tenant = sqlc.arg(tenant) and t.id = sqlc.arg(id) and t.forward_fence = sqlc.arg(fence)::bigint
    and t.status = 'PENDING'
  for update of t
), merchant as (
  update floats f set balance = f.balance + forwarded.earned, movements = f.movements + 1, changed_at = now()
  from forwarded
  where sqlc.arg(status)::transaction_status = 'SUCCESS' and f.tenant = sqlc.arg(tenant)
    and f.currency = forwarded.float_currency
  returning f.tenant, f.balance, f.movements
), event as (
  insert into events (tenant, id, state, due_at, created_at)
  select forwarded.tenant, forwarded.id, case when o.deliver then 'queued' else 'recorded' end::event_state,
    case when o.deliver then forwarded.present end, forwarded.present
  from forwarded
  join (select tenant, webhook_url is not null and 'collection' = any(webhook_types) as deliver
    from organizations) o
    on o.tenant = sqlc.arg(tenant)
), callbacks as (
  insert into native_callbacks (tenant, id, transaction_id, kind, url, state, due_at)
  select n.tenant, c.callback_id, n.id, c.kind, c.url, 'queued', forwarded.present
  from forwarded
  join native_requests n on n.tenant = sqlc.arg(tenant) and n.id = forwarded.id
  cross join lateral callbacks_of(n.id, n.callback_urls, n.callback_kinds, n.callback_outcomes,
    sqlc.arg(status)::text) c
)
update transactions t
set status = sqlc.arg(status)::transaction_status, completed_at = forwarded.present, due_at = null,
  forward_fence = t.forward_fence + 1, leased_until = null, merchant_delta = forwarded.earned,
  merchant_balance_after = merchant.balance, merchant_number = coalesce(merchant.movements, 0),
  sim_number = 0, native_id = coalesce(sqlc.narg(native_id), t.native_id), native_raw = sqlc.narg(native_raw)
from forwarded left join merchant on merchant.tenant = forwarded.tenant
where t.tenant = sqlc.arg(tenant) and t.id = forwarded.id;

-- name: ListOperatorCredentials :many
select * from operator_credentials where tenant = sqlc.arg(tenant);

-- name: SetOperatorCredentials :exec
insert into operator_credentials (tenant, store, operator, country, base_url, sealed)
values (sqlc.arg(tenant), sqlc.arg(store), sqlc.arg(operator), sqlc.arg(country), sqlc.arg(base_url),
  sqlc.narg(sealed))
on conflict (tenant, store, operator, country) do update
  set base_url = excluded.base_url, sealed = excluded.sealed;

-- name: DeleteOperatorCredentials :exec
delete from operator_credentials
where tenant = sqlc.arg(tenant) and store = sqlc.arg(store) and operator = sqlc.arg(operator)
  and country = sqlc.arg(country);

-- name: PurgeOperatorCredentials :execrows
delete from operator_credentials where tenant = sqlc.arg(tenant);
