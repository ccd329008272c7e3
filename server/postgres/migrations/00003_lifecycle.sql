-- +goose Up

-- The life of a sandbox ---------------------------------------------------------------------------------------------------

alter table organizations
  add column pending_timeout_ms    bigint not null default 3600000, -- how long a pending collection waits for its payer
  add column suspended             boolean not null default false,  -- the API answers 503, and nothing is done that is due
  add column webhook_types         text[] not null default '{collection,refund,disbursement}', -- whose events are sent
  add column secret_rotation       text not null default '', -- value of the spec that the signing secret was made for
  add column previous_secret       bytea,       -- sealed; signs beside the present one
  add column previous_secret_until timestamptz, -- until then
  add column reset                 text not null default '', -- value of the spec that the tenant was made for
  add column retained_at           timestamptz; -- when its resource was deleted and its rows were to stay

-- What was retained gives its name away.
alter table organizations drop constraint organizations_namespace_name_key;
create unique index organizations_name on organizations (namespace, name) where retained_at is null;

alter table api_keys add column expires_at timestamptz; -- of a key that a newer one replaced
alter table organizations add column key_rotation text not null default ''; -- value of the spec that the API key was issued for

-- What is due -------------------------------------------------------------------------------------------------------------
-- Ordered by tenant first: a sweep finds the sandboxes that have something due by skipping from one to the next, and takes from
-- each its share, so that none has to wait behind another one's backlog, and a suspended one costs a single probe.

drop index transactions_due, transactions_forward_due, events_due;
create index transactions_due on transactions (tenant, due_at) where status = 'PENDING' and not passthrough;
create index transactions_forward_due on transactions (tenant, due_at) where status = 'PENDING' and passthrough;
create index events_due on events (tenant, due_at) where due_at is not null;

-- How the deliveries of a sandbox's events go, written with every batch of attempts.
create table endpoint_health (
  tenant          bigint primary key,
  failures        integer not null default 0, -- attempts in a row without a success
  failing_since   timestamptz,                -- the first of them
  probe_at        timestamptz, -- the endpoint failed for long: nothing is sent before, and then one event only
  delivered       bigint not null default 0,  -- events
  failed          bigint not null default 0,  -- events whose retries are used up
  last_failure_at timestamptz,
  last_failure    text,
  changed_at      timestamptz not null default now()
) with (fillfactor = 50);

-- When something last happened in a sandbox, as far as its status should follow. Processes write it together for all sandboxes
-- every few seconds, so that no payment pays for it.
create table activity (
  tenant     bigint primary key,
  changed_at timestamptz not null default now()
) with (fillfactor = 50);

-- How many transactions a sandbox has up to one of them, so that the ones after it are all that has to be counted.
create table transaction_counts (
  tenant bigint primary key,
  upto   uuid not null,  -- ids sort by time: nothing is recorded before this one any more
  total  bigint not null -- transactions up to it
) with (fillfactor = 50);

-- The wall ----------------------------------------------------------------------------------------------------------------

alter table endpoint_health enable row level security;
create policy tenant on endpoint_health to cauri_tenant using (tenant = current_tenant());
alter table activity enable row level security;
create policy tenant on activity to cauri_tenant using (tenant = current_tenant());
alter table transaction_counts enable row level security;
create policy tenant on transaction_counts to cauri_tenant using (tenant = current_tenant());

grant select (webhook_types) on organizations to cauri_tenant;

-- A payer who answers by hand settles a payment of the sandbox, and no call is served while it is suspended.
grant select (suspended) on organizations to cauri_tenant;
grant update (status, completed_at, due_at, merchant_delta, sim_delta, merchant_balance_after, sim_balance_after) on transactions
  to cauri_tenant;

-- Events seen and sent again ----------------------------------------------------------------------------------------------

alter table events
  add column leased       boolean not null default false, -- due_at is the end of a lease, and not when an attempt is due
  add column resent_after integer; -- attempts made when it was last queued by hand: its schedule begins there, and it is sent
                                   -- whatever its type; null: never
-- A probe of an endpoint that failed for long uses up no retry.
alter table events add column probes integer not null default 0; -- probes of one never queued by hand; else they raise resent_after
create index events_failed on events (tenant, id) where state = 'failed';

grant update (state, due_at, fence, leased, resent_after, body, delivered_at) on events to cauri_tenant;
grant select, update (delivered, failed, changed_at) on endpoint_health to cauri_tenant;

-- Retention removes what a simulated operator answered long ago.
create index operator_payments_answered on operator_payments (tenant, answers_at);

-- Drift -------------------------------------------------------------------------------------------------------------------

alter table organizations add column applied text; -- fingerprint of its configuration as the controller left it

-- What each sandbox's configuration comes to, over all its rows: it changes when somebody changes one of them, and when a key or
-- a signing secret that was replaced comes to its end. Balances are no part of it, and of secrets that is which says which they
-- are, since an encryption key that changes makes the same secret other bytes. A condition on the tenant reaches every part.
-- +goose StatementBegin
create function sandbox_fingerprints() returns table (tenant bigint, fingerprint text) language sql stable parallel safe as $$
  select o.tenant, md5(concat_ws(chr(10),
    row(o.org_id, o.namespace, o.name, o.latency_percent, o.monthly_quota, o.rate_limit, o.pending_timeout_ms, o.suspended, o.reset),
    row(o.webhook_url, o.webhook_max_retries, o.webhook_initial_delay_ms, o.webhook_factor, o.webhook_max_delay_ms, o.webhook_types),
    row(o.key_rotation, o.secret_rotation, o.signing_secret is null, o.previous_secret is null, o.previous_secret_until <= now()),
    e.parts, '', s.parts, '', f.parts, '', k.parts, '', c.parts))
  from organizations o
  left join (select tenant, string_agg(row(env_id, operator, country, currency, enabled, removed, commission_bps, absorption_pct,
      unknown_policy, max_amount)::text, ' ' order by env_id) as parts from environments group by tenant) e on e.tenant = o.tenant
  left join (select tenant, string_agg(row(slug, removed)::text, ' ' order by slug) as parts from stores group by tenant) s
    on s.tenant = o.tenant
  left join (select tenant, string_agg(row(currency, opening)::text, ' ' order by currency) as parts from floats group by tenant) f
    on f.tenant = o.tenant
  left join (select tenant, string_agg(row(hash, extract(epoch from expires_at))::text, ' ' order by hash) as parts from api_keys
      where expires_at is null or expires_at > now() group by tenant) k on k.tenant = o.tenant
  left join (select tenant, string_agg(row(store, operator, country, base_url, sealed is null, digest)::text, ' '
      order by store, operator, country) as parts from operator_credentials group by tenant) c on c.tenant = o.tenant
$$;
-- +goose StatementEnd

-- Roles -------------------------------------------------------------------------------------------------------------------
-- Each process logs in as a user of its own, a member of one of these (docs/security.md). What serves one sandbox the api does
-- as cauri_tenant, whose privileges it does not inherit: it has to go behind the wall for them.

-- +goose StatementBegin
do $$
declare r text;
begin
  foreach r in array array['cauri_api', 'cauri_worker', 'cauri_controller'] loop
    begin
      execute format('create role %I nologin noinherit', r);
    exception when duplicate_object or unique_violation then null; -- another database of this server has made it
    end;
    execute format('grant usage on schema %I to %I', current_schema(), r);
  end loop;
  if not pg_has_role('cauri_api', 'cauri_tenant', 'member') then
    begin
      grant cauri_tenant to cauri_api;
    exception when unique_violation or sqlstate 'XX000' then null; -- two databases of one server granted at once; one grant serves both
    end;
  end if;
end $$;
-- +goose StatementEnd

-- The api reads the configuration of all sandboxes. The worker and the controller work on all sandboxes at once; what they do not
-- delete in a sandbox's life, the last loops say what they do, they delete only of tenants that stand for nothing any more.
-- +goose StatementBegin
do $$
declare t text; p text;
begin
  foreach t in array array['organizations', 'environments', 'stores', 'api_keys'] loop
    execute format('create policy api on %I for select to cauri_api using (true)', t);
  end loop;
  for t in select table_name from information_schema.columns
      where table_schema = current_schema() and column_name = 'tenant' and table_name <> 'retired_tenants' loop
    foreach p in array array['worker', 'controller'] loop
      execute format('create policy %s_reads on %I for select to cauri_%s using (true)', p, t, p);
      execute format('create policy %s_inserts on %I for insert to cauri_%s with check (true)', p, t, p);
      execute format('create policy %s_updates on %I for update to cauri_%s using (true)', p, t, p);
      execute format('create policy %s_deletes on %I for delete to cauri_%s using (tenant in (select r.tenant from retired_tenants r))', p, t, p);
    end loop;
  end loop;
  foreach t in array array['organizations', 'api_keys', 'operator_credentials', 'sims'] loop
    execute format('alter policy controller_deletes on %I using (true)', t);
  end loop;
  foreach t in array array['events', 'delivery_attempts', 'operator_payments', 'operator_tokens', 'quota_usage', 'rate_usage'] loop
    execute format('alter policy worker_deletes on %I using (true)', t);
  end loop;
end $$;
-- +goose StatementEnd

create policy api on activity to cauri_api using (true); -- written for all sandboxes at once

-- What the statements of each need, and no more: TestRolesHaveWhatTheirStatementsNeed tells what to write here.
grant usage on sequence tenant_numbers to cauri_controller;
grant select on goose_db_version to cauri_controller; -- to see that nothing is left to migrate

-- Behind the wall: less than before of what was given by whole tables.
revoke insert on events, operator_payments, transactions from cauri_tenant;
revoke select on floats, endpoint_health from cauri_tenant;
grant insert (tenant, id, state, due_at) on events to cauri_tenant;
grant insert (tenant, operator, reference, native_id, request, answers_at) on operator_payments to cauri_tenant;
grant insert (tenant, id, type, status, parent_id, reference, request_hash, order_ref, order_url, is_url_protected, store,
  description, scenario, env_id, operator, country, currency, msisdn, amount, commission, net_amount, absorption_pct, latency_ms,
  completed_at, float_currency, sim_id, merchant_delta, sim_delta, merchant_balance_after, sim_balance_after, due_at, expires_at,
  passthrough, forward_fence, forward_failures) on transactions to cauri_tenant;
grant select (tenant, currency, balance) on floats to cauri_tenant;
grant select (tenant, delivered, failed) on endpoint_health to cauri_tenant;

grant select, insert, update (changed_at) on activity to cauri_api;
grant select (tenant, hash, expires_at) on api_keys to cauri_api;
grant select (version) on config_version to cauri_api;
grant select on environments, stores to cauri_api;
grant select (org_id, tenant, resource_uid, namespace, name, latency_percent, monthly_quota, rate_limit, version,
  pending_timeout_ms, suspended, retained_at) on organizations to cauri_api;
grant select (tenant, version) on retired_tenants to cauri_api;

grant select, insert, update (changed_at), delete on activity to cauri_worker;
grant select (tenant, adjustment_id), delete on adjustments to cauri_worker;
grant select (tenant), delete on api_keys to cauri_worker;
grant select (version) on config_version to cauri_worker;
grant select (tenant, event_id, attempt), insert, delete on delivery_attempts to cauri_worker;
grant select (tenant, failures, failing_since, probe_at, delivered, failed, last_failure_at, last_failure), insert (tenant,
  failures, failing_since, delivered, failed, last_failure_at, last_failure), update (failures, failing_since, probe_at,
  delivered, failed, last_failure_at, last_failure, changed_at), delete on endpoint_health to cauri_worker;
grant select (tenant), delete on environments to cauri_worker;
grant select (tenant, id, state, due_at, fence, attempts, body, created_at, resent_after, probes), insert (tenant, id, state,
  due_at), update (state, due_at, fence, attempts, body, delivered_at, leased, resent_after, probes), delete on events to
  cauri_worker;
grant select (tenant, currency, balance), update (balance, changed_at), delete on floats to cauri_worker;
grant select (tenant, store, operator, country, base_url, sealed), delete on operator_credentials to cauri_worker;
grant select (tenant, operator, reference, answers_at), delete on operator_payments to cauri_worker;
grant select, delete on operator_tokens to cauri_worker;
grant select (org_id, tenant, resource_uid, namespace, name, latency_percent, webhook_url, webhook_max_retries,
  webhook_initial_delay_ms, webhook_factor, webhook_max_delay_ms, signing_secret, suspended, webhook_types, previous_secret,
  previous_secret_until, retained_at) on organizations to cauri_worker;
grant select (tenant, month), delete on quota_usage to cauri_worker;
grant select (tenant, second), delete on rate_usage to cauri_worker;
grant select (tenant, retired_at, purged_at), update (purged_at), delete on retired_tenants to cauri_worker;
grant select, update (balance, changed_at), delete on sims to cauri_worker;
grant select (tenant), delete on stores to cauri_worker;
grant select (tenant), delete on transaction_counts to cauri_worker;
grant select, update (status, completed_at, native_id, native_raw, merchant_delta, sim_delta, merchant_balance_after,
  sim_balance_after, due_at, forward_fence, forward_failures, forwarded_at), delete on transactions to cauri_worker;

grant select, delete on activity, endpoint_health to cauri_controller;
grant select (tenant, adjustment_id), insert (tenant, currency, sim_id, delta, balance_after), delete on adjustments to
  cauri_controller;
grant select (tenant, hash, expires_at), insert (tenant, hash), update (tenant, expires_at), delete on api_keys to
  cauri_controller;
grant select (version), update (version) on config_version to cauri_controller;
grant select (tenant, event_id, attempt), delete on delivery_attempts to cauri_controller;
grant select, insert (tenant, env_id, operator, country, currency, enabled, commission_bps, absorption_pct, unknown_policy,
  max_amount), update (tenant, currency, enabled, removed, commission_bps, absorption_pct, unknown_policy, max_amount), delete
  on environments to cauri_controller;
grant select (tenant, id), delete on events to cauri_controller;
grant select, insert, update (balance, opening, changed_at), delete on floats to
  cauri_controller;
grant select, insert, update (tenant, base_url, sealed, digest), delete on operator_credentials to cauri_controller;
grant select (tenant, operator, reference), delete on operator_payments to cauri_controller;
grant select (tenant), delete on operator_tokens to cauri_controller;
grant select, insert (org_id, resource_uid, namespace, name, latency_percent, monthly_quota, rate_limit, webhook_url,
  webhook_max_retries, webhook_initial_delay_ms, webhook_factor, webhook_max_delay_ms, pending_timeout_ms, suspended,
  webhook_types, reset), update (tenant, namespace, name, latency_percent, monthly_quota, rate_limit, webhook_url,
  webhook_max_retries, webhook_initial_delay_ms, webhook_factor, webhook_max_delay_ms, signing_secret, version,
  pending_timeout_ms, suspended, webhook_types, secret_rotation, previous_secret, previous_secret_until, reset, retained_at,
  key_rotation, applied), delete on organizations to cauri_controller;
grant select (tenant), delete on quota_usage to cauri_controller;
grant select (tenant), delete on rate_usage to cauri_controller;
grant select (tenant, resource_uid, purged_at), insert (tenant, resource_uid, version) on retired_tenants to cauri_controller;
grant select, insert, update
  (name, msisdn, operator, country, currency, blocked, behaviour, balance, opening, changed_at), delete on sims to
  cauri_controller;
grant select, insert (tenant, slug), update (tenant, removed), delete on stores to cauri_controller;
grant select, insert, update (upto, total), delete on transaction_counts to cauri_controller;
grant select (tenant, id, status, passthrough), delete on transactions to cauri_controller;

-- +goose Down
-- Roles
-- +goose StatementBegin
do $$
declare p record;
begin
  for p in select policyname, tablename from pg_policies
      where schemaname = current_schema() and roles && '{cauri_api,cauri_worker,cauri_controller}' loop
    execute format('drop policy %I on %I', p.policyname, p.tablename);
  end loop;
end $$;
-- +goose StatementEnd
revoke all on all tables in schema public from cauri_api, cauri_worker, cauri_controller;
grant insert on events, operator_payments, transactions to cauri_tenant;
grant select on floats to cauri_tenant;
revoke all on all sequences in schema public from cauri_api, cauri_worker, cauri_controller;
revoke usage on schema public from cauri_api, cauri_worker, cauri_controller;

drop function sandbox_fingerprints();
alter table organizations drop column applied;
drop index operator_payments_answered, events_failed;
revoke update (state, due_at, fence, body, delivered_at) on events from cauri_tenant;
alter table events drop column leased, drop column resent_after, drop column probes;
revoke update (status, completed_at, due_at, merchant_delta, sim_delta, merchant_balance_after, sim_balance_after) on transactions
  from cauri_tenant;
drop table transaction_counts, activity, endpoint_health;
drop index transactions_due, transactions_forward_due, events_due;
create index transactions_due on transactions (due_at) where due_at is not null and not passthrough;
create index transactions_forward_due on transactions (due_at) where due_at is not null and passthrough;
create index events_due on events (due_at) where due_at is not null;
alter table api_keys drop column expires_at;
alter table organizations drop column key_rotation;
drop index organizations_name;
alter table organizations drop column pending_timeout_ms, drop column suspended, drop column webhook_types, drop column secret_rotation,
  drop column previous_secret, drop column previous_secret_until, drop column reset, drop column retained_at;
alter table organizations add constraint organizations_namespace_name_key unique (namespace, name);
