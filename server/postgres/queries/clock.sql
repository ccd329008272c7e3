-- The clock of a sandbox, and its advance by a worker.

-- name: StartClock :exec
-- Gives the sandbox a clock, if it has none. See the function start_clock.
select start_clock();

-- name: LockClock :one
-- Locks the clock. Until the database transaction ends, nothing is recorded in the sandbox, and the clock is
-- not moved.
select clock_time(c.stands_at, c.ahead, c.last_stamp)::timestamptz as present, c.target, c.advance,
  c.last_target
from clocks c where c.tenant = sqlc.arg(tenant) for update;

-- name: ReadClock :one
-- Returns sandbox time, the numbers of rows that are due, and when the first row of each kind is due. Events
-- of a paused endpoint are due with its next probe. Callbacks of the operators' own APIs are never paused. A
-- row that a worker is sending counts as due.
with clock as materialized (
  -- A time that is computed below would be compared after row-level security, without an index.
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
    + (select count(*) from native_callbacks n
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
  select n.due_at from native_callbacks n where n.tenant = sqlc.arg(tenant) and n.due_at is not null
  order by n.due_at limit 1) callback on true;

-- name: SetClockTarget :one
-- Begins an advance. LockClock must have found none under way.
update clocks c set target = sqlc.arg(target)::timestamptz, advance = c.advance + 1, leased_until = null,
  settled = 0, expired = 0, delivered = 0, failed_attempts = 0
where c.tenant = sqlc.arg(tenant)
returning c.advance;

-- name: AdvanceState :one
-- Returns the state of an advance. It is under way, or it has reached its target and has counts in `ended`.
-- Otherwise a suspension of the sandbox stops it.
select clock_time(c.stands_at, c.ahead, c.last_stamp)::timestamptz as present,
  (c.target is not null and c.advance = sqlc.arg(advance)::bigint and not o.suspended)::boolean as under_way,
  c.ended
from clocks c join organizations o on o.tenant = c.tenant where c.tenant = sqlc.arg(tenant);

-- name: ClocksToAdvance :many
-- Returns clocks that are to be advanced and are not leased. Clocks that were never leased come first, then
-- those whose lease ended first. The rest of the order is random, so that workers share them.
select c.tenant, (p.tenant is not null)::boolean as sweep_failed from clocks c
left join sweep_failures p on p.tenant = c.tenant and p.sweep = 'clock'
where c.target is not null and (c.leased_until is null or c.leased_until <= now())
  and (p.retry_at is null or p.retry_at <= now())
order by c.leased_until nulls first, random()
limit sqlc.arg(batch)::integer;

-- name: LeaseClock :one
-- Leases a clock and stops it at its present time. All later records have later stamps.
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
-- Returns a row for each bound: when the rows with smaller ids are due next. A leased row is not due. It sets
-- `held`, since its worker may have died, or may have leased it before the advance. A lease from before the
-- sandbox had a clock ends at due_at. A collection that an operator has accepted is due when it expires,
-- since the operator does not know of this clock. Returns nothing if the lease of the clock was lost.
select bound.ordinal::integer as ordinal, clock.present, clock.suspended, clock.probe_at,
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
cross join lateral unnest(sqlc.arg(bounds)::uuid[]) with ordinality as bound(id, ordinal)
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
  select n.due_at from native_callbacks n
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
  select exists (select from native_callbacks n
    where n.tenant = sqlc.arg(tenant) and n.due_at <= clock.present and n.id < bound.id
      and n.leased_until > now()) as held) callback_lease
order by bound.ordinal;

-- name: MoveClock :one
-- Moves a clock forward to a moment, and returns its stamp. Earlier records have no later stamp, and all
-- later records have later ones.
update clocks c
set stands_at = greatest(clock_time(c.stands_at, c.ahead, c.last_stamp), sqlc.arg(moment)::timestamptz),
  last_stamp = greatest(clock_time(c.stands_at, c.ahead, c.last_stamp), sqlc.arg(moment)::timestamptz),
  settled = c.settled + sqlc.arg(settled)::bigint, expired = c.expired + sqlc.arg(expired)::bigint,
  delivered = c.delivered + sqlc.arg(delivered)::bigint,
  failed_attempts = c.failed_attempts + sqlc.arg(failed_attempts)::bigint
where c.tenant = sqlc.arg(tenant) and c.fence = sqlc.arg(fence) and c.target is not null
returning c.last_stamp as present;

-- name: EndAdvance :execrows
-- Ends an advance and its lease. In mode Real the clock runs again from its present time, in mode Manual it
-- stands. Only an advance that has reached its target leaves counts in `ended`. The difference of the two
-- times is in seconds, since days would be calendar days.
update clocks c set target = null, leased_until = null,
  last_target = case when sqlc.arg(reached)::boolean then c.target else c.last_target end,
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
