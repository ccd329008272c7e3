-- The console: the links and the sessions of people who look at a sandbox in a browser. In the tenant scope,
-- if nothing else is said.

-- name: LockConsole :exec
-- Links and sessions of a sandbox are added one after the other, so that they are counted.
select pg_advisory_xact_lock(hashtextextended('console', sqlc.arg(tenant)::bigint));

-- name: EndOldConsoleLinks :exec
-- After SortNothing. Leaves the newest links of a role, so that those of guests end no other.
delete from console_links l
where l.org_id = sqlc.arg(org_id) and l.hash in (
  select o.hash from console_links o where o.org_id = sqlc.arg(org_id) and o.role = sqlc.arg(role)
  order by o.created_at desc offset sqlc.arg(others)::integer);

-- name: AddConsoleLink :one
-- No row: the sandbox was reset meanwhile.
insert into console_links (org_id, hash, made_with, role, msisdn)
select o.org_id, sqlc.arg(hash), sqlc.arg(made_with), sqlc.arg(role), sqlc.narg(msisdn)::text
from organizations o where o.tenant = sqlc.arg(tenant)
returning expires_at;

-- name: UseConsoleLink :one
-- Ends a link. No row: it was used, it has ended, or its key has.
delete from console_links l
where l.org_id = sqlc.arg(org_id) and l.hash = sqlc.arg(hash) and l.expires_at > now()
  and api_key_is_valid(l.made_with)
returning l.made_with, l.role, l.msisdn;

-- name: EndConsoleLinks :exec
delete from console_links where org_id = sqlc.arg(org_id);

-- name: EndOldConsoleSessions :exec
-- After SortNothing. Leaves the newest sessions of a role, so that those of guests end no other.
delete from console_sessions s
where s.org_id = sqlc.arg(org_id) and s.hash in (
  select o.hash from console_sessions o where o.org_id = sqlc.arg(org_id) and o.role = sqlc.arg(role)
  order by o.created_at desc offset sqlc.arg(others)::integer);

-- name: AddConsoleSession :one
-- As AddConsoleLink.
insert into console_sessions (org_id, hash, session_id, made_with, role, msisdn)
select o.org_id, sqlc.arg(hash), sqlc.arg(session_id), sqlc.arg(made_with), sqlc.arg(role),
  sqlc.narg(msisdn)::text
from organizations o where o.tenant = sqlc.arg(tenant)
returning *;

-- name: ListConsoleSessions :many
-- After SortNothing. The newest first.
select * from console_sessions s
where s.org_id = sqlc.arg(org_id) and s.expires_at > now() and api_key_is_valid(s.made_with)
order by s.created_at desc;

-- name: EndConsoleSession :execrows
delete from console_sessions where org_id = sqlc.arg(org_id) and session_id = sqlc.arg(session_id);

-- name: EndConsoleSessions :exec
delete from console_sessions where org_id = sqlc.arg(org_id);

-- name: OpenConsoleSessions :many
-- Outside of the tenant scope, since the requests of strangers ask it: which of these sessions of all
-- sandboxes are open, with the tenants of their organizations. A lateral join with a limit forces an index
-- look-up for each.
select s.org_id, s.hash, s.session_id, s.made_with, s.role, s.msisdn, s.created_at, s.expires_at, o.tenant
from (
  select unnest(sqlc.arg(org_ids)::text[]) as org_id, unnest(sqlc.arg(hashes)::bytea[]) as hash) asked
cross join lateral (
  select * from console_sessions
  where org_id = asked.org_id and hash = asked.hash and expires_at > now() limit 1) s
cross join lateral (
  select tenant from organizations where org_id = s.org_id and retained_at is null limit 1) o
cross join lateral (
  select hash from api_keys
  where tenant = o.tenant and hash = s.made_with and (expires_at is null or expires_at > now()) limit 1) k;

-- name: OpenConsoleLinks :many
-- As OpenConsoleSessions: which of these links may open something.
select l.org_id, l.hash
from (
  select unnest(sqlc.arg(org_ids)::text[]) as org_id, unnest(sqlc.arg(hashes)::bytea[]) as hash) asked
cross join lateral (
  select org_id, hash from console_links
  where org_id = asked.org_id and hash = asked.hash and expires_at > now() limit 1) l;

-- name: SandboxHealth :one
-- Where the events of a sandbox go, and what waits or is pending, counted up to a bound. delivering tells
-- that an attempt ended in the last minute, in the time of the database, or is under way.
select coalesce(o.webhook_url, '')::text as webhook_url,
  (select count(*) from (
    select from events e where e.tenant = sqlc.arg(tenant) and e.due_at is not null
    limit sqlc.arg(most)::integer) w)::integer as waiting,
  waits.pending::integer as pending, waits.phones::integer as phones,
  (select count(*) from (
    select from transactions t where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and t.passthrough
    limit sqlc.arg(most)::integer) p)::integer as forwarded,
  (select t.due_at from transactions t
    where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and not t.passthrough
    order by t.tenant, t.due_at limit 1) as first_due_at,
  (select e.due_at from events e where e.tenant = sqlc.arg(tenant) and e.due_at is not null
    order by e.tenant, e.due_at limit 1) as event_due_at,
  (coalesce(h.changed_at > now() - interval '1 minute', false) or exists (
    select from (
      select e.leased and coalesce(e.leased_until, e.due_at) > now() as held from events e
      where e.tenant = sqlc.arg(tenant)
        and e.due_at > case when c.tenant is null then now() else '-infinity' end
      order by e.tenant, e.due_at limit sqlc.arg(most)::integer) first_due
    where first_due.held))::boolean as delivering
from organizations o
left join endpoint_health h on h.tenant = sqlc.arg(tenant)
left join clocks c on c.tenant = sqlc.arg(tenant)
cross join (select count(*) as pending, count(distinct p.sim_id) as phones from (
  select t.sim_id from transactions t
  where t.tenant = sqlc.arg(tenant) and t.status = 'PENDING' and not t.passthrough
  limit sqlc.arg(most)::integer) p) waits
where o.tenant = sqlc.arg(tenant);

-- name: NewestAttempts :many
-- The last attempts of the newest events.
select a.event_id, a.attempt, a.started_at, a.response_status, a.error from delivery_attempts a
where a.tenant = sqlc.arg(tenant)
order by a.tenant desc, a.event_id desc, a.attempt desc limit sqlc.arg(most);

-- name: SIMNames :many
select s.msisdn, s.name from sims s
where s.tenant = sqlc.arg(tenant) and s.msisdn = any(sqlc.arg(numbers)::text[]);

-- name: PartyNames :many
-- The names that the payers and the recipients of these transactions had at the time, looked up as in
-- DeliveryStates. There is no row for one that is gone, or has had another name since.
select t.id, t.name from unnest(sqlc.arg(ids)::uuid[]) asked (of_id)
cross join lateral (
  select tx.id, s.name from transactions tx
  join sims s on s.tenant = sqlc.arg(tenant) and s.sim_id = tx.sim_id
  where tx.tenant = sqlc.arg(tenant) and tx.id = asked.of_id
    and (s.named_from is null or s.named_from <= tx.id) limit 1) t;

-- name: OrdersOf :many
-- The orders, numbers and operators of these transactions, looked up as in DeliveryStates.
select t.id, t.order_ref, t.msisdn, t.operator from unnest(sqlc.arg(ids)::uuid[]) asked (of_id)
cross join lateral (
  select id, order_ref, msisdn, operator from transactions
  where tenant = sqlc.arg(tenant) and id = asked.of_id limit 1) t;

-- name: DeliveryStates :many
-- How far the events of these transactions are. A lateral join with a limit forces an index look-up for each.
select e.id, e.state, e.attempts from unnest(sqlc.arg(ids)::uuid[]) asked (of_id)
cross join lateral (
  select id, state, attempts from events where tenant = sqlc.arg(tenant) and id = asked.of_id limit 1) e;
