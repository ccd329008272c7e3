-- +goose Up

alter table organizations add column faults jsonb; -- the declared faults, as in the resource; null: none

-- The names of the faults that acted, in the order in which they acted first.
alter table transactions add column faults text[];
alter table delivery_attempts add column faults text[];

-- How often each fault acted: `first` is counted here, under the row's lock.
create table fault_counts (
  tenant  bigint not null,
  name    text not null,
  digest  bytea not null, -- of the fault's entry: a changed one begins anew
  acts    bigint not null default 0,
  draws   bigint not null default 0, -- of `percent`, at places without a reference
  last_at timestamptz, -- of the last act, in sandbox time
  primary key (tenant, name)
) with (fillfactor = 50);

-- References for which a fault acted that acts once for each.
create table fault_acts (
  tenant    bigint not null,
  name      text not null,
  reference text not null,
  primary key (tenant, name, reference)
);

-- How often requests with a reference came, in sandboxes with faults that ask for it.
create table fault_requests (
  tenant    bigint not null,
  reference text not null,
  requests  integer not null default 1,
  primary key (tenant, reference)
) with (fillfactor = 50);

-- +goose StatementBegin
do $$
declare t text; p text;
begin
  foreach t in array array['fault_counts', 'fault_acts', 'fault_requests'] loop
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
end $$;
-- +goose StatementEnd

grant select (faults) on organizations to cauri_api;
grant select, insert on fault_acts to cauri_tenant, cauri_worker;
grant select, insert (digest, name, tenant), update (acts, digest, draws, last_at) on fault_counts to cauri_tenant, cauri_worker;
grant select (acts, last_at, name, tenant) on fault_counts to cauri_controller;
grant select, insert (reference, tenant), update (requests) on fault_requests to cauri_tenant;
