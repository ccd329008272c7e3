-- Drift: whether rows differ from those that the controller wrote last, for all sandboxes at once.

-- name: NoteFingerprint :exec
update organizations o set applied = computed.fingerprint
from sandbox_fingerprints() computed
where computed.tenant = sqlc.arg(tenant)::bigint and o.tenant = sqlc.arg(tenant)::bigint
  and o.applied is distinct from computed.fingerprint;

-- name: KeepPlans :exec
-- Postgres keeps the plans of the statements after it. Planning NoteFingerprint takes four times as long as
-- running it.
select set_config('plan_cache_mode', 'force_generic_plan', true);

-- name: SandboxesDrifted :many
select o.resource_uid, (o.applied is distinct from computed.fingerprint)::boolean as drifted
from organizations o join sandbox_fingerprints() computed on computed.tenant = o.tenant
where o.retained_at is null;

-- name: SIMFingerprints :many
-- Computes TestClientConfig.fingerprint. SIMs that were created through the API have no resource.
select s.sim_id, s.name, o.resource_uid,
  md5(concat_ws('|', o.resource_uid, s.name, s.msisdn, s.operator, s.country, s.currency, s.blocked,
    s.behavior, s.opening))::text
  as fingerprint
from sims s join organizations o using (tenant) where o.retained_at is null and s.source = 'resource';

-- name: FindOrganization :one
-- LockOrganization without a lock.
select sqlc.embed(o), (o.applied is not distinct from (
  select computed.fingerprint from sandbox_fingerprints() computed
  where computed.tenant = o.tenant))::boolean as settled, (coalesce(o.previous_secret_until <= now(), false)
    or exists (select from unnest(o.older_secrets_until) x(until)
      where x.until <= now()))::boolean as overlap_over
from organizations o where o.resource_uid = sqlc.arg(resource_uid) and o.retained_at is null;

-- name: FindRegisteredSIM :one
select s.* from sims s join organizations o using (tenant)
where o.resource_uid = sqlc.arg(resource_uid) and o.retained_at is null and s.sim_id = sqlc.arg(sim_id);
