-- +goose Up

-- The operators' own APIs. What they record are rows of transactions like all others. The request_hash of such a row is the name of the
-- call and no hash: no request of /v1 repeats it.

-- What the operators' own APIs accept beside the API key, which all of it follows from: identifiers, and hashes of what is secret.
alter table api_keys add column native jsonb;

-- The order of the resource: a request of an operator's API names no store, and not always an environment. The first is meant.
alter table stores add column place integer not null default 0;
alter table environments add column place integer not null default 0;
alter table environments add column vague boolean not null default false; -- failures are told without their reason
alter table environments add column quirks jsonb not null default '{}';
alter table organizations add column callback_hosts text[]; -- patterns; null: as by default
alter table organizations add column webhook_host text not null default ''; -- of webhook_url; empty: there is none

-- A request of an operator's own API that was recorded as the transaction with the same id, and the callback that it owes. The row is
-- the callback's own queue entry, as in events.
create table native_requests (
  tenant       bigint not null,
  due_at       timestamptz, -- of the callback, in sandbox time; null: nothing to do
  leased_until timestamptz, -- in the time of the database
  fence        bigint not null default 0, -- of the lease; a worker with an older one has lost it
  delivered_at timestamptz,
  attempts     integer not null default 0,
  last_status  integer, -- that the last attempt was answered with; null: no answer came
  id           uuid not null,
  operation    text not null, -- of the operator's API
  sent         json not null, -- what the operator's answers repeat, in its package's own form
  callback_url text, -- null: no callback was asked for
  state        event_state, -- of the callback; null: it is not due yet, or none was asked for
  last_error   text,
  primary key (tenant, id)
) with (fillfactor = 80);
create index native_requests_due on native_requests (tenant, due_at) where due_at is not null;

-- Users that were made through an operator's own API. They end with the API key that they were made with, and with a reset.
create table native_users (
  tenant        bigint not null,
  operator      text not null,
  user_id       uuid not null,
  made_with     bytea not null, -- hash of the API key
  secret_hash   bytea, -- null: it has none yet
  callback_host text not null,
  primary key (tenant, operator, user_id)
);

-- Access tokens of the operators' own APIs.
create table native_tokens (
  tenant        bigint not null,
  hash          bytea not null,
  operator      text not null,
  product       text not null,
  user_id       text not null,
  made_with     bytea not null, -- hash of the API key
  callback_host text not null, -- of the user; empty: any that the sandbox allows
  expires_at    timestamptz not null, -- in sandbox time
  created_at    timestamptz not null default now(), -- in the time of the database
  primary key (tenant, hash)
);

-- +goose StatementBegin
do $$
declare t text; p text;
begin
  foreach t in array array['native_requests', 'native_users', 'native_tokens'] loop
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
  alter policy worker_deletes on native_requests using (true); -- those whose events are old
end $$;
-- +goose StatementEnd

grant select (callback_url, due_at, id, sent, tenant), insert (callback_url, due_at, id, operation, sent, state, tenant),
  update (due_at, state) on native_requests to cauri_tenant;
grant select, insert (callback_host, expires_at, hash, made_with, operator, product, tenant, user_id), delete on native_tokens to
  cauri_tenant;
grant select, insert (callback_host, made_with, operator, tenant, user_id), update (secret_hash) on native_users to cauri_tenant;

grant select (native) on api_keys to cauri_api;
grant select (callback_hosts, webhook_host) on organizations to cauri_api;

grant select (ahead, last_stamp, stands_at, target, tenant) on clocks to cauri_worker;
grant select (env_id, vague) on environments to cauri_worker;
grant select (attempts, callback_url, due_at, fence, id, leased_until, sent, tenant), update (attempts, delivered_at, due_at, fence,
  last_error, last_status, leased_until, state), delete on native_requests to cauri_worker;
grant select (tenant), delete on native_tokens to cauri_worker;
grant select (tenant), delete on native_users to cauri_worker;
grant select (callback_hosts, clocked, namespace, webhook_host) on organizations to cauri_worker;

grant select (native), insert (native), update (native) on api_keys to cauri_controller;
grant insert (place, quirks, vague), update (place, quirks, vague) on environments to cauri_controller;
grant select (id, tenant), delete on native_requests to cauri_controller;
grant select (tenant), delete on native_tokens to cauri_controller;
grant select (tenant), delete on native_users to cauri_controller;
grant insert (callback_hosts, webhook_host), update (callback_hosts, webhook_host) on organizations to cauri_controller;
grant insert (place), update (place) on stores to cauri_controller;

-- As in 00005, with what only the operators' own APIs need. A sandbox that says nothing of them, with one environment and one store, keeps
-- its fingerprint until its key has their credentials.
-- +goose StatementBegin
create or replace function sandbox_fingerprints() returns table (tenant bigint, fingerprint text) language sql stable parallel safe as $$
  select o.tenant, md5(concat_ws(chr(10),
    row(o.org_id, o.namespace, o.name, o.latency_percent, o.monthly_quota, o.rate_limit, o.pending_timeout_ms, o.suspended, o.reset),
    row(o.webhook_url, o.webhook_max_retries, o.webhook_initial_delay_ms, o.webhook_factor, o.webhook_max_delay_ms, o.webhook_types),
    row(o.key_rotation, o.secret_rotation, o.signing_secret is null, o.previous_secret is null, o.previous_secret_until <= now(),
      cardinality(o.older_secrets), (select count(*) from unnest(o.older_secrets_until) older_until where older_until <= now())),
    e.parts, '', s.parts, '', f.parts, '', k.parts, '', c.parts, 'test numbers ' || nullif(o.test_numbers, 'None'),
    case when o.api_test_clients or o.api_reset or o.max_test_clients is not null
      then row(o.api_test_clients, o.api_reset, o.max_test_clients) end,
    case when o.clock_mode <> 'Real' or o.clock_start is not null then row(o.clock_mode, extract(epoch from o.clock_start)) end,
    'seed ' || o.seed, 'faults ' || o.faults::text,
    case when o.callback_hosts is not null or o.webhook_host <> '' then row(o.callback_hosts, o.webhook_host) end,
    'native environments ' || e.native, 'native stores ' || s.native, 'native keys ' || k.native))
  from organizations o
  left join (select tenant, string_agg(row(env_id, operator, country, currency, enabled, removed, commission_bps, absorption_pct,
      unknown_policy, max_amount)::text, ' ' order by env_id) as parts,
      string_agg(row(env_id, place, vague, quirks)::text, ' ' order by env_id) filter (where place > 0 or vague or quirks <> '{}') as native
      from environments group by tenant) e on e.tenant = o.tenant
  left join (select tenant, string_agg(row(slug, removed)::text, ' ' order by slug) as parts,
      string_agg(row(slug, place)::text, ' ' order by slug) filter (where place > 0) as native from stores group by tenant) s
    on s.tenant = o.tenant
  left join (select tenant, string_agg(row(currency, opening)::text, ' ' order by currency) as parts from floats group by tenant) f
    on f.tenant = o.tenant
  left join (select tenant, string_agg(row(hash, extract(epoch from expires_at))::text, ' ' order by hash) as parts,
      string_agg(native::text, ' ' order by hash) as native from api_keys
      where expires_at is null or expires_at > now() group by tenant) k on k.tenant = o.tenant
  left join (select tenant, string_agg(row(store, operator, country, base_url, sealed is null)::text, ' '
      order by store, operator, country) as parts from operator_credentials group by tenant) c on c.tenant = o.tenant
$$;
-- +goose StatementEnd
