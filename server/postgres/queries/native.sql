-- What the operators' own APIs need beside the transactions: API users, tokens, requests and their callbacks.

-- name: RecordNativeRequest :exec
-- Follows the statement that records the transaction. The callback of one that has its outcome already is due when its answer would be,
-- had the operator held it. Nothing is recorded where the transaction was not.
insert into native_requests (tenant, id, operation, sent, callback_url, state, due_at)
select t.tenant, t.id, sqlc.arg(operation), sqlc.arg(sent), sqlc.narg(callback_url),
  case when sqlc.narg(callback_url)::text is not null and t.status <> 'PENDING' then 'queued'::event_state end,
  case when sqlc.narg(callback_url)::text is not null and t.status <> 'PENDING'
    then recording_time() + make_interval(secs => t.latency_ms * sqlc.arg(latency_percent)::float8 / 100000) end
from transactions t where t.tenant = sqlc.arg(tenant) and t.id = recording_id(sqlc.arg(id));

-- name: FindNative :one
-- A transaction that an operator's own API recorded, by its reference.
select sqlc.embed(t), n.sent from transactions t join native_requests n on n.tenant = t.tenant and n.id = t.id
where t.tenant = sqlc.arg(tenant) and t.reference = sqlc.arg(reference);

-- name: ListSent :many
-- What was sent for transactions of a sandbox that the operators' own APIs recorded.
select n.id, n.sent from native_requests n where n.tenant = sqlc.arg(tenant) and n.id = any(sqlc.arg(ids)::uuid[]);

-- name: ListSentOfAll :many
-- As ListSent, of several sandboxes.
select n.tenant, n.id, n.sent from native_requests n
join (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) wanted
  on wanted.tenant = n.tenant and wanted.id = n.id;

-- name: FloatBalance :one
select balance from floats where tenant = sqlc.arg(tenant) and currency = sqlc.arg(currency);

-- name: AddNativeUser :one
-- Neither added nor taken: the sandbox has as many users as it may have.
with present as (
  select count(*) as users from native_users u where u.tenant = sqlc.arg(tenant) and u.operator = sqlc.arg(operator)
), added as (
  insert into native_users (tenant, operator, user_id, made_with, callback_host)
  select sqlc.arg(tenant), sqlc.arg(operator), sqlc.arg(user_id), sqlc.arg(made_with), sqlc.arg(callback_host)
  from present where present.users < sqlc.arg(most)::bigint
  on conflict do nothing
  returning 1
)
select exists (select from added)::boolean as added,
  exists (select from native_users u
    where u.tenant = sqlc.arg(tenant) and u.operator = sqlc.arg(operator) and u.user_id = sqlc.arg(user_id))::boolean as taken;

-- name: FindNativeUser :one
select * from native_users where tenant = sqlc.arg(tenant) and operator = sqlc.arg(operator) and user_id = sqlc.arg(user_id);

-- name: SetNativeUserSecret :execrows
update native_users set secret_hash = sqlc.arg(secret_hash)
where tenant = sqlc.arg(tenant) and operator = sqlc.arg(operator) and user_id = sqlc.arg(user_id);

-- name: AddNativeToken :exec
-- A token lives in sandbox time, and a day at most in that of the database. Those whose day is over are removed.
with aged as (
  delete from native_tokens a where a.tenant = sqlc.arg(tenant) and a.created_at < now() - interval '1 day'
)
insert into native_tokens (tenant, hash, operator, product, user_id, made_with, callback_host, expires_at)
values (sqlc.arg(tenant), sqlc.arg(hash), sqlc.arg(operator), sqlc.arg(product), sqlc.arg(user_id), sqlc.arg(made_with), sqlc.arg(callback_host),
  sandbox_time(sqlc.arg(tenant)) + make_interval(secs => sqlc.arg(lifetime_ms)::float8 / 1000));

-- name: FindNativeToken :one
select k.operator, k.product, k.user_id, k.made_with, k.callback_host,
  (extract(epoch from least(k.expires_at - sandbox_time(k.tenant), k.created_at + interval '1 day' - now())) * 1000)::float8 as remains_ms
from native_tokens k
where k.tenant = sqlc.arg(tenant) and k.hash = sqlc.arg(hash) and k.expires_at > sandbox_time(k.tenant) and k.created_at > now() - interval '1 day';

-- name: TenantsToCallBack :many
-- The sandboxes that have callbacks due, as TenantsToDeliver finds those with events. A clock that is being advanced sends its own.
with recursive due_tenants as (
  (select n.tenant, n.due_at from native_requests n where n.due_at is not null order by n.tenant, n.due_at limit 1)
  union all
  select following.tenant, following.due_at from due_tenants cross join lateral (
    select n.tenant, n.due_at from native_requests n
    where n.due_at is not null and n.tenant > due_tenants.tenant
    order by n.tenant, n.due_at limit 1) following
)
select due_tenants.tenant, (p.tenant is not null)::boolean as sweep_failed
from due_tenants
join organizations o on o.tenant = due_tenants.tenant and not o.suspended and o.retained_at is null
left join clocks c on o.clocked and c.tenant = due_tenants.tenant
left join sweep_failures p on p.tenant = due_tenants.tenant and p.sweep = 'callbacks'
where due_tenants.due_at <= coalesce(clock_time(c.stands_at, c.ahead, c.last_stamp), now()) and c.target is null
  and (p.retry_at is null or p.retry_at <= now());

-- name: LeaseCallbacks :many
-- The share of each sandbox. A callback whose lease ends without a result is due again.
with claimed as (
  select due.tenant, due.id
  from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(limits)::integer[]) as n) given
  join organizations o on o.tenant = given.tenant and not o.suspended and o.retained_at is null
  left join clocks c on o.clocked and c.tenant = given.tenant
  cross join lateral (
    select n.tenant, n.id from native_requests n
    where n.tenant = given.tenant and n.due_at <= coalesce(clock_time(c.stands_at, c.ahead, c.last_stamp), now())
      and (n.leased_until is null or n.leased_until <= now())
    order by n.due_at
    limit given.n
    for update skip locked) due
)
update native_requests n set fence = n.fence + 1, leased_until = now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000)
from claimed
join transactions t on t.tenant = claimed.tenant and t.id = claimed.id
join organizations o on o.tenant = claimed.tenant
left join environments e on e.tenant = claimed.tenant and e.env_id = t.env_id
where n.tenant = claimed.tenant and n.id = claimed.id
returning sqlc.embed(t), n.fence, n.sent, n.attempts, n.callback_url, o.org_id, o.namespace, o.webhook_host, o.callback_hosts, coalesce(e.vague, false)::boolean as vague;

-- name: GiveBackCallbacks :exec
update native_requests n set fence = n.fence + 1, leased_until = null
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
  unnest(sqlc.arg(fences)::bigint[]) as fence) given
where n.tenant = given.tenant and n.id = given.id and n.fence = given.fence;

-- name: FinishCallback :execrows
-- Writes down what an attempt came to. A callback is sent once: whatever its receiver answered, nothing more is due. No row changes if the
-- lease was lost.
update native_requests n set fence = n.fence + 1, leased_until = null, due_at = null, attempts = n.attempts + 1,
  state = case when sqlc.arg(error)::text = '' then 'delivered' else 'failed' end::event_state,
  delivered_at = case when sqlc.arg(error)::text = '' then sandbox_time(n.tenant) end,
  last_status = nullif(sqlc.arg(response_status)::integer, 0), last_error = nullif(sqlc.arg(error)::text, '')
where n.tenant = sqlc.arg(tenant) and n.id = sqlc.arg(id) and n.fence = sqlc.arg(fence);

-- name: PurgeNativeRequests :one
with batch as (
  select n.id from native_requests n where n.tenant = sqlc.arg(tenant) and n.id > sqlc.arg(after) order by n.id limit sqlc.arg(batch)
), gone as (
  delete from native_requests n using batch where n.tenant = sqlc.arg(tenant) and n.id = batch.id
)
select batch.id from batch order by batch.id desc limit 1;

-- name: PurgeNativeUsers :execrows
delete from native_users where tenant = sqlc.arg(tenant);

-- name: PurgeNativeTokens :execrows
delete from native_tokens where tenant = sqlc.arg(tenant);
