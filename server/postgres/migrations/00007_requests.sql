-- +goose Up

-- What callers asked and were answered, of each sandbox: the last requests that failed, the last failed authentications, and the last
-- ones that succeeded while somebody watched. The api writes what may be kept of them, which no credential is part of, and removes
-- what is too many.
create table requests (
  tenant        bigint not null,
  id            uuid not null, -- sorts by the time of the answer
  kind          text not null check (kind in ('failed', 'succeeded', 'unauthenticated')),
  received_at   timestamptz not null,
  method        text not null,
  path          text not null,
  query         json,
  status        integer, -- null: the connection was closed without an answer
  error         text,
  request_id    text,
  fault         text, -- name of the declared fault that acted
  request_body  json,
  response_body json,
  not_kept      json, -- names of what else the request had
  primary key (tenant, id)
);

-- Until then whatever is asked is kept, not only what failed. A part of the configuration, so that every api knows.
alter table organizations add column watched_until timestamptz;

-- Marks the sandbox in whose scope it is called as watched for ten minutes, and tells until when it is. A mark that has five minutes left
-- stays, so that who watches changes the configuration every five minutes at most. This mark is the only configuration that the api
-- writes.
-- +goose StatementBegin
create function watch_sandbox() returns timestamptz language plpgsql security definer as $$
declare
  marked timestamptz;
begin
  select watched_until into marked from organizations where tenant = current_tenant() and retained_at is null for update;
  if not found or marked > now() + interval '5 minutes' then
    return marked;
  end if;
  marked := now() + interval '10 minutes';
  update config_version set version = version + 1;
  update organizations set watched_until = marked, version = (select version from config_version) where tenant = current_tenant();
  return marked;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
declare p text;
begin
  execute format('alter function watch_sandbox() set search_path = %I, pg_temp', current_schema());
  revoke execute on function watch_sandbox() from public;
  grant execute on function watch_sandbox() to cauri_tenant;

  alter table requests enable row level security;
  create policy tenant on requests to cauri_tenant using (tenant = current_tenant());
  create policy api on requests to cauri_api using (true); -- written together for all sandboxes
  foreach p in array array['worker', 'controller'] loop
    execute format('create policy %s_reads on requests for select to cauri_%s using (true)', p, p);
    execute format('create policy %s_deletes on requests for delete to cauri_%s
      using (tenant in (select r.tenant from retired_tenants r))', p, p);
  end loop;
end $$;
-- +goose StatementEnd

grant select on requests to cauri_tenant;
grant select (id, kind, tenant), insert, delete on requests to cauri_api;
grant select (watched_until) on organizations to cauri_api;
grant select (tenant), delete on requests to cauri_worker;
grant select (tenant), delete on requests to cauri_controller;
