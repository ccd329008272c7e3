-- Floats and SIMs as the controller sets them. Transactions change them in payments.sql and settlement.sql
-- (collections), refunds.sql, disbursements.sql, group_commit.sql (several at once) and
-- forwarding.sql.

-- name: ListFloats :many
select * from floats where tenant = sqlc.arg(tenant);

-- name: SetFloat :exec
-- Inserts a float with its opening balance, or sets the balance of an existing one. Both are adjustments. A
-- new float has a changed_at of 0: its caller writes the status of the resource anyway.
with before as (
  select balance from floats where floats.tenant = sqlc.arg(tenant) and floats.currency = sqlc.arg(currency)
  for update
), written as (
  insert into floats as f (tenant, currency, balance, opening, movements, changed_at)
  select sqlc.arg(tenant), sqlc.arg(currency)::text, sqlc.arg(balance), sqlc.arg(balance), 1, to_timestamp(0)
  from (select count(*) from before) held
  on conflict (tenant, currency) do update
    set balance = excluded.balance, opening = excluded.opening, movements = f.movements + 1,
      changed_at = now()
  returning f.movements
)
insert into adjustments (tenant, currency, delta, balance_after, number)
select sqlc.arg(tenant), sqlc.arg(currency)::text,
  sqlc.arg(balance) - coalesce((select balance from before), 0), sqlc.arg(balance), written.movements
from written;

-- name: CountSIMs :one
select count(*) from sims where tenant = sqlc.arg(tenant);

-- name: TenantOf :one
-- Locks the row of the organization. The lock permits other SIMs of the sandbox to be written, but not the
-- retirement or a reset of the sandbox, so that no SIM is left behind.
select tenant from organizations
where resource_uid = sqlc.arg(resource_uid) and retained_at is null for key share;

-- name: LockSIM :one
select * from sims where tenant = sqlc.arg(tenant) and sim_id = sqlc.arg(sim_id) for update;

-- name: SIMHolder :one
select sim_id, name, source from sims where tenant = sqlc.arg(tenant) and msisdn = sqlc.arg(msisdn);

-- name: InsertSIM :exec
-- A new SIM has a changed_at of 0, as in SetFloat.
insert into sims (tenant, sim_id, generation, name, msisdn, operator, country, currency, blocked, behavior,
  balance, opening, movements, changed_at, source)
values (sqlc.arg(tenant), sqlc.arg(sim_id), sqlc.arg(generation), sqlc.arg(name), sqlc.arg(msisdn),
  sqlc.arg(operator), sqlc.arg(country), sqlc.arg(currency), sqlc.arg(blocked), sqlc.arg(behavior),
  sqlc.arg(balance), sqlc.arg(balance), 1, to_timestamp(0), 'resource');

-- name: UpdateSIM :execrows
-- Refuses an older generation, as TakeGeneration does.
update sims
set generation = sqlc.arg(generation), name = sqlc.arg(name), msisdn = sqlc.arg(msisdn),
  operator = sqlc.arg(operator), country = sqlc.arg(country), currency = sqlc.arg(currency),
  blocked = sqlc.arg(blocked), behavior = sqlc.arg(behavior), balance = sqlc.arg(balance),
  opening = sqlc.arg(opening), movements = sqlc.arg(movements), changed_at = now()
where tenant = sqlc.arg(tenant) and sim_id = sqlc.arg(sim_id)
  and (generation <= sqlc.arg(generation) or generation = sqlc.arg(rolled_back));

-- name: InsertSIMAdjustment :exec
insert into adjustments (tenant, sim_id, delta, balance_after, number)
values (sqlc.arg(tenant), sqlc.arg(sim_id)::uuid, sqlc.arg(delta), sqlc.arg(balance_after),
  sqlc.arg(number)::bigint);

-- name: HoldTenantOfSIM :exec
-- Takes the lock of TenantOf: it waits for a reset that is copying the SIM.
select o.tenant from organizations o join sims s using (tenant)
where s.sim_id = sqlc.arg(sim_id) for key share of o;

-- name: DeleteSIM :exec
-- SIMs of retained sandboxes stay.
delete from sims s where s.sim_id = sqlc.arg(sim_id)
  and not exists (select from organizations o where o.tenant = s.tenant and o.retained_at is not null);

-- name: ChangedAccounts :many
-- Returns each resource that has changed, once, with the time of its last change, and the present time. If
-- nothing has changed, it returns one row without a sandbox. An infinite time, which somebody may have
-- written by hand, is no change.
select clock.present, coalesce(changed.namespace, '')::text as namespace,
  coalesce(changed.sandbox, '')::text as sandbox, coalesce(changed.test_client, '')::text as test_client,
  coalesce(changed.changed_at, clock.present)::timestamptz as changed_at
from (select now()::timestamptz as present) clock left join (
  select o.namespace, o.name as sandbox, '' as test_client, max(c.changed_at) as changed_at
  from (
    select f.tenant, f.changed_at from floats f
    where f.changed_at > sqlc.arg(since) and isfinite(f.changed_at)
    union all
    select a.tenant, a.changed_at from activity a
    where a.changed_at > sqlc.arg(since) and isfinite(a.changed_at)
    union all
    select h.tenant, h.changed_at from endpoint_health h
    where h.changed_at > sqlc.arg(since) and isfinite(h.changed_at)
  ) c join organizations o using (tenant)
  where o.retained_at is null
  group by o.org_id
  union all
  select o.namespace, o.name, s.name, s.changed_at
  from sims s join organizations o using (tenant)
  where s.changed_at > sqlc.arg(since) and isfinite(s.changed_at) and o.retained_at is null
    and s.source = 'resource'
) changed on true;

-- name: DatabaseTime :one
select now()::timestamptz;
