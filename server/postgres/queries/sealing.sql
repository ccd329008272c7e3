-- Rotation of the encryption keys. An encrypted secret begins with four bytes that identify its key.

-- name: SecretsSealedByOthers :many
-- Returns organizations with a secret that another key than the given one has encrypted.
select tenant, resource_uid, signing_secret, previous_secret, older_secrets from organizations
where tenant > sqlc.arg(after) and (substring(signing_secret for 4) <> sqlc.arg(key)::bytea
  or substring(previous_secret for 4) <> sqlc.arg(key)::bytea
  or exists (select from unnest(older_secrets) x(secret)
    where substring(x.secret for 4) <> sqlc.arg(key)::bytea))
order by tenant
limit sqlc.arg(batch);

-- name: AccessSealedByOthers :many
select c.tenant, c.store, c.operator, c.country, c.sealed, o.resource_uid
from operator_credentials c join organizations o on o.tenant = c.tenant
where (c.tenant, c.store, c.operator, c.country)
    > (sqlc.arg(tenant)::bigint, sqlc.arg(store)::text, sqlc.arg(operator)::text, sqlc.arg(country)::text)
  and substring(c.sealed for 4) <> sqlc.arg(key)::bytea
order by c.tenant, c.store, c.operator, c.country
limit sqlc.arg(batch);

-- name: ResealSecrets :execrows
-- Changes no row if the secrets have changed since they were read.
update organizations
set signing_secret = sqlc.narg(signing_secret), previous_secret = sqlc.narg(previous_secret),
  older_secrets = sqlc.arg(older_secrets)
where tenant = sqlc.arg(tenant) and signing_secret is not distinct from sqlc.narg(signing_before)
  and previous_secret is not distinct
  from sqlc.narg(previous_before) and older_secrets = sqlc.arg(older_before);

-- name: ResealAccess :execrows
update operator_credentials set sealed = sqlc.arg(sealed)
where tenant = sqlc.arg(tenant) and store = sqlc.arg(store) and operator = sqlc.arg(operator)
  and country = sqlc.arg(country)
  and sealed = sqlc.arg(before);

-- name: CountSealed :many
-- Counts encrypted secrets by key. Rows of retired tenants do not count, since their secrets are never opened
-- again.
select substring(s.sealed for 4)::bytea as key, count(*) as secrets
from (
  select signing_secret as sealed from organizations
  union all select previous_secret from organizations
  union all select unnest(older_secrets) from organizations
  union all select c.sealed from operator_credentials c join organizations o on o.tenant = c.tenant
) s
where s.sealed is not null
group by 1
order by 1;
