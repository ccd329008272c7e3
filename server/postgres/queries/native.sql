-- The data of the operators' own APIs beside the transactions: API users, tokens, requests and their
-- callbacks.

-- name: RecordNativeRequest :exec
-- Is sent after the statement that records the transaction. Records nothing if that statement did not.
insert into native_requests (tenant, id, operation, sent, callback_urls, callback_kinds, callback_outcomes)
select t.tenant, t.id, {{template "native request"}} from transactions t
where t.tenant = sqlc.arg(tenant) and t.id = (select {{recordingID}});

-- name: RecordCallbacks :exec
-- Is sent after the statement that records the transaction. The callbacks of a transaction that has its
-- outcome at once are due after the scaled latency. The settlement records those of the others.
insert into native_callbacks (tenant, id, transaction_id, kind, url, state, due_at)
select t.tenant, c.callback_id, t.id, c.kind, c.url, 'queued',
  {{recordingTime}} + make_interval(secs => t.latency_ms * sqlc.arg(latency_percent)::float8 / 100000)
from transactions t cross join lateral callbacks_of(t.id, sqlc.arg(callback_urls)::text[],
  sqlc.narg(callback_kinds)::text[], sqlc.narg(callback_outcomes)::text[], t.status::text) c
where t.tenant = sqlc.arg(tenant) and t.id = (select {{recordingID}}) and t.status <> 'PENDING';

-- name: FindNative :one
-- Returns the transaction that an operator's own API recorded with a reference.
select sqlc.embed(t), n.sent from transactions_by_reference x
join transactions t on t.tenant = sqlc.arg(tenant)::bigint and t.id = x.id
join native_requests n on n.tenant = t.tenant and n.id = t.id
where x.reference_key = sqlc.arg(tenant)::bigint::text || ' ' || sqlc.arg(reference)::text;

-- name: ListSent :many
-- Returns the column `sent` of transactions that the operators' own APIs recorded.
select n.id, n.sent from native_requests n
where n.tenant = sqlc.arg(tenant) and n.id = any(sqlc.arg(ids)::uuid[]);

-- name: ListSentOfAll :many
-- ListSent for several sandboxes.
select n.tenant, n.id, n.sent from native_requests n
join (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) wanted
  on wanted.tenant = n.tenant and wanted.id = n.id;

-- name: FloatBalance :one
select balance from floats where tenant = sqlc.arg(tenant) and currency = sqlc.arg(currency);

-- name: LockNativeUsers :exec
-- Lets one caller at a time add users of a sandbox, so that their number stays right.
select pg_advisory_xact_lock(hashtextextended('native users', sqlc.arg(tenant)::bigint));

-- name: RemoveEndedNativeUsers :exec
-- Removes the users that ended with their API key.
delete from native_users u where u.tenant = sqlc.arg(tenant) and u.operator = sqlc.arg(operator)
  and not api_key_is_valid(u.made_with);

-- name: AddNativeUser :one
-- Runs after LockNativeUsers and RemoveEndedNativeUsers. If both added and taken are false, the sandbox has
-- as many users as it may have.
with counted as (
  select count(*) as users from native_users u
  where u.tenant = sqlc.arg(tenant) and u.operator = sqlc.arg(operator)
), added as (
  insert into native_users (tenant, operator, user_id, made_with, callback_host)
  select sqlc.arg(tenant), sqlc.arg(operator), sqlc.arg(user_id), sqlc.arg(made_with), sqlc.arg(callback_host)
  from counted where counted.users < sqlc.arg(most)::bigint
  on conflict do nothing
  returning 1
)
select exists (select from added)::boolean as added,
  exists (select from native_users u
    where u.tenant = sqlc.arg(tenant) and u.operator = sqlc.arg(operator)
      and u.user_id = sqlc.arg(user_id))::boolean as taken;

-- name: FindNativeUser :one
select * from native_users
where tenant = sqlc.arg(tenant) and operator = sqlc.arg(operator) and user_id = sqlc.arg(user_id);

-- name: SetNativeUserSecret :execrows
update native_users set secret_hash = sqlc.arg(secret_hash)
where tenant = sqlc.arg(tenant) and operator = sqlc.arg(operator) and user_id = sqlc.arg(user_id);

-- name: LockNativeSettings :exec
-- Lets one caller at a time keep a setting of a sandbox, so that their number stays right.
select pg_advisory_xact_lock(hashtextextended('native settings', sqlc.arg(tenant)::bigint));

-- name: KeepNativeSetting :exec
-- Runs after LockNativeSettings. Keeps a setting in place of the one with its name. A sandbox keeps its
-- newest settings of each operator.
with beyond as (
  select n.name from native_settings n
  where n.tenant = sqlc.arg(tenant) and n.operator = sqlc.arg(operator) and n.name <> sqlc.arg(name)
  order by n.kept_at desc, n.name offset sqlc.arg(others)::integer limit 100
), removed as (
  delete from native_settings k using beyond
  where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator) and k.name = beyond.name
)
insert into native_settings (tenant, operator, name, made_with, value)
values (sqlc.arg(tenant), sqlc.arg(operator), sqlc.arg(name), sqlc.arg(made_with), sqlc.arg(value))
on conflict (tenant, operator, name) do update
set made_with = excluded.made_with, value = excluded.value, kept_at = now();

-- name: FindNativeSetting :one
select k.made_with, k.value from native_settings k
where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator) and k.name = sqlc.arg(name);

-- name: ListPaid :many
-- Returns the collections of an operator in a country that were paid in a range of time, in the order in
-- which they were made: those whose request has a value under a key, or all others. The id after is less
-- than those of collections that may be paid in the range. It reads the view, as lists with filters do.
select t.* from transactions t
where t.tenant = sqlc.arg(tenant) and t.id = any(array(
  select l.id from listed_transactions l
  where l.tenant = sqlc.arg(tenant) and l.status = 'SUCCESS' and l.type = 'collection'
    and l.operator = sqlc.arg(operator) and l.country = sqlc.arg(country)
    and l.id > sqlc.arg(after) and l.id < sqlc.arg(before)
    and l.completed_at >= sqlc.arg(paid_from)::timestamptz
    and l.completed_at < sqlc.arg(paid_before)::timestamptz
    and (coalesce((select n.sent->>sqlc.arg(key)::text from native_requests n
      where n.tenant = sqlc.arg(tenant) and n.id = l.id), '') = sqlc.arg(value)::text)
      <> sqlc.arg(others)::boolean
  order by l.id offset sqlc.arg(skip)::integer limit sqlc.arg(most)::integer))
order by t.tenant, t.id;

-- name: SortNothing :exec
-- Switches sorting off until the database transaction ends: ordered rows are read by an index, whatever the
-- statistics.
select set_config('enable_sort', 'off', true);

-- name: AddNativeToken :exec
-- Runs after SortNothing. The lifetime of a token is in sandbox time, and at most a day in the time of the
-- database. A sandbox keeps its newest tokens of each operator. Those beyond end when no process can know
-- them any more, and the ended ones are deleted.
with beyond as (
  (select k.hash from native_tokens k
  where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator) and k.created_at > '-infinity'
  order by k.created_at desc offset sqlc.arg(others)::integer limit 100)
  union
  (select k.hash from native_tokens k
  where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator) and k.created_at > '-infinity'
    and k.created_at <= (
      select n.created_at from native_tokens n
      where n.tenant = sqlc.arg(tenant) and n.operator = sqlc.arg(operator) and n.created_at > '-infinity'
      order by n.created_at desc offset sqlc.arg(others)::integer limit 1)
  order by k.created_at limit 100)
), removed as (
  delete from native_tokens k using beyond
  where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator) and k.hash = beyond.hash
    and k.expires_at <= sandbox_time(sqlc.arg(tenant))
), ended as (
  update native_tokens k
  set expires_at = sandbox_time(sqlc.arg(tenant)) + make_interval(secs => sqlc.arg(known_ms)::float8 / 1000)
  from beyond
  where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator) and k.hash = beyond.hash
    and k.expires_at
      > sandbox_time(sqlc.arg(tenant)) + make_interval(secs => sqlc.arg(known_ms)::float8 / 1000)
)
insert into native_tokens (tenant, hash, operator, product, user_id, made_with, callback_host, expires_at)
values (sqlc.arg(tenant), sqlc.arg(hash), sqlc.arg(operator), sqlc.arg(product), sqlc.arg(user_id),
  sqlc.arg(made_with), sqlc.arg(callback_host),
  sandbox_time(sqlc.arg(tenant)) + make_interval(secs => sqlc.arg(lifetime_ms)::float8 / 1000));

-- name: FindNativeToken :one
select k.product, k.user_id, k.made_with, k.callback_host,
  (extract(epoch
    from least(k.expires_at - sandbox_time(k.tenant),
      k.created_at + interval '1 day' - now())) * 1000)::float8 as remains_ms
from native_tokens k
where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator) and k.hash = sqlc.arg(hash)
  and k.created_at > now() - interval '1 day';

-- name: OpenNativeOrder :execrows
-- Runs after SortNothing. Opens an order, in place of one with the same id that has ended. Opens none if the
-- id is that of an open order, or a reference. A sandbox keeps its newest orders of each operator, as it
-- keeps its tokens.
with beyond as (
  select k.token_hash from native_orders k
  where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator) and k.created_at > '-infinity'
    and k.order_id <> sqlc.arg(order_id)
    and k.created_at <= (
      select n.created_at from native_orders n
      where n.tenant = sqlc.arg(tenant) and n.operator = sqlc.arg(operator) and n.created_at > '-infinity'
      order by n.created_at desc offset sqlc.arg(others)::integer limit 1)
  order by k.created_at limit 100
), removed as (
  delete from native_orders k using beyond
  where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator) and k.token_hash = beyond.token_hash
)
insert into native_orders as o (tenant, operator, order_id, token_hash, made_with, amount, sent, expires_at)
select sqlc.arg(tenant), sqlc.arg(operator), sqlc.arg(order_id), sqlc.arg(token_hash), sqlc.arg(made_with),
  sqlc.arg(amount), sqlc.arg(sent),
  sandbox_time(sqlc.arg(tenant)) + make_interval(secs => sqlc.arg(lifetime_ms)::float8 / 1000)
where not exists (select from transactions_by_reference x
  where x.reference_key = sqlc.arg(tenant)::bigint::text || ' ' || sqlc.arg(order_id)::text)
on conflict (tenant, operator, order_id) do update
set token_hash = excluded.token_hash, made_with = excluded.made_with, amount = excluded.amount,
  sent = excluded.sent, expires_at = excluded.expires_at, created_at = now(), codes = 0, ended = false,
  canceled = false, confirmed = false
where o.ended or o.expires_at <= sandbox_time(o.tenant);

-- name: FindNativeOrder :one
select sqlc.embed(o), (o.expires_at <= sandbox_time(o.tenant))::boolean as expired
from native_orders o
where o.tenant = sqlc.arg(tenant) and o.operator = sqlc.arg(operator) and o.token_hash = sqlc.arg(token_hash);

-- name: ListOpenNativeOrders :many
-- Runs after SortNothing. Of the newest orders at an operator, those that wait for their payers.
select o.order_id, o.amount, o.sent, o.expires_at from (
  select * from native_orders k
  where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator) and k.created_at > '-infinity'
  order by k.created_at desc limit sqlc.arg(newest)::integer) o
where not o.ended and not o.confirmed and o.codes < sqlc.arg(most_codes)::integer
  and o.expires_at > sandbox_time(o.tenant) and api_key_is_valid(o.made_with)
order by o.created_at desc;

-- name: TryNativeOrderCode :one
-- Counts a one-time code before it is compared, so that callers at one time do not pass the bound together.
-- Returns no row if the order has ended, or has no code left.
update native_orders o set codes = o.codes + 1
where o.tenant = sqlc.arg(tenant) and o.operator = sqlc.arg(operator) and o.token_hash = sqlc.arg(token_hash)
  and not o.ended and not o.confirmed and o.expires_at > sandbox_time(o.tenant)
  and o.codes < sqlc.arg(most)::integer
returning o.codes;

-- name: ConfirmNativeOrder :exec
-- Is sent after the statement that records the collection of an order, in the same database transaction. So
-- an order is confirmed if and only if its collection is recorded. Confirms nothing if that statement
-- recorded nothing. If the order has ended, the constraint native_orders_one_end undoes both.
update native_orders o set confirmed = true
where o.tenant = sqlc.arg(tenant) and o.operator = sqlc.arg(operator) and o.token_hash = sqlc.arg(token_hash)
  and exists (select from transactions t
    where t.tenant = sqlc.arg(tenant) and t.id = (select {{recordingID}}));

-- name: GiveBackNativeOrderCode :exec
-- Takes back what TryNativeOrderCode has done, unless the order is confirmed.
update native_orders o set codes = o.codes - 1
where o.tenant = sqlc.arg(tenant) and o.operator = sqlc.arg(operator) and o.token_hash = sqlc.arg(token_hash)
  and not o.confirmed and o.codes > 0;

-- name: EndNativeOrder :exec
update native_orders o set ended = true, canceled = sqlc.arg(canceled)
where o.tenant = sqlc.arg(tenant) and o.operator = sqlc.arg(operator) and o.token_hash = sqlc.arg(token_hash)
  and not o.confirmed and not o.ended;

-- name: TenantsToCallBack :many
-- Returns the sandboxes with due callbacks, as TenantsToDeliver does for events. It leaves out sandboxes
-- whose clock is being advanced: the worker of the clock sends their callbacks.
with recursive due_tenants as (
  (select n.tenant, n.due_at from native_callbacks n where n.due_at is not null order by n.tenant, n.due_at
    limit 1)
  union all
  select following.tenant, following.due_at from due_tenants cross join lateral (
    select n.tenant, n.due_at from native_callbacks n
    where n.due_at is not null and n.tenant > due_tenants.tenant
    order by n.tenant, n.due_at limit 1) following
)
select due_tenants.tenant, (p.tenant is not null)::boolean as sweep_failed
from due_tenants
cross join lateral (
  select o.clocked from organizations o
  where o.tenant = due_tenants.tenant and not o.suspended and o.retained_at is null limit 1) o
left join clocks c on o.clocked and c.tenant = due_tenants.tenant
left join sweep_failures p on p.tenant = due_tenants.tenant and p.sweep = 'callbacks'
where due_tenants.due_at <= coalesce(clock_time(c.stands_at, c.ahead, c.last_stamp), now())
  and c.target is null
  and (p.retry_at is null or p.retry_at <= now());

-- name: LockDueCallbacks :many
-- Locks up to the given number of due callbacks of each sandbox.
select claimed.tenant, claimed.id, claimed.transaction_id, claimed.operator, claimed.kind, claimed.url,
  claimed.sent, claimed.body, claimed.fence, claimed.attempts, claimed.retries, claimed.fault,
  claimed.times_sent, o.org_id, o.resource_uid, o.signing_secret, o.namespace, o.webhook_host,
  o.callback_hosts, coalesce(clock_time(c.stands_at, c.ahead, c.last_stamp),
    now())::timestamptz as present, now()::timestamptz as taken_at,
  o.seed, (o.faults is not null
    or exists (select from set_faults s where s.tenant = o.tenant))::boolean as with_faults
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(limits)::integer[]) as n) given
join organizations o on o.tenant = given.tenant and not o.suspended and o.retained_at is null
left join clocks c on o.clocked and c.tenant = given.tenant
cross join lateral (
  select n.tenant, n.id, n.transaction_id, n.operator, n.kind, n.url, n.sent, n.body, n.fence, n.attempts,
    n.retries, n.fault, n.times_sent
  from native_callbacks n
  where n.tenant = given.tenant and n.due_at <= coalesce(clock_time(c.stands_at, c.ahead, c.last_stamp),
    now())
    and (n.leased_until is null or n.leased_until <= now())
  order by n.due_at
  limit given.n
  for update skip locked) claimed;

-- name: TransactionsOfCallbacks :many
-- Returns transactions that have callbacks, with what their requests sent.
select sqlc.embed(t), q.sent, coalesce(e.vague, false)::boolean as vague
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) wanted
join transactions t on t.tenant = wanted.tenant and t.id = wanted.id
join native_requests q on q.tenant = wanted.tenant and q.id = wanted.id
left join environments e on e.tenant = t.tenant and e.env_id = t.env_id;

-- name: LeaseCallbacks :exec
-- Takes the leases, and stores the bodies that were built now. A callback whose lease ends without a result
-- is due again.
update native_callbacks n
set fence = n.fence + 1, leased_until = now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000),
  body = coalesce(n.body, leased.body)
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
  unnest(sqlc.arg(bodies)::bytea[]) as body) leased
where n.tenant = leased.tenant and n.id = leased.id;

-- name: GiveBackCallbacks :exec
update native_callbacks n set fence = n.fence + 1, leased_until = null
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
  unnest(sqlc.arg(fences)::bigint[]) as fence) given
where n.tenant = given.tenant and n.id = given.id and n.fence = given.fence;

-- name: FinishCallback :execrows
-- Records an attempt and ends the lease. Writes nothing if the lease was lost.
with finished as (
  update native_callbacks n
  set fence = n.fence + 1, leased_until = null, attempts = n.attempts + 1,
    state = sqlc.arg(state)::event_state,
    due_at = case when sqlc.arg(state)::event_state = 'queued'
      then sandbox_time(n.tenant) + make_interval(secs => sqlc.arg(retry_after_ms)::float8 / 1000) end,
    retries = n.retries + (sqlc.arg(state)::event_state = 'queued')::integer,
    delivered_at = case when sqlc.arg(state)::event_state = 'delivered' then sandbox_time(n.tenant) end,
    last_status = nullif(sqlc.arg(response_status)::integer, 0),
    last_error = nullif(sqlc.arg(error)::text, '')
  where n.tenant = sqlc.arg(tenant) and n.id = sqlc.arg(id) and n.fence = sqlc.arg(fence)
  returning n.attempts, n.operator, n.created_at, n.transaction_id
), unacknowledged as (
  insert into unacknowledged_events as u (tenant, id, operator, created_at, attempt)
  select sqlc.arg(tenant), sqlc.arg(id), coalesce(finished.operator, t.operator),
    coalesce(finished.created_at, t.completed_at, t.created_at), finished.attempts
  from finished left join transactions t on t.tenant = sqlc.arg(tenant) and t.id = finished.transaction_id
  where sqlc.arg(state)::event_state <> 'delivered' and sqlc.arg(fault)::text = ''
  on conflict (tenant, id, operator) do update set attempt = excluded.attempt
), acknowledged as (
  delete from unacknowledged_events u using finished
  where sqlc.arg(state)::event_state = 'delivered' and u.tenant = sqlc.arg(tenant) and u.id = sqlc.arg(id)
    and u.operator || '' > ''
)
insert into callback_attempts (tenant, id, attempt, started_at, real_started_at, duration_ms, response_status,
  response_body, error, faults, copies)
select sqlc.arg(tenant), sqlc.arg(id), finished.attempts, sqlc.arg(started_at),
  nullif(sqlc.arg(real_started_at)::timestamptz, sqlc.arg(started_at)), sqlc.arg(duration_ms),
  nullif(sqlc.arg(response_status)::integer, 0), sqlc.arg(response_body), nullif(sqlc.arg(error)::text, ''),
  case when sqlc.arg(fault)::text <> '' then array[sqlc.arg(fault)::text] end,
  sqlc.narg(copies)::json
from finished;

-- name: GetCallback :one
select sqlc.embed(n), coalesce(n.leased_until > now(), false)::boolean as being_sent
from native_callbacks n
where n.tenant = sqlc.arg(tenant) and n.id = sqlc.arg(id);

-- name: ListCallbackAttempts :many
select * from callback_attempts
where tenant = sqlc.arg(tenant) and id = sqlc.arg(id) and attempt <= sqlc.arg(latest)::integer
order by attempt desc limit sqlc.arg(most);

-- name: KeepCallbackBody :one
-- KeepEventBody for callbacks.
update native_callbacks n set body = coalesce(n.body, sqlc.arg(body))
where n.tenant = sqlc.arg(tenant) and n.id = sqlc.arg(id) returning n.body;

-- name: ResendCallback :one
-- Queues a callback again, unless it is being sent. Its retries start again. The fence increases, as in
-- ResendEvent. A callback without an attempt keeps its due time.
with found as (
  select n.id, coalesce(n.leased_until > now(), false)::boolean as being_sent from native_callbacks n
  where n.tenant = sqlc.arg(tenant) and n.id = sqlc.arg(id)
  for update
), queued as (
  update native_callbacks n
  set state = 'queued', fence = n.fence + 1, leased_until = null, delivered_at = null, retries = 0,
    due_at = case when n.attempts = 0 then n.due_at else sandbox_time(n.tenant) end
  from found
  where n.tenant = sqlc.arg(tenant) and n.id = found.id and not found.being_sent
  returning n.id
), forgotten as (
  delete from unacknowledged_events u
  where u.tenant = sqlc.arg(tenant) and u.id = (select queued.id from queued) and u.operator || '' > ''
)
select found.being_sent from found;

-- name: AddNotice :one
-- Runs after SortNothing. Adds a callback that belongs to no transaction. A sandbox keeps its newest ones of
-- each operator, as it keeps its tokens.
with beyond as (
  select k.id from native_callbacks k
  where k.tenant = sqlc.arg(tenant) and k.operator = sqlc.arg(operator)::text and k.recorded_at is not null
    and k.id <= (
      select n.id from native_callbacks n
      where n.tenant = sqlc.arg(tenant) and n.operator = sqlc.arg(operator)::text
        and n.recorded_at is not null
      order by n.id desc offset sqlc.arg(others)::integer limit 1)
  order by k.id limit 100
), removed as (
  delete from native_callbacks k using beyond where k.tenant = sqlc.arg(tenant) and k.id = beyond.id
), attempts as (
  delete from callback_attempts a using beyond where a.tenant = sqlc.arg(tenant) and a.id = beyond.id
), forgotten as (
  delete from unacknowledged_events u using beyond
  where u.tenant = sqlc.arg(tenant) and u.id = beyond.id and u.operator || '' > ''
)
insert into native_callbacks (tenant, id, operator, kind, url, sent, state, retries, due_at, created_at,
  recorded_at)
values (sqlc.arg(tenant), {{recordingID}}, sqlc.arg(operator)::text, sqlc.arg(kind), sqlc.arg(url),
  sqlc.arg(sent), 'queued', sqlc.arg(retries),
  {{recordingTime}} + make_interval(secs => sqlc.arg(after_ms)::float8 / 1000), {{recordingTime}}, now())
returning id;

-- name: PurgeCallbackAttempts :one
with batch as (
  select a.id, a.attempt from callback_attempts a
  where a.tenant = sqlc.arg(tenant) and (a.id, a.attempt) > (sqlc.arg(after)::uuid,
    sqlc.arg(after_attempt)::integer)
  order by a.id, a.attempt limit sqlc.arg(batch)
), gone as (
  delete from callback_attempts a using batch
  where a.tenant = sqlc.arg(tenant) and a.id = batch.id and a.attempt = batch.attempt
)
select batch.id, batch.attempt from batch order by batch.id desc, batch.attempt desc limit 1;

-- name: PurgeNativeRequests :one
with batch as (
  select n.id from native_requests n where n.tenant = sqlc.arg(tenant) and n.id > sqlc.arg(after)
  order by n.id limit sqlc.arg(batch)
), gone as (
  delete from native_requests n using batch where n.tenant = sqlc.arg(tenant) and n.id = batch.id
)
select batch.id from batch order by batch.id desc limit 1;

-- name: PurgeNativeCallbacks :one
with batch as (
  select n.id from native_callbacks n where n.tenant = sqlc.arg(tenant) and n.id > sqlc.arg(after)
  order by n.id limit sqlc.arg(batch)
), gone as (
  delete from native_callbacks n using batch where n.tenant = sqlc.arg(tenant) and n.id = batch.id
), forgotten as (
  delete from unacknowledged_events u
  where u.tenant = sqlc.arg(tenant) and u.id = any(array(select batch.id from batch))
    and u.operator || '' > ''
)
select batch.id from batch order by batch.id desc limit 1;

-- name: PurgeNativeUsers :execrows
delete from native_users where tenant = sqlc.arg(tenant);

-- name: PurgeNativeSettings :execrows
delete from native_settings where tenant = sqlc.arg(tenant);

-- name: PurgeNativeTokens :execrows
delete from native_tokens where tenant = sqlc.arg(tenant);

-- name: PurgeNativeOrders :execrows
delete from native_orders where tenant = sqlc.arg(tenant);

-- name: KnownNativeSecrets :many
-- Outside of the tenant scope, since the requests of strangers ask it: which of these are tokens, or name
-- orders. A lateral join with a limit forces an index look-up for each.
with asked as (
  select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(operators)::text[]) as operator,
    unnest(sqlc.arg(hashes)::bytea[]) as hash
)
select k.tenant, k.operator, k.hash from asked cross join lateral (
  select tenant, operator, hash from native_tokens
  where tenant = asked.tenant and operator = asked.operator and hash = asked.hash limit 1) k
union all
select o.tenant, o.operator, o.token_hash from asked cross join lateral (
  select tenant, operator, token_hash from native_orders
  where tenant = asked.tenant and operator = asked.operator and token_hash = asked.hash limit 1) o;
