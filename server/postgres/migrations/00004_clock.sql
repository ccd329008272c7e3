-- +goose Up

-- The clock of a sandbox. A sandbox without a row has the time of the database.
--
-- Times of a sandbox's rows are in sandbox time, and nothing writes them again when the time moves. Leases, rate limits, keys, retention
-- and cleaning are in the time of the database.
create table clocks (
  tenant          bigint primary key,
  stands_at       timestamptz, -- sandbox time, where the clock stands: it is manual, or it is being advanced
  ahead           interval not null default '0', -- else sandbox time is the time of the database and this
  last_stamp      timestamptz not null default '-infinity', -- of what was recorded last: sandbox time is never before it
  target          timestamptz, -- of the advance that is under way
  advance         bigint not null default 0, -- number of the present advance, or of the last one: who waits for it sees its end
  fence           bigint not null default 0, -- of the lease; a worker with an older one has lost it
  leased_until    timestamptz, -- in the time of the database: of the worker that advances the clock
  settled         bigint not null default 0, -- by this advance
  expired         bigint not null default 0,
  delivered       bigint not null default 0,
  failed_attempts bigint not null default 0,
  ended           bigint[] not null default '{}' -- of the last advances that reached their target: number and counts, five each, the last first
) with (fillfactor = 50);

alter table organizations add column clocked boolean not null default false; -- it has a row in clocks
alter table organizations add column clock_mode text not null default 'Real'; -- or Manual
alter table organizations add column clock_start timestamptz; -- of a manual clock, at creation and after each reset; null: the present
alter table organizations add column seed bigint; -- of what is drawn; null: it is drawn by chance

-- The lease of a sandbox with a clock. Where there is none, due_at is the end of the lease, as before.
alter table events add column leased_until timestamptz;
alter table transactions add column leased_until timestamptz;
-- In the time of the database, for what is removed by age.
alter table events add column recorded_at timestamptz not null default now();
-- The operator's number of a transaction that was drawn from the seed. Null: it follows from the id.
alter table transactions add column provider_tx_id text;

-- Sandbox time of a clock; where there is none, in a left join, the time of the database.
-- +goose StatementBegin
create function clock_time(stands_at timestamptz, ahead interval, last_stamp timestamptz) returns timestamptz language sql stable parallel safe
  return greatest(coalesce(stands_at, now() + ahead, now()), last_stamp);
-- +goose StatementEnd

-- Sandbox time of a tenant.
-- +goose StatementBegin
create function sandbox_time(of_tenant bigint) returns timestamptz language sql stable parallel safe as $$
  select clock_time(c.stands_at, c.ahead, c.last_stamp) from (select) one left join clocks c on c.tenant = of_tenant
$$;
-- +goose StatementEnd

-- What is recorded in a sandbox with a clock takes a stamp before, under the lock of the clock's row, so that ids and times rise in the
-- order of recording. It holds for the database transaction.
-- +goose StatementBegin
create function recording_time() returns timestamptz language sql stable parallel safe
  return coalesce(nullif(current_setting('cauri.stamp', true), '')::timestamptz, now());
-- +goose StatementEnd

-- An id with the time of the recording: its first seven bytes are microseconds since the Unix epoch.
-- +goose StatementBegin
create function recording_id(id uuid) returns uuid language sql stable parallel safe
  return (lpad(to_hex((extract(epoch from recording_time()) * 1000000)::bigint), 14, '0') || substr(replace(id::text, '-', ''), 15))::uuid;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
declare p text;
begin
  alter table clocks enable row level security;
  create policy tenant on clocks to cauri_tenant using (tenant = current_tenant());
  foreach p in array array['worker', 'controller'] loop
    execute format('create policy %s_reads on clocks for select to cauri_%s using (true)', p, p);
    execute format('create policy %s_inserts on clocks for insert to cauri_%s with check (true)', p, p);
    execute format('create policy %s_updates on clocks for update to cauri_%s using (true)', p, p);
    execute format('create policy %s_deletes on clocks for delete to cauri_%s
      using (tenant in (select r.tenant from retired_tenants r))', p, p);
  end loop;
end $$;
-- +goose StatementEnd

-- As in 00003, with the clock: a manual one starts again, a real one shows the time of the database.
-- +goose StatementBegin
create or replace function reset_sandbox() returns bigint language plpgsql security definer as $$
declare
  former bigint := current_tenant();
  present bigint;
begin
  perform from organizations where tenant = former and retained_at is null and api_reset and not suspended for update;
  if not found then
    return null;
  end if;
  present := nextval('tenant_numbers');
  update organizations set tenant = present, clocked = (clock_mode = 'Manual') where tenant = former;
  insert into clocks (tenant, stands_at)
    select present, coalesce(o.clock_start, now()) from organizations o where o.tenant = present and o.clocked;
  update environments set tenant = present where tenant = former;
  update stores set tenant = present where tenant = former;
  update api_keys set tenant = present where tenant = former;
  update operator_credentials set tenant = present where tenant = former;
  -- Copied, and not moved: payments of the old tenant that are being booked hold locks on these rows.
  insert into floats (tenant, currency, balance, opening)
    select present, f.currency, f.opening, f.opening from floats f where f.tenant = former;
  insert into sims (tenant, sim_id, generation, name, msisdn, operator, country, currency, blocked, behaviour, balance, opening)
    select present, s.sim_id, s.generation, s.name, s.msisdn, s.operator, s.country, s.currency, s.blocked, s.behaviour, s.opening, s.opening
    from sims s where s.tenant = former and s.source = 'resource';
  insert into adjustments (tenant, currency, delta, balance_after)
    select present, f.currency, f.balance, f.balance from floats f where f.tenant = present;
  insert into adjustments (tenant, sim_id, delta, balance_after)
    select present, s.sim_id, s.balance, s.balance from sims s where s.tenant = present;
  update config_version set version = version + 1;
  update organizations set version = (select version from config_version) where tenant = present;
  insert into retired_tenants (tenant, resource_uid, version) select former, resource_uid, version from organizations where tenant = present;
  return present;
end $$;
-- +goose StatementEnd

-- A function that is replaced keeps its grants, and loses its settings.
-- +goose StatementBegin
do $$
begin
  execute format('alter function reset_sandbox() set search_path = %I, pg_temp', current_schema());
end $$;
-- +goose StatementEnd

grant select (ahead, last_stamp, stands_at, target, tenant), insert (stands_at, tenant), update (ahead, stands_at), delete on clocks to
  cauri_controller;
grant select (tenant), delete on clocks to cauri_worker;
grant insert (clock_mode, clock_start, clocked, seed), update (clock_mode, clock_start, clocked, seed) on organizations to cauri_controller;
grant select (clock_mode, clocked, seed) on organizations to cauri_api;
grant select (ahead, last_stamp, stands_at, tenant), update (last_stamp) on clocks to cauri_tenant;
grant insert (created_at), update (leased_until) on events to cauri_tenant;
grant insert (created_at), update (provider_tx_id) on transactions to cauri_tenant;
grant select (clocked) on organizations to cauri_tenant;

create index clocks_advanced on clocks (tenant) where target is not null;

-- Gives the sandbox in whose scope it is called a clock of its own, which shows the time of the database until it is moved. The api has no
-- right to the configuration: it may call the function, which changes just this. With the version, nothing is recorded any more by who
-- does not know that there is a clock.
-- +goose StatementBegin
create function start_clock() returns void language plpgsql security definer as $$
declare
  of_tenant bigint := current_tenant();
  known boolean;
begin
  select clocked into known from organizations where tenant = of_tenant and retained_at is null for update;
  if not found then
    return;
  end if;
  insert into clocks (tenant) values (of_tenant) on conflict do nothing;
  if known then
    return;
  end if;
  update config_version set version = version + 1;
  update organizations set clocked = true, version = (select version from config_version) where tenant = of_tenant;
end $$;

-- It runs with the rights of the owner of the tables, so nobody's search_path decides which tables these are.
do $$
begin
  execute format('alter function start_clock() set search_path = %I, pg_temp', current_schema());
  revoke execute on function start_clock() from public;
  grant execute on function start_clock() to cauri_tenant;
end $$;
-- +goose StatementEnd

grant select (advance, ended, target), update (advance, delivered, expired, failed_attempts, leased_until, settled, target) on clocks
  to cauri_tenant;
grant select (probe_at) on endpoint_health to cauri_tenant;
grant select, update (ahead, delivered, ended, expired, failed_attempts, fence, last_stamp, leased_until, settled, stands_at, target)
  on clocks to cauri_worker;
grant select (leased, leased_until) on events to cauri_worker;
grant select (clock_mode) on organizations to cauri_worker;
grant select (recorded_at), insert (created_at), update (leased_until) on events to cauri_worker;
grant update (leased_until) on transactions to cauri_worker;
