-- Events as their sandbox sees them. Every statement here runs in the tenant scope.

-- name: GetEvent :one
select sqlc.embed(e), sqlc.embed(t), coalesce(e.leased and coalesce(e.leased_until, e.due_at) > now(),
  false)::boolean as being_sent
from events e
join transactions t on t.tenant = e.tenant and t.id = e.id
where e.tenant = sqlc.arg(tenant) and e.id = sqlc.arg(id);

-- name: ListAttempts :many
select * from delivery_attempts
where tenant = sqlc.arg(tenant) and event_id = sqlc.arg(event_id) and attempt <= sqlc.arg(latest)::integer
order by attempt desc limit sqlc.arg(most);

-- name: KeepEventBody :one
-- Stores the body of an event, unless one is stored already, and returns the stored body.
update events e set body = coalesce(e.body, sqlc.arg(body))
where e.tenant = sqlc.arg(tenant) and e.id = sqlc.arg(id) returning e.body;

-- name: ResendEvent :one
-- Queues an event again, unless it is being sent. In a sandbox without an endpoint, it only counts that the
-- event is to be sent again, if a stream follows the sandbox: `cauri listen` sends it then. The fence
-- increases, so that an attempt whose lease has ended cannot undo this. A queued event without an attempt
-- keeps its due time, since it may wait for the answer of its transaction. Updates the counts of
-- endpoint_health, which are by state. Locks are taken as in delivery.sql: the event, then endpoint_health.
with found as (
  select e.id, e.state, coalesce(e.leased and coalesce(e.leased_until, e.due_at) > now(),
    false)::boolean as being_sent, (o.webhook_url is not null)::boolean as deliverable,
    coalesce(o.followed_until > now(), false)::boolean as followed,
    clock_time(c.stands_at, c.ahead, c.last_stamp) as now
  from events e
  join organizations o on o.tenant = e.tenant
  left join clocks c on c.tenant = e.tenant
  where e.tenant = sqlc.arg(tenant) and e.id = sqlc.arg(id)
  for update of e
), queued as (
  update events e
  set state = 'queued', fence = e.fence + 1, leased = false, leased_until = null, resent_after = e.attempts,
    resends = coalesce(e.resends, 0) + 1, delivered_at = null, due_at = case when e.state = 'queued'
      and e.attempts = 0 then e.due_at else found.now end
  from found
  where e.tenant = sqlc.arg(tenant) and e.id = found.id and found.deliverable and not found.being_sent
  returning e.id
), told as (
  update events e set resends = coalesce(e.resends, 0) + 1
  from found
  where e.tenant = sqlc.arg(tenant) and e.id = found.id and not found.deliverable and found.followed
), forgotten as (
  delete from unacknowledged_events u
  where u.tenant = sqlc.arg(tenant) and u.id = (select queued.id from queued) and u.operator || '' = ''
), counted as (
  update endpoint_health h set changed_at = now(),
    delivered = greatest(0, h.delivered - (found.state = 'delivered')::integer),
    failed = greatest(0, h.failed - (found.state = 'failed')::integer)
  from found, queued
  where h.tenant = sqlc.arg(tenant)
)
select (found.being_sent and found.deliverable)::boolean as being_sent,
  (found.deliverable or found.followed)::boolean as deliverable
from found;

-- name: GetWebhook :one
-- Where the events of a sandbox go, and what signs them. Events that wait are counted up to a bound.
select o.webhook_url, o.webhook_types, o.webhook_max_retries, o.webhook_initial_delay_ms, o.webhook_factor,
  o.webhook_max_delay_ms, o.secret_fingerprints, o.secret_since, o.previous_secret_until,
  o.older_secrets_until, now()::timestamptz as now, h.first_failed, h.first_failed_attempt, h.last_failed,
  h.last_failed_attempt, h.last_acked, h.last_acked_attempt, (
    select count(*) from (select from events e where e.tenant = sqlc.arg(tenant) and e.due_at is not null
      limit sqlc.arg(most_waiting)) waiting)::integer as waiting
from organizations o left join endpoint_health h on h.tenant = sqlc.arg(tenant)
where o.tenant = sqlc.arg(tenant);

-- name: EndpointHealth :one
-- How the deliveries of a sandbox's events go. The unacknowledged events of the last 24 hours are counted up
-- to a bound. newest is the one of them that was created last, and oldest_created_at is of the first.
with present as materialized (
  select (o.webhook_url is not null)::boolean as named, o.webhook_url, o.webhook_refusal,
    clock_time(c.stands_at, c.ahead, c.last_stamp) - interval '24 hours' as since
  from organizations o left join clocks c on c.tenant = o.tenant
  where o.tenant = sqlc.arg(tenant)
), recent as materialized (
  select u.id, u.attempt, u.created_at from present cross join lateral (
    select u.id, u.attempt, u.created_at from unacknowledged_events u
    where u.tenant = sqlc.arg(tenant) and u.operator = '' and u.created_at > present.since
    order by u.tenant desc, u.operator desc, u.created_at desc limit sqlc.arg(most)::integer) u
), newest as (
  select recent.id, recent.attempt, recent.created_at from recent
  order by recent.created_at desc, recent.id desc limit 1
)
select present.named, present.webhook_refusal, coalesce(h.failures, 0)::integer as failures,
  h.failing_since, h.probe_at,
  coalesce(h.delivered, 0)::bigint as delivered, coalesce(h.failed, 0)::bigint as failed, h.last_failure_at,
  h.last_failure, coalesce(h.acknowledged_url = present.webhook_url, false)::boolean as acknowledged,
  (select count(*) from recent)::integer as unacknowledged, newest.id as newest,
  coalesce(newest.attempt, 0)::integer as newest_attempt,
  coalesce(newest.created_at, present.since)::timestamptz as newest_created_at,
  coalesce((select min(recent.created_at) from recent), present.since)::timestamptz as oldest_created_at,
  coalesce(e.state = 'queued', false)::boolean as newest_waits, coalesce(a.error, '')::text as newest_error,
  coalesce(coalesce(a.real_started_at, a.started_at) < h.url_changed_at, false)::boolean as newest_former,
  h.url_changed_at
from present
left join endpoint_health h on h.tenant = sqlc.arg(tenant)
left join newest on true
left join lateral (select state from events
  where tenant = sqlc.arg(tenant) and id = newest.id limit 1) e on true
left join lateral (select error, started_at, real_started_at from delivery_attempts
  where tenant = sqlc.arg(tenant) and event_id = newest.id and attempt = newest.attempt limit 1) a on true;

-- name: UnacknowledgedCallbacks :many
-- How many callbacks of the last 24 hours are unacknowledged, of each operator up to a bound, and the newest
-- of them.
with present as materialized (
  select clock_time(c.stands_at, c.ahead, c.last_stamp) - interval '24 hours' as since
  from (select) one left join clocks c on c.tenant = sqlc.arg(tenant)
)
select u.operator, count(*)::integer as callbacks,
  (array_agg(u.id order by u.created_at desc, u.id desc))[1]::uuid as newest
from present cross join unnest(sqlc.arg(operators)::text[]) as asked (operator)
cross join lateral (
  select u.operator, u.id, u.created_at from unacknowledged_events u
  where u.tenant = sqlc.arg(tenant) and u.operator = asked.operator and u.created_at > present.since
  order by u.tenant desc, u.operator desc, u.created_at desc limit sqlc.arg(most)::integer) u
group by u.operator order by max(u.created_at) desc;

-- name: GetAttempts :many
-- Attempts of several events. One that was removed is missing.
select a.*
from (select unnest(sqlc.arg(ids)::uuid[]) as id, unnest(sqlc.arg(numbers)::integer[]) as number) given
cross join lateral (select * from delivery_attempts d
  where d.tenant = sqlc.arg(tenant) and d.event_id = given.id and d.attempt = given.number limit 1) a;
