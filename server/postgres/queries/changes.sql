-- Changes of a sandbox, which triggers note while somebody listens: see the function note_change.

-- name: FollowSandbox :one
-- In the tenant scope. Whether the sandbox is there, whose changes are noted for the next ten minutes.
select (follow_sandbox() is not null)::boolean;

-- name: ChangesFrom :one
-- From here on all changes are known to who has marked the sandbox as watched before: whoever has not seen
-- the mark has an id before it.
select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xact;

-- name: NextChanges :many
-- In the tenant scope. Those after a place, as far as no database transaction before them runs any more, with
-- the place up to which that is (below), and whether what came before the place is still known. One row at
-- least: without a change its kind is empty.
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
-- The sandboxes that have old changes beside the one that stays. The scan skips from one sandbox to the next.
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
-- Of the first changes of a sandbox those that are old, but the last of them: whoever reads on from an
-- earlier place finds none before it, and so knows that some are missing.
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
