-- Test clients that are made, changed and deleted through the API, in the scope of their tenant. Those of
-- resources are in accounts.sql.

-- name: HoldRegistry :one
-- Takes an advisory lock on the registry, so that its changes come one after the other. Returns the present
-- version of the configuration.
with held as materialized (select pg_advisory_xact_lock(hashtextextended('registry',
  sqlc.arg(tenant)::bigint)))
select o.version from held, organizations o where o.tenant = sqlc.arg(tenant)::bigint;

-- name: CountRegistry :one
select count(*) as all, count(*) filter (where source = 'api') as by_api from sims
where tenant = sqlc.arg(tenant);

-- name: CreateTestClient :exec
insert into sims (tenant, sim_id, name, msisdn, operator, country, currency, blocked, behavior, balance,
  opening, movements, source)
values (sqlc.arg(tenant), sqlc.arg(sim_id), sqlc.arg(name), sqlc.arg(msisdn), sqlc.arg(operator),
  sqlc.arg(country), sqlc.arg(currency), sqlc.arg(blocked), sqlc.arg(behavior), sqlc.arg(balance),
  sqlc.arg(balance), 1, 'api');

-- name: LockTestClient :one
select * from sims where tenant = sqlc.arg(tenant) and msisdn = sqlc.arg(msisdn) for update;

-- name: ChangeTestClient :exec
update sims
set name = sqlc.arg(name), blocked = sqlc.arg(blocked), behavior = sqlc.arg(behavior),
  balance = sqlc.arg(balance), movements = sqlc.arg(movements), changed_at = now(),
  named_from = case when name = sqlc.arg(name) then named_from else sqlc.arg(now_id)::uuid end
where tenant = sqlc.arg(tenant) and sim_id = sqlc.arg(sim_id) and source = 'api';

-- name: SetManual :exec
-- Lets the holder answer by hand for some seconds of real time; null: no more.
update sims set manual_until = now() + make_interval(secs => sqlc.narg(seconds)::integer)
where tenant = sqlc.arg(tenant) and sim_id = sqlc.arg(sim_id);

-- name: DeleteTestClient :execrows
-- Deletes nothing if the SIM of the number belongs to a resource.
delete from sims where tenant = sqlc.arg(tenant) and msisdn = sqlc.arg(msisdn) and source = 'api';
