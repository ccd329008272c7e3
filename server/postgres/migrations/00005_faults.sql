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

-- The fault that disturbs the next attempt of an event, from the decision until the attempt is written down: whoever takes the event after
-- another worker goes on with it.
create table event_faults (
  tenant      bigint not null,
  event_id    uuid not null,
  attempt     integer not null, -- that it disturbs
  name        text not null,
  not_before  timestamptz not null, -- sandbox time
  awaits_next boolean not null, -- the event is sent after the sandbox's next one
  sent        integer not null default 0, -- how often it was sent in this attempt
  primary key (tenant, event_id)
) with (fillfactor = 50);

-- +goose StatementBegin
do $$
declare t text; p text;
begin
  foreach t in array array['fault_counts', 'fault_acts', 'fault_requests', 'event_faults'] loop
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
  alter policy worker_deletes on event_faults using (true); -- those of attempts that ended
end $$;
-- +goose StatementEnd

grant select (faults) on organizations to cauri_api;
grant select, insert on fault_acts to cauri_tenant, cauri_worker;
grant select, insert (digest, name, tenant), update (acts, digest, draws, last_at) on fault_counts to cauri_tenant, cauri_worker;
grant select (acts, digest, last_at, name, tenant) on fault_counts to cauri_controller;
grant select, insert (reference, tenant), update (requests) on fault_requests to cauri_tenant;
grant update (faults) on transactions to cauri_tenant;
grant insert (faults), update (faults) on organizations to cauri_controller;
grant delete on fault_counts to cauri_controller, cauri_worker;
grant select (name, reference, tenant), delete on fault_acts to cauri_controller, cauri_worker;
grant select (reference, tenant), delete on fault_requests to cauri_controller, cauri_worker;
grant update (faults) on transactions to cauri_worker;
grant select (faults, seed) on organizations to cauri_worker;
grant update (leased_until) on events to cauri_worker;
grant select, insert (attempt, awaits_next, event_id, name, not_before, tenant), update (attempt, awaits_next, name, not_before, sent), delete
  on event_faults to cauri_worker;
grant select (event_id, tenant), delete on event_faults to cauri_controller;

-- As in 00003, with the clock, the seed and the faults. A sandbox that has none of them keeps its fingerprint: concat_ws leaves out a null.
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
    'seed ' || o.seed, 'faults ' || o.faults::text))
  from organizations o
  left join (select tenant, string_agg(row(env_id, operator, country, currency, enabled, removed, commission_bps, absorption_pct,
      unknown_policy, max_amount)::text, ' ' order by env_id) as parts from environments group by tenant) e on e.tenant = o.tenant
  left join (select tenant, string_agg(row(slug, removed)::text, ' ' order by slug) as parts from stores group by tenant) s
    on s.tenant = o.tenant
  left join (select tenant, string_agg(row(currency, opening)::text, ' ' order by currency) as parts from floats group by tenant) f
    on f.tenant = o.tenant
  left join (select tenant, string_agg(row(hash, extract(epoch from expires_at))::text, ' ' order by hash) as parts from api_keys
      where expires_at is null or expires_at > now() group by tenant) k on k.tenant = o.tenant
  left join (select tenant, string_agg(row(store, operator, country, base_url, sealed is null)::text, ' '
      order by store, operator, country) as parts from operator_credentials group by tenant) c on c.tenant = o.tenant
$$;
-- +goose StatementEnd
