-- Removal of what a retired tenant left behind, in small batches.

-- name: TenantsToPurge :many
-- Retired long enough ago that nothing which had begun before is still writing.
select tenant from retired_tenants
where purged_at is null and retired_at < now() - make_interval(secs => sqlc.arg(settled_ms)::float8 / 1000)
order by retired_at limit 100;

-- name: ForgetRetired :exec
delete from retired_tenants
where purged_at is not null and retired_at < now() - make_interval(secs => sqlc.arg(kept_ms)::float8 / 1000);

-- name: PurgeTransactions :execrows
delete from transactions where (tenant, id) in (
  select t.tenant, t.id from transactions t where t.tenant = sqlc.arg(tenant) limit sqlc.arg(batch));

-- name: PurgeEvents :execrows
delete from events where (tenant, id) in (select e.tenant, e.id from events e where e.tenant = sqlc.arg(tenant) limit sqlc.arg(batch));

-- name: PurgeAttempts :execrows
delete from delivery_attempts where (tenant, event_id, attempt) in (
  select a.tenant, a.event_id, a.attempt from delivery_attempts a where a.tenant = sqlc.arg(tenant) limit sqlc.arg(batch));

-- name: PurgeAdjustments :execrows
delete from adjustments where (tenant, adjustment_id) in (
  select a.tenant, a.adjustment_id from adjustments a where a.tenant = sqlc.arg(tenant) limit sqlc.arg(batch));

-- name: PurgeSIMs :execrows
delete from sims where (tenant, sim_id) in (select s.tenant, s.sim_id from sims s where s.tenant = sqlc.arg(tenant) limit sqlc.arg(batch));

-- name: PurgeFloats :execrows
delete from floats where tenant = sqlc.arg(tenant);

-- name: PurgeEnvironments :execrows
delete from environments where tenant = sqlc.arg(tenant);

-- name: PurgeStores :execrows
delete from stores where tenant = sqlc.arg(tenant);

-- name: PurgeKeys :execrows
delete from api_keys where tenant = sqlc.arg(tenant);

-- name: PurgeQuotaUsage :execrows
delete from quota_usage where tenant = sqlc.arg(tenant);

-- name: PurgeRateUsage :execrows
delete from rate_usage where tenant = sqlc.arg(tenant);

-- name: PurgeEndpointHealth :execrows
delete from endpoint_health where tenant = sqlc.arg(tenant);

-- name: PurgeActivity :execrows
delete from activity where tenant = sqlc.arg(tenant);
