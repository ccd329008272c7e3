-- Delivery of events: claimed under a lease, since an attempt is made outside of any database transaction.

-- name: LockDueEvents :many
select sqlc.embed(e), sqlc.embed(t), o.org_id, o.resource_uid, o.webhook_url, o.signing_secret, o.webhook_max_retries,
  o.webhook_initial_delay_ms, o.webhook_factor, o.webhook_max_delay_ms
from events e
join transactions t on t.tenant = e.tenant and t.id = e.id
join organizations o on o.tenant = e.tenant
where e.due_at <= now()
order by e.due_at
limit sqlc.arg(batch)
for update of e skip locked;

-- name: LeaseEvents :exec
-- Takes the lease and keeps the body, built now if this is the first attempt.
update events e set fence = e.fence + 1, due_at = now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000), body = leased.body
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
  unnest(sqlc.arg(bodies)::bytea[]) as body) leased
where e.tenant = leased.tenant and e.id = leased.id;

-- name: ShelveEvents :exec
-- The sandbox has no endpoint any more: its events are kept and nothing is sent.
update events e set state = 'recorded', due_at = null
from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id) shelved
where e.tenant = shelved.tenant and e.id = shelved.id;

-- name: FinishAttempt :execrows
-- Writes down what an attempt came to and ends the lease, so that a repeat, after an answer that was lost, finds nothing to
-- do. No row changes if the lease was lost: whoever has it now decides.
with finished as (
  update events e set state = sqlc.arg(state), fence = e.fence + 1, attempts = e.attempts + 1,
    due_at = case when sqlc.arg(state) = 'queued'::event_state then now() + make_interval(secs => sqlc.arg(retry_after_ms)::float8 / 1000) end,
    delivered_at = case when sqlc.arg(state) = 'delivered'::event_state then now() end
  where e.tenant = sqlc.arg(tenant) and e.id = sqlc.arg(id) and e.fence = sqlc.arg(fence)
  returning e.tenant, e.id, e.attempts
)
insert into delivery_attempts (tenant, event_id, attempt, started_at, duration_ms, response_status, response_body, error)
select tenant, id, attempts, sqlc.arg(started_at), sqlc.arg(duration_ms), sqlc.narg(response_status), sqlc.narg(response_body),
  sqlc.narg(error)
from finished;
