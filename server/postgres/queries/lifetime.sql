-- The life of a sandbox: reset, retention, and the counts in its status.

-- name: NewTenant :one
select nextval('tenant_numbers')::bigint;

-- A reset gives the rows of the configuration a new tenant number. All other rows keep the old one.

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
-- Copies SIMs and does not move them: payments of the old tenant may hold locks on these rows, and a reset
-- does not wait for them. SIMs that were created through the API are not copied.
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
-- Adds a manual clock, for a new sandbox, after each reset, or if it is missing.
insert into clocks (tenant, stands_at) values (sqlc.arg(tenant), coalesce(sqlc.narg(start), now()))
on conflict do nothing;

-- name: StopClock :execrows
-- Makes a clock manual: it stands at the present sandbox time. Changes no row while the clock is being
-- advanced.
insert into clocks as c (tenant, stands_at) select o.tenant, now() from organizations o
where o.tenant = sqlc.arg(tenant)
on conflict (tenant) do update set stands_at = clock_time(c.stands_at, c.ahead, c.last_stamp)
where c.target is null;

-- name: RunClock :execrows
-- Makes a clock real: it runs again from the present sandbox time. Changes no row while the clock is being
-- advanced. The difference is in seconds, since days would be calendar days.
insert into clocks as c (tenant) select o.tenant from organizations o where o.tenant = sqlc.arg(tenant)
on conflict (tenant) do update set stands_at = null,
  ahead = make_interval(secs => extract(epoch
    from clock_time(c.stands_at, c.ahead, c.last_stamp) - now())::float8) where c.target is null;

-- name: RetireTenant :exec
-- Retires the former tenant of a sandbox. Replaces BumpVersion, so that readers of the configuration learn of
-- both tenants with the same version.
with bumped as (
  update config_version set version = config_version.version + 1 returning config_version.version
), organization as (
  update organizations o set version = bumped.version from bumped where o.tenant = sqlc.arg(tenant)
  returning o.resource_uid, o.version
)
insert into retired_tenants (tenant, resource_uid, version)
select sqlc.arg(former)::bigint, organization.resource_uid, organization.version from organization;

-- name: ResetByAPI :one
-- Resets a sandbox for its own API key, see reset_sandbox. Returns the new tenant number, 0 for too many
-- resets, and -1 if the key may not reset the sandbox.
select coalesce(reset_sandbox(), -1)::bigint;

-- name: RetainOrganization :exec
-- Retains a sandbox: its rows stay, and nothing changes them any more. Removes its secrets.
update organizations
set retained_at = now(), suspended = true, signing_secret = null, previous_secret = null,
  previous_secret_until = null, older_secrets = '{}', older_secrets_until = '{}', secret_fingerprints = '{}'
where tenant = sqlc.arg(tenant);

-- name: RetainedOrganizations :many
select org_id, resource_uid, namespace, name, retained_at::timestamptz as retained_at from organizations
where retained_at < now() - make_interval(secs => sqlc.arg(older_than_ms)::float8 / 1000)
order by retained_at;

-- name: CountTransactions :one
-- Transactions up to the one in transaction_counts are not counted again. Pending transactions are counted in
-- the indexes of due transactions, which have no others.
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
-- Returns a time: no id from before this time is recorded any more. With a clock, ids rise in the order of
-- recording. Without a clock, an id is recorded within later_ms after it was made.
select (case when isfinite(c.last_stamp) then c.last_stamp
  else now() - make_interval(secs => sqlc.arg(later_ms)::float8 / 1000) end)::timestamptz
from (select) one left join clocks c on c.tenant = sqlc.arg(tenant);

-- name: AdvanceCount :exec
-- Moves the count of transactions up to a later transaction. Of two concurrent calls only one writes.
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

-- name: ShownClock :one
-- Returns sandbox time, how far it is ahead of the time of the database, and the start of a manual clock.
select clock_time(stands_at, ahead, last_stamp)::timestamptz as present,
  extract(epoch
    from case when stands_at is null then ahead else stands_at - now() end)::bigint as ahead_seconds, began_at
from clocks where tenant = sqlc.arg(tenant);

-- name: NoteActivity :exec
-- Writes the rows in one order, so that concurrent processes have no deadlock.
insert into activity (tenant, changed_at)
select o.tenant, now() from organizations o where o.tenant = any(sqlc.arg(tenants)::bigint[])
order by o.tenant
on conflict (tenant) do update set changed_at = excluded.changed_at;

-- name: PurgeTransactionCounts :execrows
delete from transaction_counts where tenant = sqlc.arg(tenant);
