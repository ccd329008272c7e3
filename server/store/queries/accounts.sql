-- Floats and SIMs as the controller sets them. What transactions do to them stands in payments.sql and settlement.sql.

-- name: ListFloats :many
select * from floats where tenant = sqlc.arg(tenant);

-- name: SetFloat :exec
-- A new float opens with its balance; an edited one is set to the new value. Either is an adjustment.
with before as (
  select balance from floats where floats.tenant = sqlc.arg(tenant) and floats.currency = sqlc.arg(currency) for update
), written as (
  insert into floats (tenant, currency, balance, opening) values (sqlc.arg(tenant), sqlc.arg(currency), sqlc.arg(balance), sqlc.arg(balance))
  on conflict (tenant, currency) do update
    set balance = excluded.balance, opening = excluded.opening, changed_at = now()
)
insert into adjustments (tenant, currency, delta, balance_after)
values (sqlc.arg(tenant), sqlc.arg(currency)::text, sqlc.arg(balance) - coalesce((select balance from before), 0), sqlc.arg(balance));

-- name: CountSIMs :one
select count(*) from sims where tenant = sqlc.arg(tenant);

-- name: TenantOf :one
-- Shared with other SIMs, exclusive against the sandbox's retirement: no SIM is left behind.
select tenant from organizations where resource_uid = sqlc.arg(resource_uid) for key share;

-- name: LockSIM :one
select * from sims where tenant = sqlc.arg(tenant) and sim_id = sqlc.arg(sim_id) for update;

-- name: SIMHolder :one
select sim_id, name from sims where tenant = sqlc.arg(tenant) and msisdn = sqlc.arg(msisdn);

-- name: InsertSIM :exec
insert into sims (tenant, sim_id, name, msisdn, operator, country, currency, blocked, behaviour, balance, opening)
values (sqlc.arg(tenant), sqlc.arg(sim_id), sqlc.arg(name), sqlc.arg(msisdn), sqlc.arg(operator), sqlc.arg(country), sqlc.arg(currency), sqlc.arg(blocked), sqlc.arg(behaviour), sqlc.arg(balance), sqlc.arg(balance));

-- name: UpdateSIM :exec
update sims set name = sqlc.arg(name), msisdn = sqlc.arg(msisdn), operator = sqlc.arg(operator), country = sqlc.arg(country), currency = sqlc.arg(currency),
  blocked = sqlc.arg(blocked), behaviour = sqlc.arg(behaviour), balance = sqlc.arg(balance), opening = sqlc.arg(opening), changed_at = now()
where tenant = sqlc.arg(tenant) and sim_id = sqlc.arg(sim_id);

-- name: InsertSIMAdjustment :exec
insert into adjustments (tenant, sim_id, delta, balance_after) values (sqlc.arg(tenant), sqlc.arg(sim_id)::uuid, sqlc.arg(delta), sqlc.arg(balance_after));

-- name: DeleteSIM :exec
delete from sims where sim_id = sqlc.arg(sim_id);

-- name: ChangedAccounts :many
select o.namespace, o.name as sandbox, ''::text as test_client, f.changed_at
from floats f join organizations o using (tenant) where f.changed_at > sqlc.arg(since)
union
select o.namespace, o.name, s.name, s.changed_at
from sims s join organizations o using (tenant) where s.changed_at > sqlc.arg(since);

-- name: DatabaseTime :one
select now()::timestamptz;
