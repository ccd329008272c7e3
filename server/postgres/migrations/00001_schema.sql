-- +goose Up

-- Roles -------------------------------------------------------------------------------------------------------------------
-- Each process logs in as a user of its own, a member of cauri_api, cauri_worker or cauri_controller (docs/security.md). The
-- api runs what serves one sandbox as cauri_tenant, under row level security: a statement that forgets its WHERE sees nothing of
-- another sandbox. The api does not inherit these privileges, it has to change its role for them. Roles belong to the whole
-- server: another database may have created them, or may be creating them now.

-- +goose StatementBegin
do $$
declare r text;
begin
  foreach r in array array['cauri_tenant', 'cauri_api', 'cauri_worker', 'cauri_controller'] loop
    begin
      execute format('create role %I nologin noinherit', r);
    exception when duplicate_object or unique_violation then null;
    end;
  end loop;
  execute format('grant usage on schema %I to cauri_api, cauri_worker, cauri_controller', current_schema());
  -- Two databases of one server that grant at once fail one another. One grant serves both.
  begin
    execute format('grant cauri_tenant to %I', current_user);
  exception when sqlstate 'XX000' then null;
  end;
  if not pg_has_role('cauri_api', 'cauri_tenant', 'member') then
    begin
      grant cauri_tenant to cauri_api;
    exception when unique_violation or sqlstate 'XX000' then null;
    end;
  end if;
end $$;
-- +goose StatementEnd

create type transaction_type as enum ('collection', 'refund', 'disbursement');
create type transaction_status as enum (
  'PENDING', 'SUCCESS', 'PIN_INVALID', 'INSUFFICIENT_FUNDS', 'TIMEOUT', 'ACCOUNT_BLOCKED', 'USER_CANCELLED',
  'UNKNOWN_MSISDN', 'LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE', 'DUPLICATE_REFERENCE');
create type event_state as enum ('recorded', 'queued', 'delivered', 'failed');

-- Configuration -----------------------------------------------------------------------------------------------------------

-- One row. The last statement of every change of configuration increases it: its lock puts the changes in an order, so that a
-- reader that has seen version n has seen every change up to n.
create table config_version (
  one     boolean primary key default true check (one),
  version bigint not null
);
insert into config_version (version) values (0);

create sequence tenant_numbers;

-- A sandbox, and the tenant number of its rows. This is the one table that all tenants share.
create table organizations (
  org_id                   text primary key,
  tenant                   bigint not null unique default nextval('tenant_numbers'),
  resource_uid             uuid not null unique,
  namespace                text not null,
  name                     text not null,
  generation               bigint not null default 0, -- of the resource that the row was written for; an older one changes nothing
  version                  bigint not null default 0, -- of the configuration: see config_version
  created_at               timestamptz not null default now(),
  latency_percent          integer not null,
  monthly_quota            bigint,  -- transactions in a calendar month
  rate_limit               integer, -- requests in a minute
  pending_timeout_ms       bigint not null default 3600000, -- how long a pending collection waits for its payer
  suspended                boolean not null default false,  -- the API answers 503, and nothing that is due is done
  reset                    text not null default '', -- value of the spec that the tenant was created for
  key_rotation             text not null default '', -- value of the spec that the API key was issued for
  retained_at              timestamptz, -- when its resource was deleted while its rows were to stay
  applied                  text, -- fingerprint of the configuration as the controller left it

  webhook_url              text,
  webhook_types            text[] not null default '{collection,refund,disbursement}', -- whose events are sent
  webhook_max_retries      integer not null,
  webhook_initial_delay_ms bigint not null,
  webhook_factor           double precision not null,
  webhook_max_delay_ms     bigint not null,
  -- Secrets are sealed. The previous ones sign beside the present one until their times, the most recent first.
  secret_rotation          text not null default '', -- value of the spec that the signing secret was issued for
  signing_secret           bytea,
  previous_secret          bytea,
  previous_secret_until    timestamptz,
  older_secrets            bytea[] not null default '{}',
  older_secrets_until      timestamptz[] not null default '{}'
);
create index organizations_version on organizations (version);
create unique index organizations_name on organizations (namespace, name) where retained_at is null;

-- Tenant numbers that no sandbox has any more. Readers of the configuration learn from it what is gone, and the purge what to
-- remove.
create table retired_tenants (
  tenant       bigint primary key,
  resource_uid uuid not null,
  version      bigint not null,
  retired_at   timestamptz not null default now(),
  purged_at    timestamptz
);
create index retired_tenants_version on retired_tenants (version);

create table environments (
  tenant         bigint not null,
  env_id         text not null,
  operator       text not null,
  country        text not null,
  currency       text not null,
  enabled        boolean not null,
  removed        boolean not null default false, -- kept, so that its history stays readable and it can come back
  commission_bps integer not null,
  absorption_pct integer not null,
  unknown_policy text not null,
  max_amount     bigint,
  primary key (tenant, env_id),
  unique (tenant, operator, country)
);

create table stores (
  tenant  bigint not null,
  slug    text not null,
  removed boolean not null default false,
  primary key (tenant, slug)
);

create table api_keys (
  tenant     bigint not null,
  hash       bytea not null, -- SHA-256 of the key
  created_at timestamptz not null default now(),
  expires_at timestamptz, -- of a key that a newer one replaced
  primary key (tenant, hash)
);

-- How a store's collections reach an operator.
create table operator_credentials (
  tenant   bigint not null,
  store    text not null, -- slug
  operator text not null,
  country  text not null,
  base_url text not null,
  sealed   bytea, -- the credentials; null: they are missing
  primary key (tenant, store, operator, country)
);

-- Money -------------------------------------------------------------------------------------------------------------------
-- For every float and every SIM, at every moment: sum of its adjustments + sum of its transactions' deltas = balance.
-- Balances change often and no index holds them, so that room in the page makes each change a HOT update. No balance comes near
-- the limit of its type, so that adding to one never fails: 10^15 is payments.MaxBalance.

create table floats (
  tenant     bigint not null,
  currency   text not null,
  balance    bigint not null check (balance >= 0),
  opening    bigint not null, -- as the resource said last
  changed_at timestamptz not null default now(),
  primary key (tenant, currency),
  constraint floats_balance_bound check (balance <= 1000000000000000)
) with (fillfactor = 50);

create table sims (
  tenant     bigint not null,
  sim_id     uuid not null, -- UID of the TestClient
  name       text not null, -- of the TestClient
  msisdn     text not null,
  operator   text not null,
  country    text not null,
  currency   text not null,
  blocked    boolean not null,
  behaviour  text not null,
  balance    bigint not null check (balance >= 0),
  opening    bigint not null,
  changed_at timestamptz not null default now(),
  generation bigint not null default 0, -- as in organizations
  primary key (tenant, sim_id),
  unique (tenant, msisdn),
  constraint sims_balance_bound check (balance <= 1000000000000000)
) with (fillfactor = 50);
create index sims_sim_id on sims (sim_id); -- a TestClient whose sandbox is gone is found by its UID alone

-- Changes of a balance by configuration, the opening one first.
create table adjustments (
  tenant        bigint not null,
  adjustment_id uuid not null default gen_random_uuid(),
  currency      text, -- of a float
  sim_id        uuid, -- of a SIM
  delta         bigint not null,
  balance_after bigint not null,
  created_at    timestamptz not null default now(),
  primary key (tenant, adjustment_id),
  check ((currency is null) <> (sim_id is null))
);

-- In transactions and events, what is aligned to eight bytes comes first, then what is aligned to four, then the rest: no padding.
create table transactions (
  tenant                 bigint not null,
  amount                 bigint not null check (amount > 0),
  commission             bigint not null,
  net_amount             bigint not null,
  refunded               bigint not null default 0 check (refunded between 0 and amount),
  merchant_delta         bigint not null default 0,
  sim_delta              bigint not null default 0,
  merchant_balance_after bigint,
  sim_balance_after      bigint,
  created_at             timestamptz not null default now(),
  completed_at           timestamptz,
  due_at                 timestamptz, -- when a pending transaction needs attention: to settle, to expire, or what passthrough says
  expires_at             timestamptz,
  forwarded_at           timestamptz, -- when the operator accepted it
  forward_fence          bigint,      -- of the lease; a worker with an older one has lost it

  type                   transaction_type not null,
  status                 transaction_status not null,
  absorption_pct         integer not null,
  latency_ms             integer not null,
  forward_failures       integer, -- attempts in a row that had no outcome
  -- Attempts to hand it to its operator, each written before its request leaves: if the operator has the payment already, only
  -- an earlier attempt can be the cause. Null is none.
  forward_attempts       integer,

  id                     uuid not null, -- sorts by time
  parent_id              uuid,
  sim_id                 uuid, -- of the payer or recipient, where it was in the registry
  -- A pending collection from a number that the sandbox does not know is forwarded to the operator's API. Its due_at is when it
  -- is to be forwarded or asked after next, or when the lease of the worker that does it ends.
  passthrough            boolean not null default false,
  is_url_protected       boolean not null,
  reference              text not null,
  request_hash           bytea not null, -- of the request as sent: tells a replay from a conflict
  order_ref              text not null,
  order_url              text,
  store                  text not null,
  description            text,
  scenario               text not null, -- empty: nothing was forced
  env_id                 text not null,
  operator               text not null,
  country                text not null,
  currency               text not null, -- as sent
  float_currency         text not null, -- of the float that the transaction belongs to
  msisdn                 text not null,
  native_id              text, -- what an operator's API answered, where one was asked
  native_raw             json, -- kept as it was answered, with its keys in their order

  primary key (tenant, id),
  constraint transactions_reference unique (tenant, reference),
  check ((status = 'PENDING') = (completed_at is null)),
  check (status = 'PENDING' or due_at is null),
  check (status = 'SUCCESS' or (merchant_delta = 0 and sim_delta = 0)),
  constraint transactions_forward check (passthrough = (forward_fence is not null))
) with (fillfactor = 90);
create index transactions_order on transactions (tenant, order_ref, id);
-- Lists at any size: they are the merge of the newest of each status, type, operator and country.
create index transactions_listed on transactions (tenant, status, type, operator, country, id);
-- Ordered by tenant first: a sweep skips from one sandbox that has something due to the next, and takes a share from each, so
-- that none waits behind the backlog of another, and a suspended one costs a single probe. Each sweep has an index of its own, so
-- that what one leaves never delays the other.
create index transactions_due on transactions (tenant, due_at) where status = 'PENDING' and not passthrough;
create index transactions_forward_due on transactions (tenant, due_at) where status = 'PENDING' and passthrough;

-- Transactions created in a calendar month (UTC), for sandboxes with a quota only.
create table quota_usage (
  tenant bigint not null,
  month  date not null, -- its first day
  used   bigint not null,
  primary key (tenant, month)
) with (fillfactor = 50);

-- Requests granted in a second, of the last minute or so, for sandboxes with a rate limit only.
create table rate_usage (
  tenant  bigint not null,
  second  bigint not null, -- Unix time
  granted integer not null,
  primary key (tenant, second)
) with (fillfactor = 50);

-- How many transactions a sandbox has up to one of them, so that only the ones after it are counted.
create table transaction_counts (
  tenant bigint primary key,
  upto   uuid not null,  -- ids sort by time: nothing is recorded before this one any more
  total  bigint not null -- transactions up to it
) with (fillfactor = 50);

-- Events ------------------------------------------------------------------------------------------------------------------

-- One row for each transaction that reached a terminal status, under the transaction's own id: there cannot be two. The row is
-- its own queue entry. The body is built before the first attempt, kept, and sent with every attempt.
create table events (
  tenant       bigint not null,
  due_at       timestamptz, -- of the next attempt, or when the lease of the running one ends; null: nothing to do
  fence        bigint not null default 0, -- of the lease; a worker with an older one has lost it
  created_at   timestamptz not null default now(),
  delivered_at timestamptz,
  state        event_state not null,
  attempts     integer not null default 0,
  resent_after integer, -- attempts when it was last queued by hand: its schedule begins there, and it is sent whatever its type
  probes       integer not null default 0, -- probes of one never queued by hand, which use up no retry; else they raise resent_after
  id           uuid not null,
  leased       boolean not null default false, -- due_at is the end of a lease
  body         bytea,
  primary key (tenant, id)
) with (fillfactor = 80);
create index events_due on events (tenant, due_at) where due_at is not null;
create index events_failed on events (tenant, id) where state = 'failed';

create table delivery_attempts (
  tenant          bigint not null,
  event_id        uuid not null,
  attempt         integer not null, -- from 1
  started_at      timestamptz not null,
  duration_ms     integer not null,
  response_status integer, -- null: no answer came
  response_body   bytea,   -- the first 4 KiB
  error           text,    -- null: acknowledged
  primary key (tenant, event_id, attempt)
);

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

-- What the workers could not do in one sandbox alone, although the database serves. The sandbox waits, for longer after each
-- failure, and the others go on.
create table sweep_failures (
  tenant        bigint not null,
  sweep         text not null, -- settlement, delivery, passthrough
  failures      integer not null default 1, -- in a row
  failing_since timestamptz not null default now(),
  retry_at      timestamptz not null,
  error         text not null,
  primary key (tenant, sweep)
) with (fillfactor = 50);

-- When something last happened in a sandbox, as far as its status should follow. Processes write it together for all sandboxes
-- every few seconds, so that no payment pays for it.
create table activity (
  tenant     bigint primary key,
  changed_at timestamptz not null default now()
) with (fillfactor = 50);

-- Drift -------------------------------------------------------------------------------------------------------------------

-- A fingerprint of each sandbox's configuration, over all its rows. It changes when somebody changes one of them, and when a key
-- or a signing secret that was replaced expires. Balances are no part of it. Of secrets only which ones exist is part, since a
-- new encryption key makes the same secret other bytes. A condition on the tenant reaches every part.
-- +goose StatementBegin
create function sandbox_fingerprints() returns table (tenant bigint, fingerprint text) language sql stable parallel safe as $$
  select o.tenant, md5(concat_ws(chr(10),
    row(o.org_id, o.namespace, o.name, o.latency_percent, o.monthly_quota, o.rate_limit, o.pending_timeout_ms, o.suspended, o.reset),
    row(o.webhook_url, o.webhook_max_retries, o.webhook_initial_delay_ms, o.webhook_factor, o.webhook_max_delay_ms, o.webhook_types),
    row(o.key_rotation, o.secret_rotation, o.signing_secret is null, o.previous_secret is null, o.previous_secret_until <= now(),
      cardinality(o.older_secrets), (select count(*) from unnest(o.older_secrets_until) older_until where older_until <= now())),
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
  left join (select tenant, string_agg(row(store, operator, country, base_url, sealed is null)::text, ' '
      order by store, operator, country) as parts from operator_credentials group by tenant) c on c.tenant = o.tenant
$$;
-- +goose StatementEnd

-- Vacuum ------------------------------------------------------------------------------------------------------------------
-- The default waits until a fifth of a table is dead. What changes with every payment is vacuumed long before, and the balances,
-- a few pages that every booking reads and writes, without pauses. What only grows is vacuumed too, so that an index alone answers
-- for rows that everybody sees.
alter table floats set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
alter table quota_usage set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
alter table sims set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
alter table transactions set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
alter table events set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);

-- Row level security ------------------------------------------------------------------------------------------------------

-- +goose StatementBegin
create function current_tenant() returns bigint language sql stable parallel safe
  return nullif(current_setting('cauri.tenant', true), '')::bigint;
-- +goose StatementEnd

-- A page of a list is looked up here. The view has a tenant scope of its own: under row level security no index serves a
-- comparison of a status or a type, which Postgres does not know to be leakproof. Its rows are those of the tenant, whatever a
-- WHERE says.
create view listed_transactions as
  select tenant, id, status, type, operator, country, store, msisdn, created_at from transactions where tenant = current_tenant();

-- The worker and the controller work on all sandboxes at once. They delete rows of tenants that no sandbox has any more, and of
-- others only what the last loops name. A new table with a tenant needs the same policies.
-- +goose StatementBegin
do $$
declare t text; p text;
begin
  for t in select c.table_name from information_schema.columns c join information_schema.tables using (table_schema, table_name)
      where c.table_schema = current_schema() and c.column_name = 'tenant' and table_type = 'BASE TABLE'
        and c.table_name <> 'retired_tenants' loop
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
  foreach t in array array['organizations', 'api_keys', 'operator_credentials', 'sims'] loop
    execute format('alter policy controller_deletes on %I using (true)', t);
  end loop;
  foreach t in array array['events', 'delivery_attempts', 'quota_usage', 'rate_usage', 'sweep_failures'] loop
    execute format('alter policy worker_deletes on %I using (true)', t);
  end loop;
  -- The api serves all sandboxes by their configuration, and writes activity for all of them at once.
  foreach t in array array['organizations', 'environments', 'stores', 'api_keys'] loop
    execute format('create policy api on %I for select to cauri_api using (true)', t);
  end loop;
  create policy api on activity to cauri_api using (true);
end $$;
-- +goose StatementEnd

-- Privileges --------------------------------------------------------------------------------------------------------------
-- What the statements of each role need, and no more: TestRolesHaveWhatTheirStatementsNeed says what to write here.

-- A request of one sandbox, in the rows of that sandbox.
grant select on delivery_attempts to cauri_tenant;
grant select (delivered, failed, tenant), update (changed_at, delivered, failed) on endpoint_health to cauri_tenant;
grant select, insert (due_at, id, state, tenant), update (body, delivered_at, due_at, fence, leased, resent_after, state) on
  events to cauri_tenant;
grant select (balance, currency, tenant), update (balance, changed_at) on floats to cauri_tenant;
grant select (monthly_quota, suspended, tenant, version, webhook_types, webhook_url) on organizations to cauri_tenant;
grant select, insert, update (used) on quota_usage to cauri_tenant;
grant select, insert, update (granted), delete on rate_usage to cauri_tenant;
grant select, update (balance, changed_at) on sims to cauri_tenant;
grant select on listed_transactions to cauri_tenant;
grant select, insert (absorption_pct, amount, commission, completed_at, country, currency, description, due_at, env_id,
  expires_at, float_currency, forward_failures, forward_fence, id, is_url_protected, latency_ms, merchant_balance_after,
  merchant_delta, msisdn, net_amount, operator, order_ref, order_url, parent_id, passthrough, reference, request_hash,
  scenario, sim_balance_after, sim_delta, sim_id, status, store, tenant, type), update (completed_at, due_at,
  merchant_balance_after, merchant_delta, refunded, sim_balance_after, sim_delta, status) on transactions to cauri_tenant;

-- Configuration is read into the cache and never written.
grant select, insert, update (changed_at) on activity to cauri_api;
grant select (expires_at, hash, tenant) on api_keys to cauri_api;
grant select (version) on config_version to cauri_api;
grant select on environments to cauri_api;
grant select (latency_percent, monthly_quota, name, namespace, org_id, pending_timeout_ms, rate_limit, retained_at, suspended,
  tenant, version) on organizations to cauri_api;
grant select (tenant, version) on retired_tenants to cauri_api;
grant select on stores to cauri_api;

grant select, insert, update (changed_at), delete on activity to cauri_worker;
grant select (adjustment_id, tenant), delete on adjustments to cauri_worker;
grant select (tenant), delete on api_keys to cauri_worker;
grant select (version) on config_version to cauri_worker;
grant select (attempt, event_id, tenant), insert, delete on delivery_attempts to cauri_worker;
grant select (delivered, failed, failing_since, failures, last_failure, last_failure_at, probe_at, tenant), insert (delivered,
  failed, failing_since, failures, last_failure, last_failure_at, tenant), update (changed_at, delivered, failed,
  failing_since, failures, last_failure, last_failure_at, probe_at), delete on endpoint_health to cauri_worker;
grant select (tenant), delete on environments to cauri_worker;
grant select (attempts, body, created_at, due_at, fence, id, probes, resent_after, state, tenant), insert (due_at, id, state,
  tenant), update (attempts, body, delivered_at, due_at, fence, leased, probes, resent_after, state), delete on events to
  cauri_worker;
grant select (balance, currency, tenant), update (balance, changed_at), delete on floats to cauri_worker;
grant select (base_url, country, operator, sealed, store, tenant), delete on operator_credentials to cauri_worker;
grant select (latency_percent, older_secrets, older_secrets_until, org_id, previous_secret, previous_secret_until,
  resource_uid, retained_at, signing_secret, suspended, tenant, webhook_factor, webhook_initial_delay_ms,
  webhook_max_delay_ms, webhook_max_retries, webhook_types, webhook_url) on organizations to cauri_worker;
grant select (month, tenant), delete on quota_usage to cauri_worker;
grant select (second, tenant), delete on rate_usage to cauri_worker;
grant select (purged_at, retired_at, tenant), update (purged_at), delete on retired_tenants to cauri_worker;
grant select, update (balance, changed_at), delete on sims to cauri_worker;
grant select (tenant), delete on stores to cauri_worker;
grant select (error, failures, retry_at, sweep, tenant), insert (error, retry_at, sweep, tenant), update (error, failures,
  retry_at), delete on sweep_failures to cauri_worker;
grant select (tenant), delete on transaction_counts to cauri_worker;
grant select, update (completed_at, due_at, forward_attempts, forward_failures, forward_fence, forwarded_at,
  merchant_balance_after, merchant_delta, native_id, native_raw, sim_balance_after, sim_delta, status), delete on transactions
  to cauri_worker;

grant select, delete on activity to cauri_controller;
grant select (adjustment_id, tenant), insert (balance_after, currency, delta, sim_id, tenant), delete on adjustments to
  cauri_controller;
grant select (expires_at, hash, tenant), insert (hash, tenant), update (expires_at, tenant), delete on api_keys to
  cauri_controller;
grant select (version), update (version) on config_version to cauri_controller;
grant select (attempt, event_id, tenant), delete on delivery_attempts to cauri_controller;
grant select, delete on endpoint_health to cauri_controller;
grant select, insert (absorption_pct, commission_bps, country, currency, enabled, env_id, max_amount, operator, tenant,
  unknown_policy), update (absorption_pct, commission_bps, currency, enabled, max_amount, removed, tenant, unknown_policy),
  delete on environments to cauri_controller;
grant select (id, tenant), delete on events to cauri_controller;
grant select, insert, update (balance, changed_at, opening), delete on floats to cauri_controller;
grant select, insert, update (base_url, sealed, tenant), delete on operator_credentials to cauri_controller;
grant select, insert (generation, latency_percent, monthly_quota, name, namespace, org_id, pending_timeout_ms, rate_limit,
  reset, resource_uid, suspended, webhook_factor, webhook_initial_delay_ms, webhook_max_delay_ms, webhook_max_retries,
  webhook_types, webhook_url), update (applied, generation, key_rotation, latency_percent, monthly_quota, name, namespace,
  older_secrets, older_secrets_until, pending_timeout_ms, previous_secret, previous_secret_until, rate_limit, reset,
  retained_at, secret_rotation, signing_secret, suspended, tenant, version, webhook_factor, webhook_initial_delay_ms,
  webhook_max_delay_ms, webhook_max_retries, webhook_types, webhook_url), delete on organizations to cauri_controller;
grant select (tenant), delete on quota_usage to cauri_controller;
grant select (tenant), delete on rate_usage to cauri_controller;
grant select (purged_at, resource_uid, tenant), insert (resource_uid, tenant, version) on retired_tenants to cauri_controller;
grant select, insert, update (balance, behaviour, blocked, changed_at, country, currency, generation, msisdn, name, opening,
  operator), delete on sims to cauri_controller;
grant select, insert (slug, tenant), update (removed, tenant), delete on stores to cauri_controller;
grant select, delete on sweep_failures to cauri_controller;
grant usage on sequence tenant_numbers to cauri_controller;
grant select, insert, update (total, upto), delete on transaction_counts to cauri_controller;
grant select (id, passthrough, status, tenant), delete on transactions to cauri_controller;

-- The processes compare the version of the schema with the one that they need.
grant select on schema_version to cauri_api, cauri_worker, cauri_controller;
