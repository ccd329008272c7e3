-- +goose NO TRANSACTION
-- +goose Up

-- Lists at any size. An index is made beside everything that goes on; one that an interrupted attempt left behind is not valid.
drop index concurrently if exists transactions_listed;
create index concurrently transactions_listed on transactions (tenant, status, type, operator, country, id);

-- What a page of a list is looked for by. It is a wall of its own: row level security keeps every comparison of a status or a type,
-- which Postgres does not know to be discreet, from using an index. Its rows are those of the tenant whatever a WHERE says.
create or replace view transaction_lanes as
  select tenant, id, status, type, operator, country, store, msisdn, created_at from transactions where tenant = current_tenant();
grant select on transaction_lanes to cauri_tenant;

-- +goose Down
drop view transaction_lanes;
drop index concurrently transactions_listed;
