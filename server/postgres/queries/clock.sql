-- The clock of a sandbox, and its advance by a worker.

-- name: StartClock :exec
-- Gives the sandbox a clock of its own, if it has none. See the function.
select start_clock();

-- name: LockClock :one
-- Nothing is recorded, and the clock is not moved, until the database transaction ends.
select clock_time(c.stands_at, c.ahead, c.last_stamp)::timestamptz as present, c.target, c.advance
from clocks c where c.tenant = sqlc.arg(tenant) for update;

-- name: ReadClock :one
-- Sandbox time, what is due by then, and the earliest moment at which something is due. A paused endpoint's
-- events are due with its probe; callbacks of the operators' own APIs know no pause. What a worker is sending
-- at this moment is due.
with clock as materialized (
  -- A time computed below would be compared after row-level security, and not by an index.
  select coalesce(clock_time(c.stands_at, c.ahead, c.last_stamp), now())::timestamptz as present, c.target,
    h.probe_at
  from organizations o
  left join clocks c on c.tenant = o.tenant
  left join endpoint_health h on h.tenant = o.tenant and o.webhook_url is not null
  where o.tenant = sqlc.arg(tenant)
)
select clock.present, clock.target, clock.probe_at, transaction.due_at as settle_at,
  forward.due_at as forward_at, event.due_at as deliver_at, callback.due_at as call_back_at,
  ((select count(*) from transactions t
    where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and not t.passthrough
      and t.due_at <= clock.present)
    + (select count(*) from transactions t
      where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and t.passthrough
      and t.due_at <= clock.present))::bigint as transactions,
  ((select count(*) from events e where e.tenant = sqlc.arg(tenant) and e.due_at <= clock.present
      and (clock.probe_at is null or clock.probe_at <= clock.present))
    + (select count(*) from native_requests n
      where n.tenant = sqlc.arg(tenant) and n.due_at <= clock.present))::bigint as events
from clock
left join lateral (
  select t.due_at from transactions t
  where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and not t.passthrough
  order by t.due_at limit 1) transaction on true
left join lateral (
  select t.due_at from transactions t
  where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and t.passthrough
  order by t.due_at limit 1) forward on true
left join lateral (
  select e.due_at from events e where e.tenant = sqlc.arg(tenant) and e.due_at is not null
  order by e.due_at limit 1) event on true
left join lateral (
  select n.due_at from native_requests n where n.tenant = sqlc.arg(tenant) and n.due_at is not null
  order by n.due_at limit 1) callback on true;

-- name: SetClockTarget :one
-- Begins an advance. LockClock found none under way.
update clocks c set target = sqlc.arg(target)::timestamptz, advance = c.advance + 1, leased_until = null,
  settled = 0, expired = 0, delivered = 0, failed_attempts = 0
where c.tenant = sqlc.arg(tenant)
returning c.advance;

-- name: AdvanceState :one
-- What has become of an advance: it is under way, or it reached its target and has counts, or neither, and a
-- suspension stops it.
select clock_time(c.stands_at, c.ahead, c.last_stamp)::timestamptz as present,
  (c.target is not null and c.advance = sqlc.arg(advance)::bigint and not o.suspended)::boolean as under_way,
  c.ended
from clocks c join organizations o on o.tenant = c.tenant where c.tenant = sqlc.arg(tenant);

-- name: ClocksToAdvance :many
-- First those that nobody has advanced yet, then those that were released longest ago; beyond that in random
-- order, so that workers share them.
select c.tenant, (p.tenant is not null)::boolean as sweep_failed from clocks c
left join sweep_failures p on p.tenant = c.tenant and p.sweep = 'clock'
where c.target is not null and (c.leased_until is null or c.leased_until <= now())
  and (p.retry_at is null or p.retry_at <= now())
order by c.leased_until nulls first, random()
limit sqlc.arg(batch)::integer;

-- name: LeaseClock :one
-- The clock stands from now on. What is recorded from now on has a later stamp.
update clocks c
set fence = c.fence + 1, leased_until = now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000),
  stands_at = clock_time(c.stands_at, c.ahead, c.last_stamp),
  last_stamp = clock_time(c.stands_at, c.ahead, c.last_stamp)
where c.tenant = sqlc.arg(tenant) and c.target is not null
  and (c.leased_until is null or c.leased_until <= now())
returning c.fence, c.target::timestamptz as target, c.last_stamp as present;

-- name: RenewClockLease :execrows
update clocks c set leased_until = now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000)
where c.tenant = sqlc.arg(tenant) and c.fence = sqlc.arg(fence) and c.target is not null;

-- name: ReleaseClock :exec
update clocks c set leased_until = now(),
  settled = c.settled + sqlc.arg(settled)::bigint, expired = c.expired + sqlc.arg(expired)::bigint,
  delivered = c.delivered + sqlc.arg(delivered)::bigint,
  failed_attempts = c.failed_attempts + sqlc.arg(failed_attempts)::bigint
where c.tenant = sqlc.arg(tenant) and c.fence = sqlc.arg(fence);

-- name: DueUnderClock :many
-- For each bound, when what was recorded before is due next: its ids are smaller. What a worker has leased
-- that died, or that began before the advance, is held, not due. A lease of before the sandbox had a clock
-- ends with due_at. What an operator outside has accepted is due when it expires: the operator does not know
-- of this clock. Nothing is returned if the lease was lost.
select bound.place::integer as place, clock.present, clock.suspended, clock.probe_at,
  transaction.due_at as settle_at, forward.due_at as forward_at, forward.forwarded_at, forward.expires_at,
  event.due_at as deliver_at, callback.due_at as call_back_at,
  (event_lease.held or forward_lease.held or callback_lease.held)::boolean as held
from (
  select clock_time(c.stands_at, c.ahead, c.last_stamp)::timestamptz as present, o.suspended, h.probe_at
  from clocks c
  join organizations o on o.tenant = c.tenant
  left join endpoint_health h on h.tenant = c.tenant and o.webhook_url is not null
  where c.tenant = sqlc.arg(tenant) and c.fence = sqlc.arg(fence) and c.target is not null
) clock
cross join lateral unnest(sqlc.arg(bounds)::uuid[]) with ordinality as bound(id, place)
left join lateral (
  select t.due_at from transactions t
  where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and not t.passthrough and t.id < bound.id
  order by t.due_at limit 1) transaction on true
left join lateral (
  select t.due_at, t.forwarded_at, t.expires_at from transactions t
  where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and t.passthrough and t.id < bound.id
    and (t.leased_until is null or t.leased_until <= now())
  order by case when t.forwarded_at is null then t.due_at else t.expires_at end limit 1) forward on true
left join lateral (
  select e.due_at from events e
  where e.tenant = sqlc.arg(tenant) and e.due_at is not null and e.id < bound.id
    and (e.leased_until is null or e.leased_until <= now())
  order by e.due_at limit 1) event on true
left join lateral (
  select n.due_at from native_requests n
  where n.tenant = sqlc.arg(tenant) and n.due_at is not null and n.id < bound.id
    and (n.leased_until is null or n.leased_until <= now())
  order by n.due_at limit 1) callback on true
cross join lateral (
  select exists (select from events e
    where e.tenant = sqlc.arg(tenant) and e.due_at <= greatest(clock.present, now() + interval '1 minute')
      and e.id < bound.id
      and (e.leased_until > now() or e.leased and e.leased_until is null
        and e.due_at > now())) as held) event_lease
cross join lateral (
  select exists (select from transactions t
    where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and t.passthrough and t.due_at <= clock.present
      and t.id < bound.id
      and t.leased_until > now()) as held) forward_lease
cross join lateral (
  select exists (select from native_requests n
    where n.tenant = sqlc.arg(tenant) and n.due_at <= clock.present and n.id < bound.id
      and n.leased_until > now()) as held) callback_lease
order by bound.place;

-- name: MoveClock :one
-- What was recorded before has a stamp that is not after the one that is returned, and what is recorded later
-- has a later one.
update clocks c
set stands_at = greatest(clock_time(c.stands_at, c.ahead, c.last_stamp), sqlc.arg(moment)::timestamptz),
  last_stamp = greatest(clock_time(c.stands_at, c.ahead, c.last_stamp), sqlc.arg(moment)::timestamptz),
  settled = c.settled + sqlc.arg(settled)::bigint, expired = c.expired + sqlc.arg(expired)::bigint,
  delivered = c.delivered + sqlc.arg(delivered)::bigint,
  failed_attempts = c.failed_attempts + sqlc.arg(failed_attempts)::bigint
where c.tenant = sqlc.arg(tenant) and c.fence = sqlc.arg(fence) and c.target is not null
returning c.last_stamp as present;

-- name: EndAdvance :execrows
-- A real clock runs on from where it stands, a manual one stands. An advance that was stopped leaves no
-- counts behind. The difference of two times has to be seconds: days would be those of a calendar.
update clocks c set target = null, leased_until = null,
  stands_at = case when o.clock_mode = 'Manual' then clock_time(c.stands_at, c.ahead, c.last_stamp) end,
  ahead = make_interval(secs => extract(epoch
    from clock_time(c.stands_at, c.ahead, c.last_stamp) - now())::float8),
  ended = case when sqlc.arg(reached)::boolean
    then (array[c.advance, c.settled + sqlc.arg(settled)::bigint, c.expired + sqlc.arg(expired)::bigint,
      c.delivered + sqlc.arg(delivered)::bigint, c.failed_attempts + sqlc.arg(failed_attempts)::bigint]
        || c.ended)[1:80]
    else c.ended end
from organizations o
where c.tenant = sqlc.arg(tenant) and c.fence = sqlc.arg(fence) and c.target is not null
  and o.tenant = c.tenant;
