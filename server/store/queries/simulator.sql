-- What the simulated operators know. All but the first run behind the tenant wall, and the purge.

-- name: SandboxNamed :one
select tenant, resource_uid, latency_percent from organizations where namespace = sqlc.arg(namespace) and name = sqlc.arg(name) and retained_at is null;

-- name: RegisteredDigests :many
select digest from operator_credentials
where tenant = sqlc.arg(tenant) and operator = sqlc.arg(operator) and base_url = '' and digest is not null;

-- name: IssueOperatorToken :exec
-- Anybody may ask for a token, so that only the newest ones are kept.
with forgotten as (
  delete from operator_tokens t
  where t.tenant = sqlc.arg(tenant) and t.operator = sqlc.arg(operator)
    and (t.expires_at <= now() or t.hash in (
      select o.hash from operator_tokens o
      where o.tenant = sqlc.arg(tenant) and o.operator = sqlc.arg(operator)
      order by o.expires_at desc offset sqlc.arg(keep)::integer))
)
insert into operator_tokens (tenant, operator, hash, expires_at)
select o.tenant, sqlc.arg(operator), sqlc.arg(hash), now() + make_interval(secs => sqlc.arg(valid_ms)::float8 / 1000)
from organizations o where o.tenant = sqlc.arg(tenant); -- a sandbox that was deleted meanwhile gets no rows any more

-- name: OperatorTokenValid :one
select exists (
  select from operator_tokens
  where tenant = sqlc.arg(tenant) and operator = sqlc.arg(operator) and hash = sqlc.arg(hash) and expires_at > now());

-- name: CreateOperatorPayment :execrows
insert into operator_payments (tenant, operator, reference, native_id, request, answers_at)
select o.tenant, sqlc.arg(operator), sqlc.arg(reference), sqlc.arg(native_id), sqlc.arg(request)::json,
  now() + make_interval(secs => sqlc.arg(answer_after_ms)::float8 / 1000)
from organizations o where o.tenant = sqlc.arg(tenant)
on conflict (tenant, operator, reference) do nothing;

-- name: FindOperatorPayment :one
select native_id, request, created_at, (answers_at <= now())::boolean as answered from operator_payments
where tenant = sqlc.arg(tenant) and operator = sqlc.arg(operator) and reference = sqlc.arg(reference);

-- name: PurgeOperatorTokens :execrows
delete from operator_tokens where tenant = sqlc.arg(tenant);
