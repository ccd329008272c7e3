-- The configuration. The controller writes it, one sandbox at a time, and the api's directory reads it.

-- name: LockOrganization :one
select * from organizations where resource_uid = sqlc.arg(resource_uid) and retained_at is null for update;

-- name: InsertOrganization :one
insert into organizations (org_id, resource_uid, generation, namespace, name, latency_percent, monthly_quota,
  rate_limit, webhook_url, webhook_max_retries, webhook_initial_delay_ms, webhook_factor,
  webhook_max_delay_ms, webhook_types, pending_timeout_ms, test_numbers, suspended, reset, api_test_clients,
  api_reset, api_faults, max_test_clients, clocked, clock_mode, clock_start, seed, faults, callback_hosts,
  webhook_host, webhook_refusal)
values (sqlc.arg(org_id), sqlc.arg(resource_uid), sqlc.arg(generation), sqlc.arg(namespace), sqlc.arg(name),
  sqlc.arg(latency_percent), sqlc.narg(monthly_quota), sqlc.narg(rate_limit), sqlc.narg(webhook_url),
  sqlc.arg(webhook_max_retries), sqlc.arg(webhook_initial_delay_ms), sqlc.arg(webhook_factor),
  sqlc.arg(webhook_max_delay_ms), sqlc.arg(webhook_types), sqlc.arg(pending_timeout_ms),
  sqlc.arg(test_numbers), sqlc.arg(suspended), sqlc.arg(reset), sqlc.arg(api_test_clients),
  sqlc.arg(api_reset), sqlc.arg(api_faults), sqlc.narg(max_test_clients), sqlc.arg(clocked),
  sqlc.arg(clock_mode),
  sqlc.narg(clock_start), sqlc.narg(seed), sqlc.narg(faults), sqlc.narg(callback_hosts)::text[],
  sqlc.arg(webhook_host), sqlc.arg(webhook_refusal))
returning *;

-- name: TakeGeneration :execrows
-- Changes no row if a later generation of the resource was applied already. Only a restored API server
-- returns earlier generations: rolled_back is the applied generation that may then be replaced.
update organizations set generation = sqlc.arg(generation)
where tenant = sqlc.arg(tenant) and (generation <= sqlc.arg(generation)
  or generation = sqlc.arg(rolled_back));

-- name: UpdateOrganization :exec
update organizations
set namespace = sqlc.arg(namespace), name = sqlc.arg(name), latency_percent = sqlc.arg(latency_percent),
  monthly_quota = sqlc.narg(monthly_quota), rate_limit = sqlc.narg(rate_limit),
  webhook_url = sqlc.narg(webhook_url), webhook_max_retries = sqlc.arg(webhook_max_retries),
  webhook_initial_delay_ms = sqlc.arg(webhook_initial_delay_ms), webhook_factor = sqlc.arg(webhook_factor),
  webhook_max_delay_ms = sqlc.arg(webhook_max_delay_ms), webhook_types = sqlc.arg(webhook_types),
  pending_timeout_ms = sqlc.arg(pending_timeout_ms), test_numbers = sqlc.arg(test_numbers),
  suspended = sqlc.arg(suspended), api_test_clients = sqlc.arg(api_test_clients),
  api_reset = sqlc.arg(api_reset), api_faults = sqlc.arg(api_faults),
  max_test_clients = sqlc.narg(max_test_clients),
  clocked = sqlc.arg(clocked), clock_mode = sqlc.arg(clock_mode), clock_start = sqlc.narg(clock_start),
  seed = sqlc.narg(seed), faults = sqlc.narg(faults), callback_hosts = sqlc.narg(callback_hosts)::text[],
  webhook_host = sqlc.arg(webhook_host), webhook_refusal = sqlc.arg(webhook_refusal)
where tenant = sqlc.arg(tenant);

-- name: ForgetAcknowledgment :exec
-- Runs after a change of the webhook's URL: what the former one acknowledged or refused says nothing about
-- the new one.
update endpoint_health set acknowledged_url = null, failures = 0, failing_since = null, first_failed = null,
  first_failed_attempt = null, url_changed_at = now(), changed_at = now()
where tenant = sqlc.arg(tenant);

-- name: StoredCredentials :one
select o.version, o.key_rotation, o.signing_secret, o.secret_rotation,
  array(select k.hash from api_keys k where k.tenant = o.tenant and k.expires_at is null)::bytea[] as keys
from organizations o where o.resource_uid = sqlc.arg(resource_uid);

-- name: SetSigningSecret :exec
-- Sets the signing secret. The previous one signs beside it for overlap_ms, and older ones each until their
-- own end, three in all. If `previous` is null, the previous ones stay as they are.
update organizations o set signing_secret = sqlc.arg(signing_secret),
  older_secrets = case when sqlc.narg(previous)::bytea is null
    or o.previous_secret is null then o.older_secrets
    else (array_prepend(o.previous_secret, o.older_secrets))[1:2] end,
  older_secrets_until = case when sqlc.narg(previous)::bytea is null
    or o.previous_secret is null then o.older_secrets_until
    else (array_prepend(o.previous_secret_until, o.older_secrets_until))[1:2] end,
  previous_secret = coalesce(sqlc.narg(previous), o.previous_secret),
  previous_secret_until = case when sqlc.narg(previous)::bytea is null then o.previous_secret_until
    else now() + make_interval(secs => sqlc.arg(overlap_ms)::float8 / 1000) end,
  secret_fingerprints = sqlc.arg(fingerprint)::text || case when sqlc.narg(previous)::bytea is null
    then o.secret_fingerprints[2:] else o.secret_fingerprints[1:3] end,
  secret_since = now()
where o.tenant = sqlc.arg(tenant);

-- name: SetRotations :exec
update organizations set key_rotation = sqlc.arg(key_rotation), secret_rotation = sqlc.arg(secret_rotation)
where tenant = sqlc.arg(tenant);

-- name: ForgetPreviousSecrets :one
-- Removes the previous secrets whose overlap has ended, and returns the others.
update organizations o set
  previous_secret = case when o.previous_secret_until > now() then o.previous_secret end,
  previous_secret_until = case when o.previous_secret_until > now() then o.previous_secret_until end,
  older_secrets = array(select x.secret
    from (select unnest(o.older_secrets) as secret, unnest(o.older_secrets_until) as until) x
    where x.until > now() order by x.until desc),
  older_secrets_until = array(select x.until from unnest(o.older_secrets_until) x(until) where x.until > now()
    order by x.until desc),
  secret_fingerprints = o.secret_fingerprints[1:1 + (select count(*)
    from unnest(array_append(o.older_secrets_until, o.previous_secret_until)) x(until)
    where x.until > now())::integer]
where o.tenant = sqlc.arg(tenant)
returning previous_secret, older_secrets;

-- name: BumpVersion :exec
with bumped as (
  update config_version set version = config_version.version + 1 returning config_version.version
)
update organizations set version = bumped.version from bumped where organizations.tenant = sqlc.arg(tenant);

-- name: OrganizationNamed :one
select resource_uid from organizations
where namespace = sqlc.arg(namespace) and name = sqlc.arg(name) and retained_at is null;

-- name: RetireOrganization :execrows
with gone as (
  delete from organizations o where o.resource_uid = sqlc.arg(resource_uid) returning o.tenant, o.resource_uid
), bumped as (
  update config_version c set version = c.version + 1 where exists (select from gone) returning c.version
)
insert into retired_tenants (tenant, resource_uid, version)
select gone.tenant, gone.resource_uid, bumped.version from gone, bumped;

-- name: UnpurgedTenants :many
select tenant from retired_tenants where resource_uid = sqlc.arg(resource_uid) and purged_at is null;

-- name: MarkPurged :exec
update retired_tenants set purged_at = now() where tenant = sqlc.arg(tenant);

-- name: ListEnvironments :many
select * from environments where tenant = sqlc.arg(tenant) order by operator, country;

-- name: UpsertEnvironment :exec
insert into environments (tenant, env_id, operator, country, currency, enabled, commission_bps,
  absorption_pct, unknown_policy, max_amount, place, vague, quirks,
  callback_url, callback_hash)
values (sqlc.arg(tenant), sqlc.arg(env_id), sqlc.arg(operator), sqlc.arg(country), sqlc.arg(currency),
  sqlc.arg(enabled), sqlc.arg(commission_bps), sqlc.arg(absorption_pct), sqlc.arg(unknown_policy),
  sqlc.narg(max_amount), sqlc.arg(place), sqlc.arg(vague), sqlc.arg(quirks),
  sqlc.arg(callback_url), sqlc.arg(callback_hash))
on conflict (tenant, operator, country) do update
set currency = excluded.currency, enabled = excluded.enabled,
  removed = false, commission_bps = excluded.commission_bps, absorption_pct = excluded.absorption_pct,
  unknown_policy = excluded.unknown_policy, max_amount = excluded.max_amount, place = excluded.place,
  vague = excluded.vague, quirks = excluded.quirks, callback_url = excluded.callback_url,
  callback_hash = excluded.callback_hash;

-- name: RemoveEnvironment :exec
update environments set removed = true where tenant = sqlc.arg(tenant) and env_id = sqlc.arg(env_id);

-- name: ListStores :many
select * from stores where tenant = sqlc.arg(tenant);

-- name: UpsertStore :exec
insert into stores (tenant, slug, place) values (sqlc.arg(tenant), sqlc.arg(slug), sqlc.arg(place))
on conflict (tenant, slug) do update set removed = false, place = excluded.place;

-- name: RemoveStore :exec
update stores set removed = true where tenant = sqlc.arg(tenant) and slug = sqlc.arg(slug);

-- name: ListKeys :many
select hash, native, (expires_at is not null)::boolean as replaced,
  coalesce(expires_at <= now(), false)::boolean as expired
from api_keys where tenant = sqlc.arg(tenant);

-- name: InsertKey :exec
insert into api_keys (tenant, hash, native) values (sqlc.arg(tenant), sqlc.arg(hash), sqlc.narg(native));

-- name: SetNativeCredentials :exec
update api_keys set native = sqlc.arg(native) where tenant = sqlc.arg(tenant) and hash = sqlc.arg(hash);

-- name: ReinstateKey :exec
update api_keys set expires_at = null where tenant = sqlc.arg(tenant) and hash = sqlc.arg(hash);

-- name: ExpireKey :exec
update api_keys set expires_at = now() + make_interval(secs => sqlc.arg(grace_ms)::float8 / 1000)
where tenant = sqlc.arg(tenant) and hash = sqlc.arg(hash);

-- name: DeleteKey :exec
delete from api_keys where tenant = sqlc.arg(tenant) and hash = sqlc.arg(hash);

-- name: KeyOfAnother :one
select exists (
  select from api_keys k
  cross join lateral (select from organizations o where o.tenant = k.tenant limit 1) o
  where k.hash = sqlc.arg(hash) and k.tenant <> sqlc.arg(tenant));

-- name: ConfigVersion :one
select version from config_version;

-- name: ChangedOrganizations :many
select tenant, org_id, namespace, name, latency_percent, monthly_quota, rate_limit, pending_timeout_ms,
  test_numbers, suspended, version, api_test_clients, api_reset, api_faults, max_test_clients, clocked,
  clock_mode, seed, faults, requests_logged_until, followed_until, callback_hosts, webhook_host
from organizations where version > sqlc.arg(since) and retained_at is null;

-- name: EnvironmentsOf :many
-- Returns removed ones too, since the sandbox still knows their operators and countries.
select * from environments where tenant = any(sqlc.arg(tenants)::bigint[])
order by tenant, place;

-- name: StoresOf :many
select tenant, slug from stores where tenant = any(sqlc.arg(tenants)::bigint[]) and not removed
order by tenant, place, slug;

-- name: SetFaultsOf :many
-- Returns the faults that were set and have not ended, the newest first. ends_in_ms is the time that is left,
-- 0 without an end. As a duration it does not depend on the clock of the reader.
select tenant, number, entry,
  (case when ends_at is null then 0
    else greatest(ceil(extract(epoch from ends_at - now()) * 1000), 1) end)::bigint as ends_in_ms
from set_faults
where tenant = any(sqlc.arg(tenants)::bigint[]) and (ends_at is null or ends_at > now())
order by tenant, number desc;

-- name: KeysOf :many
-- expires_in_ms is the time for which a replaced key still works, 0 for a key that was not replaced. As a
-- duration it does not depend on the clock of the reader. Rows whose hash is no SHA-256 hash, which somebody
-- may have written by hand, are left out.
select tenant, hash, native,
  coalesce(ceil(extract(epoch from least(expires_at, now() + interval '10 years') - now()) * 1000),
    0)::bigint as expires_in_ms
from api_keys
where tenant = any(sqlc.arg(tenants)::bigint[]) and (expires_at is null or expires_at > now())
  and octet_length(hash) = 32;

-- name: RetiredTenants :many
-- Returns the tenants that ended after a version. A retained organization counts as ended.
select r.tenant from retired_tenants r where r.version > sqlc.arg(since)
union all
select o.tenant from organizations o where o.version > sqlc.arg(since) and o.retained_at is not null;
