-- Counts of the faults that a sandbox declares: how often each acted, and for which references.

-- name: HoldFaultCounts :many
-- Locks the counts of faults in one order, so that nobody waits in a circle. Those of an entry that changed begin anew.
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
-- Of these faults and references, those for which the fault acted already.
select a.tenant, a.name, a.reference from fault_acts a
join (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(names)::text[]) as name,
  unnest(sqlc.arg(refs)::text[]) as reference) g
  on a.tenant = g.tenant and a.name = g.name and a.reference = g.reference;

-- name: CountFaults :exec
-- Counts what acted and what was drawn, after HoldFaultCounts.
update fault_counts c set acts = c.acts + g.acts, draws = c.draws + g.draws,
  last_at = case when g.acts > 0 then greatest(c.last_at, g.last_at) else c.last_at end
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(names)::text[]) as name,
  unnest(sqlc.arg(acts)::bigint[]) as acts, unnest(sqlc.arg(draws)::bigint[]) as draws,
  unnest(sqlc.arg(last_at)::timestamptz[]) as last_at) g
where c.tenant = g.tenant and c.name = g.name;

-- name: NoteFaultActs :exec
-- A fault that acts once for a reference has acted for these.
insert into fault_acts (tenant, name, reference)
select g.tenant, g.name, g.reference
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(names)::text[]) as name,
  unnest(sqlc.arg(refs)::text[]) as reference) g
order by g.tenant, g.name, g.reference
on conflict do nothing;

-- name: CountFaultRequest :one
-- How often a request with this reference came, with the present one.
insert into fault_requests as r (tenant, reference) values (sqlc.arg(tenant), sqlc.arg(reference))
on conflict (tenant, reference) do update set requests = r.requests + 1
returning r.requests;

-- name: FaultCounts :many
select name, digest, acts, last_at from fault_counts where tenant = sqlc.arg(tenant) and acts > 0 order by name;
