-- The SIMs of the registry, and their prompts: the pending collections that wait for a payer's answer. Every
-- statement here runs in the tenant scope. Statements find prompts by going through all pending collections
-- of the sandbox, whose index is small whatever the history.

-- name: ListTestClients :many
with page as materialized (
  select s.* from sims s
  where s.tenant = sqlc.arg(tenant) and s.msisdn > sqlc.arg(after)
    and s.operator = coalesce(sqlc.narg(operator), s.operator)
      and s.country = coalesce(sqlc.narg(country), s.country)
    and s.blocked = coalesce(sqlc.narg(blocked), s.blocked)
  order by s.msisdn limit sqlc.arg(batch)::integer
), waiting as materialized (
  select t.sim_id, count(*) as prompts from transactions t
  where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and not t.passthrough
    and t.sim_id in (select page.sim_id from page)
  group by t.sim_id
)
select sqlc.embed(sims), coalesce(waiting.prompts, 0)::bigint as prompts
from page sims left join waiting on waiting.sim_id = sims.sim_id
order by sims.msisdn;

-- name: FindTestClient :one
select sqlc.embed(sims), coalesce((
  select count(*) from transactions t
  where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and not t.passthrough and t.sim_id = sims.sim_id
), 0)::bigint as prompts
from sims
where sims.tenant = sqlc.arg(tenant) and sims.msisdn = sqlc.arg(msisdn);

-- name: ListPrompts :many
with waiting as materialized (
  select * from transactions t
  where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and not t.passthrough
    and t.sim_id = sqlc.arg(sim_id)::uuid and t.expires_at is not null
)
select waiting.id, waiting.amount, waiting.net_amount, waiting.commission, waiting.currency, waiting.store,
  waiting.reference, waiting.description, waiting.created_at, waiting.expires_at
from waiting
where sqlc.narg(after)::uuid is null or waiting.id > sqlc.narg(after)::uuid
order by waiting.id limit sqlc.arg(batch)::integer;

-- name: OldestPrompts :many
-- The oldest prompt of each of these SIMs.
with waiting as materialized (
  select * from transactions t
  where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and not t.passthrough
    and t.sim_id = any(sqlc.arg(sim_ids)::uuid[]) and t.expires_at is not null
)
select distinct on (waiting.sim_id) waiting.sim_id::uuid as sim_id, waiting.id, waiting.amount,
  waiting.net_amount, waiting.commission, waiting.currency, waiting.store, waiting.reference,
  waiting.description, waiting.created_at, waiting.expires_at
from waiting
order by waiting.sim_id, waiting.id;

-- name: LastOutcomes :many
-- The last movement of each of these SIMs, and the payments that failed for them among the newest
-- transactions. Of a disbursement or refund that failed, a phone learns nothing.
with found as materialized (
  (select t.* from unnest(sqlc.arg(sim_ids)::uuid[]) asked (of_sim)
  cross join lateral (
    select * from transactions m
    where m.tenant = sqlc.arg(tenant) and m.sim_id = asked.of_sim and m.sim_delta <> 0
    order by m.tenant desc, m.sim_id desc, m.sim_number desc limit 1) t)
  union all
  (select newest.* from (
    select * from transactions n where n.tenant = sqlc.arg(tenant)
    order by n.tenant desc, n.id desc limit sqlc.arg(most)::integer) newest
  where newest.sim_id = any(sqlc.arg(sim_ids)::uuid[]) and newest.status not in ('PENDING', 'SUCCESS')
    and newest.type = 'collection')
)
select sqlc.embed(transactions) from found transactions;

-- name: LockPrompt :one
-- Locks a collection that is or was a prompt of the SIM: it waited for its payer, and not for an operator.
-- Waits for a worker that is settling it.
select t.id, t.tenant, t.due_at, coalesce(t.expires_at <= clock_time(c.stands_at, c.ahead, c.last_stamp),
  false)::boolean as expired, t.float_currency, t.sim_id, t.net_amount, t.commission, t.operator, t.country,
  t.request_hash, t.status, o.suspended
from transactions t join organizations o on o.tenant = t.tenant left join clocks c on c.tenant = t.tenant
where t.tenant = sqlc.arg(tenant) and t.id = sqlc.arg(id) and t.type = 'collection'
  and t.sim_id = sqlc.arg(sim_id)::uuid
  and not t.passthrough and t.expires_at is not null
for update of t;
