-- Delivery of events. Workers lease events, since they make attempts outside of any database transaction.
--
-- Postgres keeps the plans of the statements that lease events and record attempts. A plan that was made for
-- empty tables must not read all rows of full ones. If a batch were joined by "tenant = batch.tenant",
-- Postgres could read the whole table in the order of its primary key. The form
-- "tenant = any(array[batch.tenant])" permits only a look-up for each row of the batch.
--
-- Due times are in sandbox time, and the ends of leases in the time of the database. So in a sandbox with a
-- clock, leased_until is the end of the lease, and due_at stays. In a sandbox without a clock, due_at is the
-- end of the lease.

-- name: TenantsToDeliver :many
-- Returns the sandboxes with due events. The scan skips from one sandbox to the next and reads one row of
-- each. It leaves out suspended sandboxes, sandboxes whose endpoint waits for its next probe, and sandboxes
-- in which the sweep failed and waits for its retry.
with recursive due_tenants as (
  (select e.tenant, e.due_at from events e where e.due_at is not null order by e.tenant, e.due_at limit 1)
  union all
  select following.tenant, following.due_at from due_tenants cross join lateral (
    select e.tenant, e.due_at from events e
    where e.due_at is not null and e.tenant > due_tenants.tenant
    order by e.tenant, e.due_at limit 1) following
)
select due_tenants.tenant, coalesce(h.delivered > 0, false)::boolean as endpoint_worked,
  coalesce(h.failures > 0, false)::boolean as endpoint_failing, (h.probe_at is not null)::boolean as probe,
  (p.tenant is not null)::boolean as sweep_failed
from due_tenants
cross join lateral (
  select o.webhook_url from organizations o
  where o.tenant = due_tenants.tenant and not o.suspended and o.retained_at is null limit 1) o
left join clocks c on c.tenant = due_tenants.tenant
left join endpoint_health h on h.tenant = due_tenants.tenant
left join sweep_failures p on p.tenant = due_tenants.tenant and p.sweep = 'delivery'
where due_tenants.due_at <= clock_time(c.stands_at, c.ahead, c.last_stamp) and c.target is null
  and (p.retry_at is null or p.retry_at <= now())
  and (h.probe_at is null or h.probe_at <= clock_time(c.stands_at, c.ahead, c.last_stamp)
    or o.webhook_url is null);

-- name: TakeProbes :many
-- Claims the due probes of these sandboxes' endpoints, and returns the tenants whose probe it got.
with taken as (
  select h.tenant, clock_time(c.stands_at, c.ahead, c.last_stamp) as present
  from endpoint_health h left join clocks c on c.tenant = h.tenant
  where h.tenant = any(sqlc.arg(tenants)::bigint[])
    and h.probe_at <= clock_time(c.stands_at, c.ahead, c.last_stamp)
  order by h.tenant
  for update of h skip locked
)
update endpoint_health h
set probe_at = taken.present + make_interval(secs => sqlc.arg(interval_ms)::float8 / 1000)
from taken where h.tenant = any(array[taken.tenant])
returning h.tenant;

-- name: LockDueEvents :many
-- Locks up to the given number of due events of each sandbox, or one if its endpoint is probed.
select claimed.tenant, claimed.id, claimed.fence, claimed.attempts, claimed.uncounted, claimed.resent,
  claimed.body, sqlc.embed(t), o.org_id, o.resource_uid, o.webhook_url, o.webhook_types, o.signing_secret,
  array(select x.secret from (select unnest(array_prepend(o.previous_secret, o.older_secrets)) as secret,
      unnest(array_prepend(o.previous_secret_until, o.older_secrets_until)) as until) x
    where x.until > now() order by x.until desc)::bytea[] as previous_secrets,
  o.webhook_max_retries, o.webhook_initial_delay_ms, o.webhook_factor, o.webhook_max_delay_ms,
  due_tenant.probe, taken.at::timestamptz as taken_at,
  (case when c.tenant is null then taken.at else clock_time(c.stands_at, c.ahead,
    c.last_stamp) end)::timestamptz as present,
  o.seed, o.with_faults::boolean as with_faults
from (select clock_timestamp() as at) taken
cross join (
  select given.tenant, given.n, coalesce(given.tenant = any(sqlc.arg(probes)::bigint[]),
    false)::boolean as probe
  from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(limits)::integer[]) as n) given
) due_tenant
cross join lateral (
  select o.org_id, o.resource_uid, o.webhook_url, o.webhook_types, o.webhook_max_retries, o.seed,
    (o.faults is not null or exists (select from set_faults s where s.tenant = o.tenant)) as with_faults,
    o.webhook_initial_delay_ms, o.webhook_factor, o.webhook_max_delay_ms, o.signing_secret,
    o.previous_secret, o.previous_secret_until, o.older_secrets, o.older_secrets_until
  from organizations o
  where o.tenant = due_tenant.tenant and not o.suspended and o.retained_at is null limit 1) o
left join endpoint_health h on h.tenant = due_tenant.tenant
left join clocks c on c.tenant = due_tenant.tenant
cross join lateral (
  select e.tenant, e.id, e.fence, e.attempts, coalesce(e.resent_after, e.probes)::integer as uncounted,
    (e.resent_after is not null)::boolean as resent, e.body
  from events e
  where e.tenant = due_tenant.tenant and e.due_at <= clock_time(c.stands_at, c.ahead, c.last_stamp)
    and (c.tenant is null or not e.leased or coalesce(e.leased_until, e.due_at) <= now())
  order by e.due_at
  limit case when due_tenant.probe then 1 else due_tenant.n end
  for update skip locked) claimed
cross join lateral (
  select * from transactions t where t.tenant = claimed.tenant and t.id = claimed.id limit 1) t
where h.probe_at is null or due_tenant.probe or o.webhook_url is null;

-- name: PlanEachTime :exec
-- Makes Postgres plan the following statements of the database transaction each time. A kept plan of them
-- would depend on the size of the tables.
select set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: LeaseEvents :exec
-- Takes the leases, and stores the bodies that were built now.
update events e set fence = e.fence + 1, leased = true, body = coalesce(leased.body, e.body),
  due_at = case when c.tenant is null then now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000)
    else e.due_at end,
  leased_until = case when c.tenant is not null then now()
    + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000) end
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
  unnest(sqlc.arg(bodies)::bytea[]) as body) leased
left join clocks c on c.tenant = leased.tenant
where e.tenant = any(array[leased.tenant]) and e.id = leased.id;

-- name: UnqueueEvents :exec
-- Removes from the queue the events that no endpoint wants any more. Their rows stay.
with forgotten as (
  delete from unacknowledged_events u
  using (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) unqueued
  where u.tenant = any(array[unqueued.tenant]) and u.id = unqueued.id and u.operator || '' = ''
)
update events e set state = 'recorded', due_at = null, leased = false, leased_until = null
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) unqueued
where e.tenant = any(array[unqueued.tenant]) and e.id = unqueued.id;

-- name: GiveBackEvents :exec
-- Ends the leases of events for which no attempt was made.
update events e set fence = e.fence + 1, leased = false, leased_until = null,
  due_at = case when e.leased_until is null then clock_time(c.stands_at, c.ahead, c.last_stamp)
    else e.due_at end
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
  unnest(sqlc.arg(fences)::bigint[]) as fence) given
left join clocks c on c.tenant = given.tenant
where e.tenant = given.tenant and e.id = given.id and e.fence = given.fence;

-- name: FinishAttempts :many
-- Records attempts, ends their leases, and updates the health of their endpoints. ordinals number the
-- attempts in the order in which they ended. Returns the ordinals of the attempts whose lease was held. For
-- an attempt whose lease was lost, it writes nothing. So a repetition after a lost answer writes nothing.
-- Rows are locked in one order, events before endpoint_health, so that there is no deadlock. An attempt to
-- which a fault applied, or that went to a former URL, counts neither as a failure nor as a success of the
-- endpoint.
with given as (
  select unnest(sqlc.arg(ordinals)::integer[]) as ordinal, unnest(sqlc.arg(tenants)::bigint[]) as tenant,
    unnest(sqlc.arg(ids)::uuid[]) as id, unnest(sqlc.arg(fences)::bigint[]) as fence,
    unnest(sqlc.arg(urls)::text[]) as url, unnest(sqlc.arg(states)::text[])::event_state as state,
    unnest(sqlc.arg(retry_after_ms)::float8[]) as retry_after_ms,
    unnest(sqlc.arg(probes)::boolean[]) as probe, unnest(sqlc.arg(started_at)::timestamptz[]) as started_at,
    unnest(sqlc.arg(real_started_at)::timestamptz[]) as real_started_at,
    unnest(sqlc.arg(duration_ms)::integer[]) as duration_ms,
    unnest(sqlc.arg(response_statuses)::integer[]) as response_status,
    unnest(sqlc.arg(response_bodies)::bytea[]) as response_body, unnest(sqlc.arg(errors)::text[]) as error,
    nullif(unnest(sqlc.arg(faults)::text[]), '') as fault,
    unnest(sqlc.arg(signed_at)::timestamptz[]) as signed_at,
    nullif(unnest(sqlc.arg(signatures)::text[]), '') as signature,
    nullif(unnest(sqlc.arg(previous_signatures)::text[]), '') as previous_signature,
    nullif(unnest(sqlc.arg(standard_signatures)::text[]), '') as standard_signature,
    nullif(unnest(sqlc.arg(signed_with)::text[]), '') as signed_with
), held as (
  select given.ordinal, given.tenant, given.id, given.url, given.state, given.retry_after_ms, given.probe,
    given.started_at, given.real_started_at, given.duration_ms, given.response_status, given.response_body,
    given.error, given.fault, given.signed_at, given.signature, given.previous_signature,
    given.standard_signature, given.signed_with,
    clock_time(c.stands_at, c.ahead, c.last_stamp) as present
  from given
  join events e on e.tenant = any(array[given.tenant]) and e.id = given.id
    and e.fence = given.fence
  left join clocks c on c.tenant = given.tenant
  order by given.tenant, given.id
  for update of e
), finished as (
  update events e
  set state = held.state, fence = e.fence + 1, leased = false, leased_until = null, attempts = e.attempts + 1,
    probes = e.probes + case when held.probe and e.resent_after is null then 1 else 0 end,
    resent_after = e.resent_after + case when held.probe then 1 else 0 end,
    due_at = case when held.state = 'queued' then held.present
      + make_interval(secs => held.retry_after_ms / 1000) end,
    delivered_at = case when held.state = 'delivered' then held.present end
  from held where e.tenant = any(array[held.tenant]) and e.id = held.id
  returning e.attempts, e.created_at, held.ordinal, held.tenant, held.id, held.url, held.state,
    held.started_at, held.real_started_at, held.duration_ms, held.response_status, held.response_body,
    held.error, held.fault, held.present, held.signed_at, held.signature, held.previous_signature,
    held.standard_signature, held.signed_with
), written as (
  insert into delivery_attempts (tenant, event_id, attempt, started_at, real_started_at, duration_ms,
    response_status, response_body, error, faults, signed_at, signature, previous_signature,
    standard_signature, signed_with)
  select tenant, id, attempts, started_at, nullif(real_started_at, started_at), duration_ms,
    nullif(response_status, 0), response_body, nullif(error, ''),
    case when fault is not null then array[fault] end,
    case when signature is not null then signed_at end, signature, previous_signature, standard_signature,
    signed_with
  from finished
), unacknowledged as (
  insert into unacknowledged_events as u (tenant, id, operator, created_at, attempt)
  select tenant, id, '', created_at, attempts from finished where state <> 'delivered' and fault is null
  on conflict (tenant, id, operator) do update set attempt = excluded.attempt
), acknowledged as (
  delete from unacknowledged_events u using finished
  where finished.state = 'delivered' and u.tenant = any(array[finished.tenant]) and u.id = finished.id
    and u.operator || '' = ''
), ordered as (
  select finished.ordinal, finished.tenant, finished.id, finished.url, finished.attempts, finished.state,
    finished.error, o.telling, finished.present,
    coalesce(max(finished.ordinal) filter (where finished.state = 'delivered' and o.telling)
      over (partition by finished.tenant), 0) as last_success
  from finished cross join lateral (
    select finished.fault is null and finished.url = o.webhook_url as telling from organizations o
    where o.tenant = finished.tenant limit 1) o
), breaker as (
  select sqlc.arg(breaker_failures)::integer as failures,
    make_interval(secs => sqlc.arg(breaker_ms)::float8 / 1000) as since,
    make_interval(secs => sqlc.arg(probe_ms)::float8 / 1000) as pause
), runs as (
  select tenant, min(present) as present,
    coalesce(bool_or(state = 'delivered' and telling), false) as success,
    (array_agg(url order by ordinal desc) filter (where state = 'delivered'
      and telling))[1] as acknowledged_url,
    (count(*) filter (where ordinal > last_success and telling))::integer as failures, -- since last_success
    count(*) filter (where state = 'delivered') as delivered,
    count(*) filter (where state = 'failed') as failed,
    (array_agg(error order by ordinal desc) filter (where error <> '' and telling))[1] as last_failure,
    (array_agg(id order by ordinal) filter (where ordinal > last_success and telling))[1] as first_failed,
    (array_agg(attempts order by ordinal) filter (where ordinal > last_success
      and telling))[1] as first_failed_attempt,
    (array_agg(id order by ordinal desc) filter (where error <> '' and telling))[1] as last_failed,
    (array_agg(attempts order by ordinal desc) filter (where error <> ''
      and telling))[1] as last_failed_attempt,
    (array_agg(id order by ordinal desc) filter (where state = 'delivered'))[1] as last_acked,
    (array_agg(attempts order by ordinal desc) filter (where state = 'delivered'))[1] as last_acked_attempt
  from ordered group by tenant
), health as (
  insert into endpoint_health as h (tenant, failures, failing_since, delivered, failed, last_failure_at,
    last_failure, first_failed, first_failed_attempt, last_failed, last_failed_attempt, last_acked,
    last_acked_attempt, acknowledged_url)
  select r.tenant, r.failures, case when r.failures > 0 then r.present end, r.delivered, r.failed,
    case when r.last_failure is not null then now() end, r.last_failure, r.first_failed,
    r.first_failed_attempt, r.last_failed, r.last_failed_attempt, r.last_acked, r.last_acked_attempt,
    case when r.failures = 0 then r.acknowledged_url end
  from runs r
  order by r.tenant
  on conflict (tenant) do update
  set (failures, failing_since, probe_at, delivered, failed, last_failure_at, last_failure, changed_at,
    first_failed, first_failed_attempt, last_failed, last_failed_attempt, last_acked, last_acked_attempt,
    acknowledged_url) = (
    select case when r.success then r.failures else h.failures + r.failures end,
      case when r.failures > 0 then case when r.success then r.present
        else coalesce(h.failing_since, r.present) end
        when not r.success then h.failing_since end,
      case when r.success then null
        when r.failures > 0 and h.probe_at is null and h.failures + r.failures >= breaker.failures
          and h.failing_since <= r.present - breaker.since
        then r.present + breaker.pause
        else h.probe_at end,
      h.delivered + r.delivered, h.failed + r.failed,
      case when r.last_failure is null then h.last_failure_at else now() end,
      coalesce(r.last_failure, h.last_failure), now(),
      case when r.success or h.failures = 0 then r.first_failed else h.first_failed end,
      case when r.success or h.failures = 0 then r.first_failed_attempt else h.first_failed_attempt end,
      coalesce(r.last_failed, h.last_failed),
      case when r.last_failed is null then h.last_failed_attempt else r.last_failed_attempt end,
      coalesce(r.last_acked, h.last_acked),
      case when r.last_acked is null then h.last_acked_attempt else r.last_acked_attempt end,
      case when r.failures = 0 then coalesce(r.acknowledged_url, h.acknowledged_url) end
    from runs r, breaker where r.tenant = h.tenant)
)
select finished.ordinal::integer as ordinal from finished;
