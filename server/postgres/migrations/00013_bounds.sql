-- +goose Up

-- What a sandbox is filled with, and how often it is emptied, has a bound.

-- The last five resets by the API, the last one first, in the time of the database.
alter table organizations add column api_resets timestamptz[] not null default '{}';

-- As in 00010, at most five times in a second: it returns 0 for one more, which does nothing.
-- +goose StatementBegin
create or replace function reset_sandbox() returns bigint language plpgsql security definer as $$
declare
  former bigint := current_tenant();
  present bigint;
  resets timestamptz[];
begin
  select api_resets into resets from organizations where tenant = former and retained_at is null and api_reset and not suspended for update;
  if not found then
    return null;
  end if;
  if resets[5] between clock_timestamp() - interval '1 second' and clock_timestamp() then
    return 0;
  end if;
  present := nextval('tenant_numbers');
  update organizations set tenant = present, clocked = (clock_mode = 'Manual'), api_resets = (clock_timestamp() || resets)[1:5]
    where tenant = former;
  insert into clocks (tenant, stands_at)
    select present, coalesce(o.clock_start, now()) from organizations o where o.tenant = present and o.clocked;
  update environments set tenant = present where tenant = former;
  update stores set tenant = present where tenant = former;
  update api_keys set tenant = present where tenant = former;
  update operator_credentials set tenant = present where tenant = former;
  -- Copied, and not moved: payments of the old tenant that are being booked hold locks on these rows.
  insert into floats (tenant, currency, balance, opening, movements)
    select present, f.currency, f.opening, f.opening, 1 from floats f where f.tenant = former;
  insert into sims (tenant, sim_id, generation, name, msisdn, operator, country, currency, blocked, behaviour, balance, opening,
      movements)
    select present, s.sim_id, s.generation, s.name, s.msisdn, s.operator, s.country, s.currency, s.blocked, s.behaviour, s.opening, s.opening, 1
    from sims s where s.tenant = former and s.source = 'resource';
  insert into adjustments (tenant, currency, delta, balance_after, number)
    select present, f.currency, f.balance, f.balance, 1 from floats f where f.tenant = present;
  insert into adjustments (tenant, sim_id, delta, balance_after, number)
    select present, s.sim_id, s.balance, s.balance, 1 from sims s where s.tenant = present;
  update config_version set version = version + 1;
  update organizations set version = (select version from config_version) where tenant = present;
  insert into retired_tenants (tenant, resource_uid, version) select former, resource_uid, version from organizations where tenant = present;
  return present;
end $$;
-- +goose StatementEnd

-- A function that is replaced keeps its grants, and loses its settings. In the tenant scope, where no plan is to read a whole table, the one
-- row of config_version looks so expensive that Postgres compiles what reads it, for a second.
-- +goose StatementBegin
do $$
declare f text;
begin
  execute format('alter function reset_sandbox() set search_path = %I, pg_temp', current_schema());
  foreach f in array array['reset_sandbox', 'start_clock', 'watch_sandbox', 'follow_sandbox'] loop
    execute format('alter function %I() set jit = off', f);
  end loop;
end $$;
-- +goose StatementEnd

-- The purge looks for what it has not removed yet, and for what was retired long ago.
create index retired_tenants_unpurged on retired_tenants (retired_at) where purged_at is null;
create index retired_tenants_purged on retired_tenants (retired_at) where purged_at is not null;

-- Tokens are removed by their age, and a sandbox keeps its newest ones. The second index is a partial one, with a condition that holds for all
-- rows, so that a look-up of a token never takes it in place of the primary key.
create index native_tokens_aged on native_tokens (created_at);
create index native_tokens_newest on native_tokens (tenant, created_at) where created_at > '-infinity';

-- What faults remember of references is removed by its age, in the time of the database.
alter table fault_acts add column acted_at timestamptz not null default now();
create index fault_acts_aged on fault_acts (acted_at);
alter table fault_requests add column counted_at timestamptz not null default now();
create index fault_requests_aged on fault_requests (counted_at);

alter policy worker_deletes on native_tokens using (true);
alter policy worker_deletes on fault_acts using (true);
alter policy worker_deletes on fault_requests using (true);

-- A user of an operator's own API ends with the key that it was made with. Whether a key of the sandbox is valid is all that a tenant learns of
-- its keys.
-- +goose StatementBegin
create function api_key_is_valid(key_hash bytea) returns boolean language sql stable security definer as $$
  select exists (select from api_keys k where k.tenant = current_tenant() and k.hash = key_hash and (k.expires_at is null or k.expires_at > now()))
$$;
-- +goose StatementEnd
-- +goose StatementBegin
do $$
begin
  execute format('alter function api_key_is_valid(bytea) set search_path = %I, pg_temp', current_schema());
  revoke execute on function api_key_is_valid(bytea) from public;
  grant execute on function api_key_is_valid(bytea) to cauri_tenant;
end $$;
-- +goose StatementEnd
grant delete on native_users to cauri_tenant;
grant select (created_at, hash) on native_tokens to cauri_worker;
grant select (counted_at) on fault_requests to cauri_worker;
