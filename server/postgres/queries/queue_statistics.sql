-- The queue statistics: how much due work waits for the workers. Each scan skips from one sandbox with due
-- work to the next and reads one row of each. The counts are limited, so that a statement stays cheap when
-- much work waits. They leave out work that no worker may take: work of suspended and deleted sandboxes, work
-- of sandboxes in which the sweep failed, and events whose endpoint has failed for long. They leave out
-- sandboxes with a clock, whose time does not measure how long a row waits.

-- name: CountDueSettlements :one
with recursive due_tenants as (
  (select t.tenant, t.due_at from transactions t
   where t.status = 'PENDING' and not t.passthrough
   order by t.tenant, t.due_at limit 1)
  union all
  select following.tenant, following.due_at from due_tenants cross join lateral (
    select t.tenant, t.due_at from transactions t
    where t.tenant > due_tenants.tenant and t.status = 'PENDING' and not t.passthrough
    order by t.tenant, t.due_at limit 1) following
), late as materialized (
  select due_tenants.tenant, due_tenants.due_at from due_tenants
  join organizations o on o.tenant = due_tenants.tenant
  where due_tenants.due_at <= now() and not o.suspended and o.retained_at is null
    and not exists (select from clocks c where c.tenant = due_tenants.tenant)
    and not exists (select from sweep_failures p
      where p.tenant = due_tenants.tenant and p.sweep = 'settlement')
)
select coalesce(extract(epoch from now() - min(late.due_at)), 0)::float8 as oldest_seconds,
  count(*)::integer as sandboxes, (select count(*) from (
    select from late cross join lateral (
      select from transactions t
      where t.tenant = late.tenant and t.due_at <= now() and t.status = 'PENDING' and not t.passthrough
      limit 10000) due
    limit 100000) bounded)::integer as due
from late;

-- name: CountDueForwards :one
with recursive due_tenants as (
  (select t.tenant, t.due_at from transactions t
   where t.status = 'PENDING' and t.passthrough
   order by t.tenant, t.due_at limit 1)
  union all
  select following.tenant, following.due_at from due_tenants cross join lateral (
    select t.tenant, t.due_at from transactions t
    where t.tenant > due_tenants.tenant and t.status = 'PENDING' and t.passthrough
    order by t.tenant, t.due_at limit 1) following
), late as materialized (
  select due_tenants.tenant, due_tenants.due_at from due_tenants
  join organizations o on o.tenant = due_tenants.tenant
  where due_tenants.due_at <= now() and not o.suspended and o.retained_at is null
    and not exists (select from clocks c where c.tenant = due_tenants.tenant)
    and not exists (select from sweep_failures p
      where p.tenant = due_tenants.tenant and p.sweep = 'passthrough')
)
select coalesce(extract(epoch from now() - min(late.due_at)), 0)::float8 as oldest_seconds,
  count(*)::integer as sandboxes, (select count(*) from (
    select from late cross join lateral (
      select from transactions t
      where t.tenant = late.tenant and t.due_at <= now() and t.status = 'PENDING' and t.passthrough
      limit 10000) due
    limit 100000) bounded)::integer as due
from late;

-- name: CountDueEvents :one
with recursive due_tenants as (
  (select e.tenant, e.due_at from events e
   where e.due_at is not null
   order by e.tenant, e.due_at limit 1)
  union all
  select following.tenant, following.due_at from due_tenants cross join lateral (
    select e.tenant, e.due_at from events e
    where e.tenant > due_tenants.tenant and e.due_at is not null
    order by e.tenant, e.due_at limit 1) following
), late as materialized (
  select due_tenants.tenant, due_tenants.due_at from due_tenants
  join organizations o on o.tenant = due_tenants.tenant
  where due_tenants.due_at <= now() and not o.suspended and o.retained_at is null
    and not exists (select from clocks c where c.tenant = due_tenants.tenant)
    and not exists (select from sweep_failures p where p.tenant = due_tenants.tenant and p.sweep = 'delivery')
    and not exists (select from endpoint_health h
      where h.tenant = due_tenants.tenant and h.probe_at is not null)
)
select coalesce(extract(epoch from now() - min(late.due_at)), 0)::float8 as oldest_seconds,
  count(*)::integer as sandboxes, (select count(*) from (
    select from late cross join lateral (
      select from events e where e.tenant = late.tenant and e.due_at <= now() limit 10000) due
    limit 100000) bounded)::integer as due
from late;

-- name: CountDueCallbacks :one
-- A leased callback keeps its due time, unlike an event, so its lease is compared too.
with recursive due_tenants as (
  (select n.tenant, n.due_at from native_callbacks n
   where n.due_at is not null and (n.leased_until is null or n.leased_until <= now())
   order by n.tenant, n.due_at limit 1)
  union all
  select following.tenant, following.due_at from due_tenants cross join lateral (
    select n.tenant, n.due_at from native_callbacks n
    where n.tenant > due_tenants.tenant and n.due_at is not null
      and (n.leased_until is null or n.leased_until <= now())
    order by n.tenant, n.due_at limit 1) following
), late as materialized (
  select due_tenants.tenant, due_tenants.due_at from due_tenants
  join organizations o on o.tenant = due_tenants.tenant
  where due_tenants.due_at <= now() and not o.suspended and o.retained_at is null
    and not exists (select from clocks c where c.tenant = due_tenants.tenant)
    and not exists (select from sweep_failures p
      where p.tenant = due_tenants.tenant and p.sweep = 'callbacks')
)
select coalesce(extract(epoch from now() - min(late.due_at)), 0)::float8 as oldest_seconds,
  count(*)::integer as sandboxes, (select count(*) from (
    select from late cross join lateral (
      select from native_callbacks n
      where n.tenant = late.tenant and n.due_at <= now()
        and (n.leased_until is null or n.leased_until <= now()) limit 10000) due
    limit 100000) bounded)::integer as due
from late;

-- name: CountConsoleSessions :one
-- Of all sandboxes, by the index of retention alone.
select count(*)::integer from (
  select from console_sessions s where s.expires_at > now() limit 100000) bounded;

-- name: CountFailingEndpoints :one
select count(*)::integer from endpoint_health h
where h.probe_at is not null and not exists (select from clocks c where c.tenant = h.tenant);
