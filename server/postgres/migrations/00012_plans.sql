-- +goose Up

-- Plans that do not depend on statistics. A new or emptied database has none, and those of many small sandboxes mislead in a large one.
-- Postgres keeps the plan of a prepared statement while its connection lives, so that a plan from the first seconds stays. See decision 0048.
--
-- Every index that begins with tenant can serve a look-up of anything in that tenant, by reading all that the tenant has. Without
-- statistics Postgres finds each of them as good as the right one. So what a payment looks up has an index whose first key is the tenant and
-- the value together, which no other index serves. It is read through views. Row level security adds no condition on the tenant to them:
-- they have one themselves, in a form that serves no index.

-- Replaced by the index below: -- unused since v0.0
alter table transactions drop constraint transactions_reference;
-- Instead of the constraint above: -- unused since v0.0
create unique index transactions_reference on transactions ((tenant::text || ' ' || reference) collate "C", tenant);
-- Beside the constraint for lists: -- unused since v0.0
create unique index sims_number on sims ((tenant::text || msisdn) collate "C", tenant);

-- Where two indexes cost the same, as in an empty table, Postgres takes the one that was made last.
alter table transactions drop constraint transactions_pkey;
-- The same again: -- unused since v0.0
alter table transactions add constraint transactions_pkey primary key (tenant, id);

create view transactions_by_reference as
  select (t.tenant::text || ' ' || t.reference) collate "C" as reference_key, t.id
  from transactions t where t.tenant is not distinct from current_tenant();
create view sims_by_number as
  select (s.tenant::text || s.msisdn) collate "C" as number_key, s.sim_id, s.msisdn, s.operator, s.country, s.currency, s.blocked, s.balance,
    s.movements, s.changed_at
  from sims s where s.tenant is not distinct from current_tenant();

grant select on transactions_by_reference to cauri_tenant;
grant select (number_key, sim_id, msisdn, operator, country, currency, blocked, balance, movements), update (balance, movements, changed_at)
  on sims_by_number to cauri_tenant;

-- How many rows tenants have on average says nothing about one of them. Where Postgres knows nothing of a column, it takes a two-hundredth of
-- the table for each of its values, and it knows the size of the table.
-- +goose StatementBegin
do $$
declare t text;
begin
  for t in select c.table_name from information_schema.columns c join information_schema.tables using (table_schema, table_name)
      where c.table_schema = current_schema() and c.column_name = 'tenant' and table_type = 'BASE TABLE' loop
    execute format('alter table %I alter column tenant set statistics 0', t);
  end loop;
end $$;
-- +goose StatementEnd
