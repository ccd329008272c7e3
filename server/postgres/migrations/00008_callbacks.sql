-- +goose Up

-- Callbacks of the operators' own APIs are events: they are listed, their attempts are kept, and they can be sent again. A request with a
-- state has one.
alter table native_requests add column body bytea; -- of the callback, as each attempt sends it; null: it was neither sent nor shown
create index native_requests_called on native_requests (tenant, id) where state is not null;
create index native_requests_failed on native_requests (tenant, id) where state = 'failed';

-- As delivery_attempts, for callbacks.
create table callback_attempts (
  tenant          bigint not null,
  id              uuid not null, -- of the request
  attempt         integer not null, -- from 1
  started_at      timestamptz not null,
  duration_ms     integer not null,
  response_status integer, -- null: no answer came
  response_body   bytea,   -- the first 4 KiB
  error           text,    -- null: acknowledged
  faults          text[],  -- names of those that acted
  primary key (tenant, id, attempt)
);

-- +goose StatementBegin
do $$
declare p text;
begin
  alter table callback_attempts enable row level security;
  create policy tenant on callback_attempts to cauri_tenant using (tenant = current_tenant());
  foreach p in array array['worker', 'controller'] loop
    execute format('create policy %s_reads on callback_attempts for select to cauri_%s using (true)', p, p);
    execute format('create policy %s_inserts on callback_attempts for insert to cauri_%s with check (true)', p, p);
    execute format('create policy %s_updates on callback_attempts for update to cauri_%s using (true)', p, p);
    execute format('create policy %s_deletes on callback_attempts for delete to cauri_%s
      using (tenant in (select r.tenant from retired_tenants r))', p, p);
  end loop;
  alter policy worker_deletes on callback_attempts using (true); -- those of old callbacks
end $$;
-- +goose StatementEnd

grant select on callback_attempts to cauri_tenant;
grant select (attempts, body, delivered_at, fence, last_error, last_status, leased_until, state), update (body, delivered_at, fence,
  leased_until) on native_requests to cauri_tenant;
grant select (attempt, id, tenant), insert (attempt, duration_ms, error, id, response_body, response_status, started_at, tenant), delete
  on callback_attempts to cauri_worker;
grant select (body), update (body) on native_requests to cauri_worker;
grant select (attempt, id, tenant), delete on callback_attempts to cauri_controller;
