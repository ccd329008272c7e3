-- +goose Up

-- No balance comes near the limit of its type, so that adding to one never fails. 10^15 is a thousand times the largest amount, and
-- a whole number that every JSON reader keeps. See payments.MaxBalance. A balance that somebody has set beyond it by hand is
-- lowered, as an adjustment.
insert into adjustments (tenant, currency, delta, balance_after)
  select tenant, currency, 1000000000000000 - balance, 1000000000000000 from floats where balance > 1000000000000000;
update floats set balance = 1000000000000000, changed_at = now() where balance > 1000000000000000;
insert into adjustments (tenant, sim_id, delta, balance_after)
  select tenant, sim_id, 1000000000000000 - balance, 1000000000000000 from sims where balance > 1000000000000000;
update sims set balance = 1000000000000000, changed_at = now() where balance > 1000000000000000;
alter table floats add constraint floats_balance_bound check (balance <= 1000000000000000);
alter table sims add constraint sims_balance_bound check (balance <= 1000000000000000);

-- +goose Down
alter table sims drop constraint sims_balance_bound;
alter table floats drop constraint floats_balance_bound;
