-- Counts of the faults that a sandbox declares: how often each applied, and to which references.

-- name: HoldFaultCounts :many
-- Locks and returns the counts of faults, in one order, so that there is no deadlock. The counts of a changed
-- entry start from 0.
insert into fault_counts as c (tenant, name, digest)
select g.tenant, g.name, g.digest
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(names)::text[]) as name,
  unnest(sqlc.arg(digests)::bytea[]) as digest) g
order by g.tenant, g.name
on conflict (tenant, name) do update set digest = excluded.digest,
  acts = case when c.digest = excluded.digest then c.acts else 0 end,
  draws = case when c.digest = excluded.digest then c.draws else 0 end,
  last_at = case when c.digest = excluded.digest then c.last_at end
returning c.tenant, c.name, c.acts, c.draws;

-- name: ActedFaults :many
-- Returns those of the given faults and references for which the fault applied before.
select a.tenant, a.name, a.reference from fault_acts a
join (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(names)::text[]) as name,
  unnest(sqlc.arg(refs)::text[]) as reference) g
  on a.tenant = g.tenant and a.name = g.name and a.reference = g.reference
    and a.acted_at > now() - interval '30 days';

-- name: CountFaults :exec
-- Adds to the counts that HoldFaultCounts has locked.
update fault_counts c set acts = c.acts + g.acts, draws = c.draws + g.draws,
  last_at = case when g.acts > 0 then greatest(c.last_at, g.last_at) else c.last_at end
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(names)::text[]) as name,
  unnest(sqlc.arg(acts)::bigint[]) as acts, unnest(sqlc.arg(draws)::bigint[]) as draws,
  unnest(sqlc.arg(last_at)::timestamptz[]) as last_at) g
where c.tenant = g.tenant and c.name = g.name;

-- name: NoteFaultActs :exec
-- Records that faults have applied to references, for faults that apply once for each reference.
insert into fault_acts (tenant, name, reference, acted_at)
select g.tenant, g.name, g.reference, now()
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(names)::text[]) as name,
  unnest(sqlc.arg(refs)::text[]) as reference) g
order by g.tenant, g.name, g.reference
on conflict do nothing;

-- name: CountFaultRequest :one
-- Counts a request with a reference, and returns how many there were, including this one.
insert into fault_requests as r (tenant, reference) select o.tenant, sqlc.arg(reference) from organizations o
where o.tenant = sqlc.arg(tenant)
on conflict (tenant, reference) do update
set requests = case when r.counted_at > now() - interval '30 days' then r.requests + 1 else 1 end
returning r.requests;

-- name: DeclaredFaults :many
-- Returns the faults of the resources, and those that were set and have not ended, the newest first.
select o.tenant, o.faults, sandbox_time(o.tenant)::timestamptz as now, s.numbers::bigint[] as numbers,
  s.entries::text[] as entries
from organizations o
cross join lateral (
  select array_agg(s.number order by s.number desc) as numbers,
    array_agg(s.entry::text order by s.number desc) as entries
  from set_faults s where s.tenant = o.tenant and (s.ends_at is null or s.ends_at > now())) s
where o.tenant = any(sqlc.arg(tenants)::bigint[]);

-- name: DecidedEventFaults :many
select f.* from event_faults f
join (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) g
  on f.tenant = g.tenant and f.event_id = g.id;

-- name: AwaitingTenants :many
-- Returns those of the given sandboxes in which an event waits for the next one to be sent.
select distinct f.tenant from event_faults f
where f.tenant = any(sqlc.arg(tenants)::bigint[]) and f.awaits_next;

-- name: DecideEventFaults :exec
insert into event_faults as f (tenant, event_id, attempt, name, not_before, awaits_next)
select unnest(sqlc.arg(tenants)::bigint[]), unnest(sqlc.arg(ids)::uuid[]),
  unnest(sqlc.arg(attempts)::integer[]), unnest(sqlc.arg(names)::text[]),
  unnest(sqlc.arg(not_before)::timestamptz[]), unnest(sqlc.arg(awaits_next)::boolean[])
on conflict (tenant, event_id) do update
set attempt = excluded.attempt, name = excluded.name, not_before = excluded.not_before,
  awaits_next = excluded.awaits_next, sent = 0;

-- name: EndWaits :exec
-- Records that events do not wait for the next one any more, since a worker leases them.
update event_faults f set awaits_next = false
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) g
where f.tenant = g.tenant and f.event_id = g.id;

-- name: PostponeEvents :exec
-- Makes rows due later, and ends their leases.
update events e set fence = e.fence + 1, leased = false, leased_until = null, due_at = g.due_at
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
  unnest(sqlc.arg(due_at)::timestamptz[]) as due_at) g
where e.tenant = g.tenant and e.id = g.id;

-- name: SendEventAgain :execrows
-- Queues a sent event once more for the same attempt. Changes nothing if the lease was lost.
with sent as (
  update events e set fence = e.fence + 1, leased = false, leased_until = null,
    due_at = sandbox_time(e.tenant) + make_interval(secs => sqlc.arg(spacing_ms)::float8 / 1000)
  where e.tenant = sqlc.arg(tenant) and e.id = sqlc.arg(id) and e.fence = sqlc.arg(fence)
  returning e.tenant, e.id
)
update event_faults f set sent = f.sent + 1 from sent where f.tenant = sent.tenant and f.event_id = sent.id;

-- name: DecideCallbackFaults :exec
-- Records the faults that apply to callbacks, in the callbacks and in their transactions.
with given as (
  select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
    unnest(sqlc.arg(names)::text[]) as name
), decided as (
  update native_callbacks n set fault = g.name from given g where n.tenant = g.tenant and n.id = g.id
  returning n.tenant, n.transaction_id, n.fault
), acted as (
  select d.tenant, d.transaction_id, array_agg(distinct d.fault) as names from decided d
  group by d.tenant, d.transaction_id
)
update transactions t set faults = t.faults || array(
  select a.name from unnest(acted.names) a (name) where t.faults is null or a.name <> all(t.faults))
from acted
where t.tenant = acted.tenant and t.id = acted.transaction_id
  and not (acted.names <@ coalesce(t.faults, '{}'));

-- name: PostponeCallbacks :exec
-- Makes rows due later, and ends their leases.
update native_callbacks n set fence = n.fence + 1, leased_until = null, due_at = g.due_at
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
  unnest(sqlc.arg(due_at)::timestamptz[]) as due_at) g
where n.tenant = g.tenant and n.id = g.id;

-- name: SendCallbackAgain :execrows
-- Queues a sent callback once more for the same attempt. Changes nothing if the lease was lost.
update native_callbacks n set fence = n.fence + 1, leased_until = null, times_sent = n.times_sent + 1
where n.tenant = sqlc.arg(tenant) and n.id = sqlc.arg(id) and n.fence = sqlc.arg(fence);

-- name: FirstCallback :one
-- Returns whether every callback of a transaction was sent or will never be sent. A pending transaction has
-- no callback yet.
select t.status, coalesce((
  select bool_and(n.attempts > 0 or n.times_sent > 0 or n.state <> 'queued') from native_callbacks n
  where n.tenant = sqlc.arg(tenant) and n.id between first_callback_id(sqlc.arg(id))
    and last_callback_id(sqlc.arg(id)) and n.transaction_id = sqlc.arg(id)),
    t.status <> 'PENDING')::boolean as done
from transactions t
where t.tenant = sqlc.arg(tenant) and t.id = sqlc.arg(id);

-- name: NoteFaults :exec
-- Adds the faults that applied to events to their transactions, each fault once, and removes the decisions.
with given as (
  select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
    unnest(sqlc.arg(names)::text[]) as name
), ended as (
  delete from event_faults f using given g where f.tenant = g.tenant and f.event_id = g.id
)
update transactions t set faults = array_append(t.faults, g.name) from given g
where t.tenant = g.tenant and t.id = g.id and (t.faults is null or g.name <> all(t.faults));

-- name: NoteCopies :exec
-- Keeps the answers to the copies of attempts that were sent at the same moment.
update delivery_attempts a set copies = g.copies::json
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
  unnest(sqlc.arg(attempts)::integer[]) as attempt, unnest(sqlc.arg(copies)::text[]) as copies) g
where a.tenant = g.tenant and a.event_id = g.id and a.attempt = g.attempt;

-- name: ReleaseAwaiting :exec
-- Makes the events due that waited for one of the given events of their sandbox. The given events were sent.
with awaiting as (
  select e.tenant, e.id, f.not_before
  from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) g
  join event_faults f on f.tenant = g.tenant and f.awaits_next and f.event_id < g.id
  join events e on e.tenant = f.tenant and e.id = f.event_id and e.due_at is not null
  order by e.tenant, e.id
  for update of e skip locked
), released as (
  update event_faults f set awaits_next = false from awaiting w
  where f.tenant = w.tenant and f.event_id = w.id
)
update events e set due_at = greatest(w.not_before, sandbox_time(w.tenant)) from awaiting w
where e.tenant = w.tenant and e.id = w.id;

-- name: ChangeFaults :one
-- In the tenant scope. See change_faults.
select c.result::text as result, c.wait_seconds::integer as wait_seconds
from change_faults(sqlc.narg(name), sqlc.narg(entry)::json, sqlc.arg(ends_ms), sqlc.arg(set_by)) c;

-- name: SetFaults :many
-- Returns the faults that were set and have not ended, the newest first.
select number, name, entry, set_by, set_at, ends_at, now()::timestamptz as present from set_faults
where tenant = sqlc.arg(tenant) and (ends_at is null or ends_at > now())
order by number desc;

-- name: FaultCounts :many
select name, digest, acts, last_at from fault_counts where tenant = sqlc.arg(tenant) and acts > 0
order by name;

-- name: RequestInFaults :one
-- Returns inputs of faults for a request: sandbox time, and those of the given faults that applied to its
-- reference before.
select sandbox_time(sqlc.arg(tenant))::timestamptz as now,
  array(select a.name from fault_acts a
    where a.tenant = sqlc.arg(tenant) and a.name = any(sqlc.arg(names)::text[])
      and a.reference = sqlc.arg(reference)
      and a.acted_at > now() - interval '30 days'
    order by a.name)::text[] as acted;

-- name: SetTransactionFaults :exec
update transactions set faults = sqlc.arg(faults)::text[]
where tenant = sqlc.arg(tenant) and id = (select {{recordingID}});

-- name: AddTransactionFault :exec
update transactions set faults = array_append(faults, sqlc.arg(fault)::text)
where tenant = sqlc.arg(tenant) and id = sqlc.arg(id) and faults @> array[sqlc.arg(fault)::text] is not true;

-- name: UsedUpFaults :many
-- Returns those of the given faults that have applied as often as `first` allows.
select c.name from fault_counts c
join (select unnest(sqlc.arg(names)::text[]) as name, unnest(sqlc.arg(firsts)::bigint[]) as first) g
  on g.name = c.name
where c.tenant = sqlc.arg(tenant) and c.acts >= g.first;

-- name: FirstAttempt :one
-- Returns whether the event of a transaction was sent or will never be sent. A pending transaction has no
-- event.
select t.status, coalesce(e.attempts > 0 or e.state <> 'queued', false)::boolean as done
from transactions t left join events e on e.tenant = t.tenant and e.id = t.id
where t.tenant = sqlc.arg(tenant) and t.id = sqlc.arg(id);
