-- +goose Up

-- The proof of the ledger. A movement of a float is an adjustment or a transaction that succeeds, one of a SIM an adjustment or a
-- transaction that it pays or receives. Each has a number of its own, per float and per SIM, which is taken while the row of that balance is
-- locked: 1, 2, 3 and so on. So number n's balance is that of number n-1 and its own delta, no number is missing, and the balance after the
-- last one is the balance.

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
create trigger movement_without_number after update of status on transactions
  for each row when (new.status = 'SUCCESS' and new.merchant_number is null) execute function note_movement_without_number();

-- The movements of a float in the order of their numbers. What moves a SIM moves a float too.
create index transactions_movements on transactions (tenant, float_currency, merchant_number)
  where merchant_number is not null and status = 'SUCCESS';
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

-- The chain as a worker verified it last, of each float and SIM.
create table account_proofs (
  tenant         bigint not null,
  account        text not null, -- the currency of a float, or the sim_id of a SIM
  sim_id         uuid, -- null: of a float
  verified_up_to bigint not null, -- the number of a movement
  verified_at    timestamptz not null,
  balance        bigint not null, -- after that movement
  -- What moved it up to there.
  opening        bigint not null,
  adjustments    bigint not null, -- but the opening
  collections    bigint not null,
  refunds        bigint not null,
  disbursements  bigint not null,
  -- Where the chain does not hold: by how much the balance is more than the movements tell, after which number this was found, and before
  -- which: null, where the last movement or the balance itself is wrong.
  imbalance      bigint not null default 0,
  broken_after   bigint, -- null: it is balanced
  broken_before  bigint,
  primary key (tenant, account)
) with (fillfactor = 50);

-- The verification of a sandbox. No row: none took place yet.
create table ledger_proofs (
  tenant       bigint primary key,
  verified_at  timestamptz, -- what was recorded before is verified
  passed_at    timestamptz, -- of the last verification from the first movement on
  pass_due_at  timestamptz not null default now(), -- of the next one
  broken       integer not null default 0, -- accounts that are not balanced
  imbalance    bigint not null default 0,  -- of all of them, without the sign
  fence        bigint not null default 0,  -- of the lease; a worker with an older one has lost it
  leased_until timestamptz
) with (fillfactor = 50);

-- +goose StatementBegin
do $$
declare t text; p text;
begin
  foreach t in array array['account_proofs', 'ledger_proofs'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I to cauri_tenant using (tenant = current_tenant())', t);
    foreach p in array array['worker', 'controller'] loop
      execute format('create policy %s_reads on %I for select to cauri_%s using (true)', p, t, p);
      execute format('create policy %s_inserts on %I for insert to cauri_%s with check (true)', p, t, p);
      execute format('create policy %s_updates on %I for update to cauri_%s using (true)', p, t, p);
      execute format('create policy %s_deletes on %I for delete to cauri_%s
        using (tenant in (select r.tenant from retired_tenants r))', p, t, p);
    end loop;
  end loop;
  alter policy worker_deletes on account_proofs using (true);
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

-- The proofs and the entries that the API tells.
grant select (tenant, account, verified_up_to, verified_at, opening, adjustments, collections, refunds, disbursements, imbalance, broken_after,
  broken_before) on account_proofs to cauri_tenant;
grant select (broken) on ledger_proofs to cauri_tenant;
grant select (tenant, currency, sim_id, number, delta, balance_after, created_at) on adjustments to cauri_tenant;

grant select (passed_at, pass_due_at, tenant), insert (pass_due_at, tenant), update (pass_due_at) on ledger_proofs to cauri_tenant;

grant select, insert, update (adjustments, balance, broken_after, broken_before, collections, disbursements, imbalance, opening, refunds,
  verified_at, verified_up_to), delete on account_proofs to cauri_worker;
grant select, insert (fence, leased_until, tenant), update (broken, fence, imbalance, leased_until, pass_due_at, passed_at, verified_at),
  delete on ledger_proofs to cauri_worker;
grant select on adjustments to cauri_worker;

grant select (account, broken_after, broken_before, imbalance, sim_id, tenant), delete on account_proofs to cauri_controller;
grant select (broken, tenant, verified_at), delete on ledger_proofs to cauri_controller;
