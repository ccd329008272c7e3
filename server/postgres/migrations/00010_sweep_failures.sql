-- +goose Up

-- What the workers could not do in one sandbox alone, although the database serves. The sandbox waits, for longer after each failure,
-- and the others go on.
create table sweep_failures (
  tenant        bigint not null,
  sweep         text not null, -- settlement, delivery, passthrough
  failures      integer not null default 1, -- in a row
  failing_since timestamptz not null default now(),
  retry_at      timestamptz not null,
  error         text not null,
  primary key (tenant, sweep)
) with (fillfactor = 50);

alter table sweep_failures enable row level security;
create policy tenant on sweep_failures to cauri_tenant using (tenant = current_tenant());
create policy worker on sweep_failures to cauri_worker using (true);
create policy controller_reads on sweep_failures for select to cauri_controller using (true);
create policy controller_deletes on sweep_failures for delete to cauri_controller using (tenant in (select r.tenant from retired_tenants r));
grant select (tenant, sweep, failures, retry_at, error), insert (tenant, sweep, retry_at, error), update (failures, retry_at, error), delete
  on sweep_failures to cauri_worker;
grant select, delete on sweep_failures to cauri_controller;

-- +goose Down
drop table sweep_failures;
