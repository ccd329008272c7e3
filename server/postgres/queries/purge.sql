-- Removal of the rows of retired tenants, in small batches.

-- name: TenantsToPurge :many
-- Returns tenants that were retired so long ago that all writes from before have ended.
select tenant from retired_tenants
where purged_at is null and retired_at < now() - make_interval(secs => sqlc.arg(settled_ms)::float8 / 1000)
order by retired_at limit 100;

-- name: ForgetRetired :execrows
delete from retired_tenants where tenant in (
  select r.tenant from retired_tenants r
  where r.purged_at is not null
    and r.retired_at < now() - make_interval(secs => sqlc.arg(kept_ms)::float8 / 1000)
  order by r.retired_at limit sqlc.arg(batch));

-- The statements for large tables begin after the last row of the previous batch, and return the key of their
-- own last row. A batch that began with the first row would have to skip all removed rows. Of two concurrent
-- calls, one waits for the other.

-- name: PurgeTransactions :one
with batch as (
  select t.id from transactions t where t.tenant = sqlc.arg(tenant) and t.id > sqlc.arg(after) order by t.id
  limit sqlc.arg(batch)
), gone as (
  delete from transactions t using batch where t.tenant = sqlc.arg(tenant) and t.id = batch.id
)
select batch.id from batch order by batch.id desc limit 1;

-- name: PurgeEvents :one
with batch as (
  select e.id from events e where e.tenant = sqlc.arg(tenant) and e.id > sqlc.arg(after) order by e.id
  limit sqlc.arg(batch)
), gone as (
  delete from events e using batch where e.tenant = sqlc.arg(tenant) and e.id = batch.id
), forgotten as (
  delete from unacknowledged_events u
  where u.tenant = sqlc.arg(tenant) and u.id = any(array(select batch.id from batch))
    and u.operator || '' = ''
)
select batch.id from batch order by batch.id desc limit 1;

-- name: PurgeEventFaults :one
with batch as (
  select f.event_id from event_faults f
  where f.tenant = sqlc.arg(tenant) and f.event_id > sqlc.arg(after) order by f.event_id limit sqlc.arg(batch)
), gone as (
  delete from event_faults f using batch where f.tenant = sqlc.arg(tenant) and f.event_id = batch.event_id
)
select batch.event_id from batch order by batch.event_id desc limit 1;

-- name: PurgeAttempts :one
with batch as (
  select a.event_id, a.attempt from delivery_attempts a
  where a.tenant = sqlc.arg(tenant) and (a.event_id, a.attempt) > (sqlc.arg(after)::uuid,
    sqlc.arg(after_attempt)::integer)
  order by a.event_id, a.attempt limit sqlc.arg(batch)
), gone as (
  delete from delivery_attempts a using batch
  where a.tenant = sqlc.arg(tenant) and a.event_id = batch.event_id and a.attempt = batch.attempt
)
select batch.event_id, batch.attempt from batch order by batch.event_id desc, batch.attempt desc limit 1;

-- name: PurgeAdjustments :one
with batch as (
  select a.adjustment_id from adjustments a
  where a.tenant = sqlc.arg(tenant) and a.adjustment_id > sqlc.arg(after) order by a.adjustment_id
  limit sqlc.arg(batch)
), gone as (
  delete from adjustments a using batch
  where a.tenant = sqlc.arg(tenant) and a.adjustment_id = batch.adjustment_id
)
select batch.adjustment_id from batch order by batch.adjustment_id desc limit 1;

-- name: PurgeSIMs :one
with batch as (
  select s.sim_id from sims s where s.tenant = sqlc.arg(tenant) and s.sim_id > sqlc.arg(after)
  order by s.sim_id limit sqlc.arg(batch)
), gone as (
  delete from sims s using batch where s.tenant = sqlc.arg(tenant) and s.sim_id = batch.sim_id
)
select batch.sim_id from batch order by batch.sim_id desc limit 1;

-- name: PurgeFaultActs :one
with batch as (
  select a.name, a.reference from fault_acts a
  where a.tenant = sqlc.arg(tenant) and (a.name, a.reference) > (sqlc.arg(after)::text,
    sqlc.arg(after_reference)::text)
  order by a.name, a.reference limit sqlc.arg(batch)
), gone as (
  delete from fault_acts a using batch
  where a.tenant = sqlc.arg(tenant) and a.name = batch.name and a.reference = batch.reference
)
select batch.name, batch.reference from batch order by batch.name desc, batch.reference desc limit 1;

-- name: PurgeFaultRequests :one
with batch as (
  select r.reference from fault_requests r
  where r.tenant = sqlc.arg(tenant) and r.reference > sqlc.arg(after) order by r.reference
  limit sqlc.arg(batch)
), gone as (
  delete from fault_requests r using batch where r.tenant = sqlc.arg(tenant) and r.reference = batch.reference
)
select batch.reference from batch order by batch.reference desc limit 1;

-- name: PurgeSetFaults :execrows
delete from set_faults where tenant = sqlc.arg(tenant);

-- name: PurgeFaultCounts :execrows
delete from fault_counts where tenant = sqlc.arg(tenant);

-- name: PurgeClocks :execrows
delete from clocks where tenant = sqlc.arg(tenant);

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

-- name: PurgeChanges :one
with batch as (
  select c.xact, c.seq from changes c
  where c.tenant = sqlc.arg(tenant) and (c.xact, c.seq) > (sqlc.arg(after)::bigint,
    sqlc.arg(after_seq)::bigint)
  order by c.xact, c.seq limit sqlc.arg(batch)
), gone as (
  delete from changes c using batch
  where c.tenant = sqlc.arg(tenant) and c.xact = batch.xact and c.seq = batch.seq
)
select batch.xact, batch.seq from batch order by batch.xact desc, batch.seq desc limit 1;
