-- Changes of a sandbox, which triggers note while a stream follows it: see the function note_change.

-- name: FollowSandbox :one
-- In the tenant scope. Has the changes of the sandbox noted for the next ten minutes, see follow_sandbox.
-- Returns false if the sandbox is gone.
select (follow_sandbox() is not null)::boolean;

-- name: ChangesFrom :one
-- Returns a transaction id. Runs after FollowSandbox: all database transactions that have not seen its mark
-- have smaller ids, so all changes from the returned id on are noted.
select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xact;

-- name: NextChanges :many
-- In the tenant scope. Returns the changes after a position, of database transactions before `below`: all of
-- these have ended. `known` is false if changes after the position may be missing. Returns at least one row:
-- without a change its kind is empty.
select span.below,
  (sqlc.arg(xact)::bigint <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint and exists (
    select from changes f
    where f.tenant = sqlc.arg(tenant) and (f.xact, f.seq) <= (sqlc.arg(xact)::bigint,
      sqlc.arg(seq)::bigint)))::boolean as known,
  coalesce(c.xact, 0)::bigint as xact, coalesce(c.seq, 0)::bigint as seq, coalesce(c.kind, '')::text as kind,
  c.id, c.attempt, c.currency
from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as below) span
left join lateral (
  select * from changes n
  where n.tenant = sqlc.arg(tenant) and (n.xact, n.seq) > (sqlc.arg(xact)::bigint, sqlc.arg(seq)::bigint)
    and n.xact < span.below
  order by n.tenant, n.xact, n.seq limit sqlc.arg(most)) c on true
order by c.xact, c.seq;

-- name: AgedChanges :many
-- Returns the sandboxes that have more than one old change: RemoveAgedChanges keeps one. The scan skips from
-- one sandbox to the next.
with recursive noted as (
  (select c.tenant from changes c order by c.tenant limit 1)
  union all
  select following.tenant from noted cross join lateral (
    select c.tenant from changes c where c.tenant > noted.tenant order by c.tenant limit 1) following
)
select noted.tenant from noted
where (select c.created_at from changes c where c.tenant = noted.tenant order by c.tenant, c.xact, c.seq
  limit 1 offset 1)
  < now() - make_interval(secs => sqlc.arg(age_ms)::float8 / 1000);

-- name: RemoveAgedChanges :execrows
-- Removes old changes from the start of a sandbox's changes, but keeps the last old one. A reader that
-- resumes from an earlier position then finds no change before this position, so it knows that some are
-- missing.
with first as (
  select c.xact, c.seq, c.created_at from changes c where c.tenant = sqlc.arg(tenant)
  order by c.tenant, c.xact, c.seq limit sqlc.arg(batch)
), kept as (
  select f.xact, f.seq from first f
  where f.created_at < now() - make_interval(secs => sqlc.arg(age_ms)::float8 / 1000)
  order by f.xact desc, f.seq desc limit 1
)
delete from changes c using kept
where c.tenant = sqlc.arg(tenant) and (c.xact, c.seq) < (kept.xact, kept.seq);
