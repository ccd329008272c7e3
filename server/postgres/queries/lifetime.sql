-- The life of a sandbox: emptied, retained, and what its status counts.

-- name: NewTenant :one
select nextval('tenant_numbers')::bigint;

-- A reset moves what is configuration to a new tenant number, row by row as it stands, and leaves the rest to
-- the old one.

-- name: MoveOrganization :exec
update organizations set tenant = sqlc.arg(tenant), reset = sqlc.arg(reset) where tenant = sqlc.arg(former);

-- name: MoveEnvironments :exec
update environments set tenant = sqlc.arg(tenant) where tenant = sqlc.arg(former);

-- name: MoveStores :exec
update stores set tenant = sqlc.arg(tenant) where tenant = sqlc.arg(former);

-- name: MoveKeys :exec
update api_keys set tenant = sqlc.arg(tenant) where tenant = sqlc.arg(former);

-- name: MoveOperatorCredentials :exec
update operator_credentials set tenant = sqlc.arg(tenant) where tenant = sqlc.arg(former);

-- name: CopySIMs :exec
-- Copied, and not moved: payments of the old tenant that are being booked hold locks on these rows, and
-- nobody waits for them. Those that were made through the API stay behind.
with opened as (
  insert into sims (tenant, sim_id, generation, name, msisdn, operator, country, currency, blocked, behavior,
    balance, opening, movements)
  select sqlc.arg(tenant)::bigint, s.sim_id, s.generation, s.name, s.msisdn, s.operator, s.country,
    s.currency, s.blocked, s.behavior, s.opening, s.opening, 1
  from sims s where s.tenant = sqlc.arg(former) and s.source = 'resource'
  returning sim_id, balance
)
insert into adjustments (tenant, sim_id, delta, balance_after, number)
select sqlc.arg(tenant)::bigint, opened.sim_id, opened.balance, opened.balance, 1 from opened;

-- name: PutClock :exec
-- A manual clock, at the beginning of a sandbox and after each reset, or where it is missing.
insert into clocks (tenant, stands_at) values (sqlc.arg(tenant), coalesce(sqlc.narg(start), now()))
on conflict do nothing;

-- name: StopClock :execrows
-- Makes a clock a manual one, which stands at the sandbox's time. One that is being advanced is left alone.
insert into clocks as c (tenant, stands_at) select o.tenant, now() from organizations o
where o.tenant = sqlc.arg(tenant)
on conflict (tenant) do update set stands_at = clock_time(c.stands_at, c.ahead, c.last_stamp)
where c.target is null;

-- name: RunClock :execrows
-- Makes a clock a real one, which runs on from the sandbox's time. One that is being advanced is left alone.
-- The difference is in seconds: days would be those of a calendar.
insert into clocks as c (tenant) select o.tenant from organizations o where o.tenant = sqlc.arg(tenant)
on conflict (tenant) do update set stands_at = null,
  ahead = make_interval(secs => extract(epoch
    from clock_time(c.stands_at, c.ahead, c.last_stamp) - now())::float8) where c.target is null;

-- name: RetireTenant :exec
-- Takes the place of BumpVersion: readers of the configuration learn of both tenants at one moment.
with bumped as (
  update config_version set version = config_version.version + 1 returning config_version.version
), present as (
  update organizations o set version = bumped.version from bumped where o.tenant = sqlc.arg(tenant)
  returning o.resource_uid, o.version
)
insert into retired_tenants (tenant, resource_uid, version)
select sqlc.arg(former)::bigint, present.resource_uid, present.version from present;

-- name: ResetByAPI :one
-- The reset that a sandbox's own API key asks for: the new tenant number, 0 for too many resets, and -1 where
-- there is nothing that it may reset. See the function.
select coalesce(reset_sandbox(), -1)::bigint;

-- name: RetainOrganization :exec
-- Its rows stay and nothing happens to them any more. No secret stays with them.
update organizations
set retained_at = now(), suspended = true, signing_secret = null, previous_secret = null,
  previous_secret_until = null, older_secrets = '{}', older_secrets_until = '{}'
where tenant = sqlc.arg(tenant);

-- name: RetainedOrganizations :many
select org_id, resource_uid, namespace, name, retained_at::timestamptz as retained_at from organizations
where retained_at < now() - make_interval(secs => sqlc.arg(older_than_ms)::float8 / 1000)
order by retained_at;

-- name: CountTransactions :one
-- Transactions up to the one in transaction_counts are not counted again. The pending ones are counted in the
-- indexes of what is due, which hold no others.
with base as (
  select b.upto, b.total from transaction_counts b where b.tenant = sqlc.arg(tenant)
)
select coalesce((select base.total from base), 0)::bigint as counted,
  (select count(*) from transactions t where t.tenant = sqlc.arg(tenant)
    and t.id > coalesce((select base.upto from base),
      '00000000-0000-0000-0000-000000000000'))::bigint as since,
  ((select count(*) from transactions t
    where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and not t.passthrough)
    + (select count(*) from transactions t
      where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and t.passthrough))::bigint as pending;

-- name: RecordedUntil :one
-- A time before which no id is recorded any more. With a clock ids rise in the order of recording. Without
-- one the id is made before, and is recorded within later_ms.
select (case when isfinite(c.last_stamp) then c.last_stamp
  else now() - make_interval(secs => sqlc.arg(later_ms)::float8 / 1000) end)::timestamptz
from (select) one left join clocks c on c.tenant = sqlc.arg(tenant);

-- name: AdvanceCount :exec
-- Counts what came between the transaction that is counted up to and another one. Of two that do so at once
-- one writes.
with base as (
  select b.upto, b.total from transaction_counts b where b.tenant = sqlc.arg(tenant)
)
insert into transaction_counts as c (tenant, upto, total)
select o.tenant, sqlc.arg(upto), coalesce((select base.total from base), 0) + (
  select count(*) from transactions t where t.tenant = sqlc.arg(tenant) and t.id <= sqlc.arg(upto)
    and t.id > coalesce((select base.upto from base), '00000000-0000-0000-0000-000000000000'))
from organizations o where o.tenant = sqlc.arg(tenant)
on conflict (tenant) do update set upto = excluded.upto, total = excluded.total
  where c.upto < excluded.upto and c.upto = (select base.upto from base);

-- name: EndpointHealth :one
select failures, failing_since, probe_at, delivered, failed, last_failure_at, last_failure
from endpoint_health where tenant = sqlc.arg(tenant);

-- name: ShownClock :one
-- Sandbox time, how far it is ahead of the time of the database, and where a manual clock began.
select clock_time(stands_at, ahead, last_stamp)::timestamptz as present,
  extract(epoch
    from case when stands_at is null then ahead else stands_at - now() end)::bigint as ahead_seconds, began_at
from clocks where tenant = sqlc.arg(tenant);

-- name: NoteActivity :exec
-- In one order, since several processes do this at the same time.
insert into activity (tenant, changed_at)
select o.tenant, now() from organizations o where o.tenant = any(sqlc.arg(tenants)::bigint[])
order by o.tenant
on conflict (tenant) do update set changed_at = excluded.changed_at;

-- name: PurgeTransactionCounts :execrows
delete from transaction_counts where tenant = sqlc.arg(tenant);
