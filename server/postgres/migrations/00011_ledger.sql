-- +goose Up

-- The proof of the ledger. A movement is a change of a balance: a transaction whose delta is not 0, or an adjustment. Each has a number of
-- its own, per float and per SIM, which is taken while the row of that balance is locked: 1, 2, 3 and so on. So number n's balance is that
-- of number n-1 and its own delta, no number is missing, and the balance after the last one is the balance.

alter table floats add column movements bigint not null default 0; -- the number of its last movement
alter table sims add column movements bigint not null default 0;

-- Null: what was there before there were numbers. 0: it moved nothing, or a release that knows no numbers moved it. Both columns of a
-- transaction are null, or neither.
alter table transactions add column merchant_number bigint, alter column merchant_number set default 0;
alter table transactions add column sim_number bigint, alter column sim_number set default 0;
alter table adjustments add column number bigint, alter column number set default 0;

-- A collection that was pending before there were numbers, and is settled by a release that knows none. Whatever moves from now on is not
-- null, so that what is null never changes any more.
-- +goose StatementBegin
create function note_movement_without_number() returns trigger language plpgsql as $$
begin
  update transactions set merchant_number = 0, sim_number = 0 where tenant = new.tenant and id = new.id;
  return null;
end $$;
-- +goose StatementEnd
create trigger movement_without_number after update of merchant_delta on transactions
  for each row when (new.merchant_delta <> 0 and new.merchant_number is null) execute function note_movement_without_number();

-- The movements of a float in the order of their numbers. What moves a SIM moves a float too.
create index transactions_movements on transactions (tenant, float_currency, merchant_number)
  where merchant_number is not null and merchant_delta <> 0;
create index transactions_sim_movements on transactions (tenant, sim_id, sim_number) where sim_number is not null and sim_delta <> 0;
create index adjustments_of_floats on adjustments (tenant, currency, number) where currency is not null;
create index adjustments_of_sims on adjustments (tenant, sim_id, number) where sim_id is not null;

-- As in 00004, with the numbers: the opening of each balance is its first movement.
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

-- A function that is replaced keeps its grants, and loses its settings.
-- +goose StatementBegin
do $$
begin
  execute format('alter function reset_sandbox() set search_path = %I, pg_temp', current_schema());
end $$;
-- +goose StatementEnd

grant select (movements), update (movements) on floats to cauri_tenant, cauri_worker;
grant insert (movements), update (movements) on floats to cauri_controller;
grant insert (movements), update (movements) on sims to cauri_tenant;
grant update (movements) on sims to cauri_worker;
grant insert (movements), update (movements) on sims to cauri_controller;
grant insert (merchant_number, sim_number), update (merchant_number, sim_number) on transactions to cauri_tenant;
grant update (merchant_number, sim_number) on transactions to cauri_worker;
grant insert (number) on adjustments to cauri_tenant, cauri_controller;

-- The entries that the API tells.
grant select (tenant, currency, sim_id, number, delta, balance_after, created_at) on adjustments to cauri_tenant;
