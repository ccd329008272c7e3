-- +goose Up

-- The whole schema of Cauri. Until v0.1.0 is tagged, this file is edited in place, and a database that
-- another text of this file created is refused (see schema_digest). From the tag on this file never changes,
-- and a change of the schema is a new file beside it.
--
-- Contents: roles, tenants, configuration, clocks, money, the proof of the ledger, events, the operators' own
-- APIs, faults, the request log, the console, the stream, the upkeep of the workers, what the api may do with
-- the configuration, drift, and privileges.
--
-- Postgres keeps the plan of a prepared statement while its connection lives, and a new or emptied database
-- has no statistics. So plans must not depend on them (decision 0048). Every index that begins with tenant
-- can serve any look-up in a tenant, by reading all rows of the tenant. If two indexes have the same cost, as
-- in an empty table, Postgres takes the one that was created last.

-- Roles -----------------------------------------------------------------------------------------------------
-- Each process logs in as a user of its own, a member of cauri_api, cauri_worker or cauri_controller
-- (docs/security.md). The api serves a sandbox in the role cauri_tenant, under row-level security: even
-- without a WHERE, a statement sees no rows of another sandbox. The api does not inherit the privileges of
-- this role, it must set the role. Roles belong to the whole server, so each database has its own: roles.go
-- replaces their names in this file (decision 0085). They may exist already.

-- +goose StatementBegin
do $$
declare
  r text;
  version integer := current_setting('server_version_num');
  may_set text := case when version < 160000 then 'member' else 'set' end;
begin
  foreach r in array array['cauri_tenant', 'cauri_api', 'cauri_worker', 'cauri_controller'] loop
    begin
      if to_regrole(r) is null then
        execute format('create role %I nologin noinherit', r);
      end if;
    exception
      when duplicate_object or unique_violation then null; -- another migration creates it now
      when insufficient_privilege then
        raise 'the role % is missing, and % may not create it. Run as an administrator: '
          'create role % nologin noinherit', r, current_user, r;
    end;
  end loop;
  -- Concurrent grants in two databases of one server may fail. One grant serves both.
  if not pg_has_role('cauri_tenant', may_set) then -- for an installation with one URL for all processes
    begin
      execute format('grant cauri_tenant to %I', current_user);
    exception when unique_violation or insufficient_privilege or sqlstate 'XX000' then null;
    end;
  end if;
  if not pg_has_role('cauri_api', 'cauri_tenant', may_set) then
    begin
      grant cauri_tenant to cauri_api;
    exception
      when unique_violation or sqlstate 'XX000' then null;
      when insufficient_privilege then
        raise 'cauri_api is not a member of cauri_tenant. Run as an administrator: '
          'grant cauri_tenant to cauri_api';
    end;
  end if;
  if pg_has_role('cauri_api', 'cauri_tenant', 'usage') then
    raise 'cauri_api inherits the privileges of cauri_tenant, and must not. Run as an administrator: '
      'alter role cauri_api noinherit; revoke cauri_tenant from cauri_api; grant cauri_tenant to cauri_api';
  end if;
  execute format('grant usage on schema %I to cauri_tenant, cauri_api, cauri_worker, cauri_controller',
    current_schema());
  -- Only the owner of the database decides who may connect to it. If there is anything else in it, other
  -- programs use it, and everybody may connect as before.
  if pg_has_role((select datdba from pg_database where datname = current_database()), 'usage') then
    execute format('grant connect on database %I to cauri_api, cauri_worker, cauri_controller',
      current_database());
    if not exists (
        select from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'v', 'm', 'f')
          and n.nspname <> 'information_schema' and n.nspname not like 'pg\_%'
          and not (n.nspname = current_schema() and c.relname = 'schema_version')
          and not exists (
            select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e'))
    then
      execute format('revoke connect on database %I from public', current_database());
    end if;
  end if;
end $$;
-- +goose StatementEnd

-- Returns the role of the tenant scope.
create function tenant_role() returns text language sql immutable parallel safe return 'cauri_tenant';

-- Tenants ---------------------------------------------------------------------------------------------------

create sequence tenant_numbers;

-- Tenant numbers that no sandbox has any more. Readers of the configuration learn from this table which
-- tenants are gone, and the purge which rows to remove.
create table retired_tenants (
  tenant       bigint primary key,
  resource_uid uuid not null,
  version      bigint not null,
  retired_at   timestamptz not null default now(),
  purged_at    timestamptz
);
create index retired_tenants_version on retired_tenants (version);
-- The purge looks for tenants that it has not purged yet, and for tenants that were retired long ago.
create index retired_tenants_unpurged on retired_tenants (retired_at) where purged_at is null;
create index retired_tenants_purged on retired_tenants (retired_at) where purged_at is not null;
alter table retired_tenants alter column tenant set statistics 0; -- see protect

-- Returns the tenant in whose scope the database transaction is; null outside of every scope.
-- +goose StatementBegin
create function current_tenant() returns bigint language sql stable parallel safe
  return nullif(current_setting('cauri.tenant', true), '')::bigint;
-- +goose StatementEnd

-- Puts a table with a column tenant under row-level security. In the scope of a tenant, only its rows are
-- visible. Worker and controller see the rows of all tenants, and may delete the rows of retired tenants.
-- Those in cleaned_by (worker, controller) may delete rows of all tenants. If writes is false, they may
-- neither insert nor update.
--
-- The column tenant has no statistics, since the average number of rows of a tenant says nothing about one
-- tenant. Without statistics, Postgres estimates a two-hundredth of the table for each value.
-- +goose StatementBegin
create procedure protect(name text, cleaned_by text[] default '{}', writes boolean default true)
  language plpgsql as $$
declare
  p text;
begin
  execute format('alter table %I alter column tenant set statistics 0', name);
  execute format('alter table %I enable row level security', name);
  execute format('create policy tenant on %I to cauri_tenant using (tenant = current_tenant())', name);
  foreach p in array array['worker', 'controller'] loop
    execute format('create policy %s_reads on %I for select to cauri_%s using (true)', p, name, p);
    if writes then
      execute format('create policy %s_inserts on %I for insert to cauri_%s with check (true)', p, name, p);
      execute format('create policy %s_updates on %I for update to cauri_%s using (true)', p, name, p);
    end if;
    execute format('create policy %s_deletes on %I for delete to cauri_%s using (%s)', p, name, p,
      case
        when p = any(cleaned_by) then 'true'
        else 'tenant in (select r.tenant from retired_tenants r)'
      end);
  end loop;
end $$;
-- +goose StatementEnd
revoke execute on procedure protect from public;

-- Configuration ---------------------------------------------------------------------------------------------

create type transaction_type as enum ('collection', 'refund', 'disbursement');
create type transaction_status as enum (
  'PENDING', 'SUCCESS', 'PIN_INVALID', 'INSUFFICIENT_FUNDS', 'TIMEOUT', 'ACCOUNT_BLOCKED', 'USER_CANCELLED',
  'UNKNOWN_MSISDN', 'LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE', 'DUPLICATE_REFERENCE');
create type event_state as enum ('recorded', 'queued', 'delivered', 'failed');

-- Has one row. The last statement of every change of configuration increases the version. The lock of the row
-- puts the changes in an order, so that a reader that has seen version n has seen every change up to n.
create table config_version (
  one     boolean primary key default true check (one),
  version bigint not null
);
insert into config_version (version) values (0);

-- A sandbox, and the tenant number of its rows.
create table organizations (
  org_id                   text primary key,
  tenant                   bigint not null unique default nextval('tenant_numbers'),
  resource_uid             uuid not null unique,
  namespace                text not null,
  name                     text not null,
  -- metadata.generation of the applied resource; an older one changes nothing.
  generation               bigint not null default 0,
  version                  bigint not null default 0, -- of the configuration: see config_version
  created_at               timestamptz not null default now(),
  latency_percent          integer not null,
  monthly_quota            bigint,  -- transactions in a calendar month
  rate_limit               integer, -- requests in a minute
  -- How long a pending collection waits for its payer.
  pending_timeout_ms       bigint not null default 3600000,
  -- The API answers 503, and due work waits.
  suspended                boolean not null default false,
  reset                    text not null default '', -- spec.reset for which the tenant was created
  key_rotation             text not null default '', -- value in the spec for which the API key was issued
  retained_at              timestamptz, -- when its resource was deleted with deletionPolicy Retain
  applied                  text, -- fingerprint of the configuration after the controller's last write

  test_numbers             text not null default 'None', -- or Standard
  seed                     bigint, -- of random draws; null: each draw is random
  faults                   jsonb, -- the declared faults, as in the resource; null: none
  clock_mode               text not null default 'Real', -- or Manual
  -- Where a manual clock begins, at creation and after each reset; null: the present.
  clock_start              timestamptz,
  clocked                  boolean not null default false, -- it has a row in clocks
  requests_logged_until    timestamptz, -- until then all requests are logged, not only failed ones
  followed_until           timestamptz, -- until then changes are noted: see changes

  -- What the API key may change, beside the resources: spec.api of the resource.
  api_test_clients         boolean not null default false, -- create, change and delete test clients
  api_reset                boolean not null default false, -- reset the sandbox
  api_faults               boolean not null default false, -- set and remove faults
  max_test_clients         bigint, -- in its registry; null is no limit
  -- Times of the last five resets by the API, the latest first, in the time of the database.
  api_resets               timestamptz[] not null default '{}',
  -- The same of the last ten changes of set_faults.
  fault_changes            timestamptz[] not null default '{}',

  webhook_url              text,
  webhook_host             text not null default '', -- of webhook_url, with its port; empty: there is none
  -- Why nothing is ever sent to webhook_url; empty: it may be. The controller decides it.
  webhook_refusal          text not null default '',
  -- The types of transactions whose events are sent.
  webhook_types            text[] not null default '{collection,refund,disbursement}',
  webhook_max_retries      integer not null,
  webhook_initial_delay_ms bigint not null,
  webhook_factor           double precision not null,
  webhook_max_delay_ms     bigint not null,
  callback_hosts           text[], -- patterns of hosts that callbacks may go to; null: the default
  secret_rotation          text not null default '', -- value in the spec for which signing_secret was issued
  -- Secrets are encrypted. A previous secret signs beside the present one until its time. older_secrets has
  -- the most recent one first.
  signing_secret           bytea,
  previous_secret          bytea,
  previous_secret_until    timestamptz,
  older_secrets            bytea[] not null default '{}',
  older_secrets_until      timestamptz[] not null default '{}',
  -- Of the present one, the previous one and the older ones, in this order; and since when the present one
  -- signs.
  secret_fingerprints      text[] not null default '{}',
  secret_since             timestamptz
);
create index organizations_version on organizations (version);
-- Of one name, one sandbox is not retained. No partial index: Postgres would read all of it for any statement
-- with the same condition, as long as the table seems to be empty.
create unique index organizations_name on organizations (namespace, name, coalesce(retained_at, 'infinity'));
-- Serves the look-up whether any sandbox is followed.
create index organizations_followed on organizations (followed_until) where followed_until is not null;
call protect('organizations', '{controller}');

-- Environments and stores keep the order of the resource. A request of an operator's own API names no store,
-- and sometimes no environment: it means the first one.
create table environments (
  tenant         bigint not null,
  env_id         text not null,
  operator       text not null,
  country        text not null,
  currency       text not null,
  enabled        boolean not null,
  -- A removed row is kept, so that its history stays readable and it can come back.
  removed        boolean not null default false,
  commission_bps integer not null,
  absorption_pct integer not null,
  unknown_policy text not null,
  max_amount     bigint,
  place          integer not null default 0,     -- position in the order
  vague          boolean not null default false, -- the operator's own API hides the reasons of failures
  quirks         jsonb not null default '{}',    -- of the operator's own API
  callback_url   text not null default '',       -- of an operator whose requests name none
  callback_hash  boolean not null default false, -- callbacks to callback_url are signed
  primary key (tenant, env_id),
  unique (tenant, operator, country)
);
call protect('environments');

create table stores (
  tenant  bigint not null,
  slug    text not null,
  removed boolean not null default false,
  place   integer not null default 0, -- position in the order
  primary key (tenant, slug)
);
call protect('stores');

create table api_keys (
  tenant     bigint not null,
  hash       bytea not null, -- SHA-256 of the key
  created_at timestamptz not null default now(),
  expires_at timestamptz, -- only of a key that a newer one replaced
  -- Credentials for the operators' own APIs, which are derived from the key: identifiers, and hashes of
  -- secrets.
  native     jsonb,
  primary key (tenant, hash)
);
call protect('api_keys', '{controller}');

-- The access of a store to an operator's API, to which its collections are forwarded.
create table operator_credentials (
  tenant   bigint not null,
  store    text not null, -- slug
  operator text not null,
  country  text not null,
  base_url text not null,
  sealed   bytea, -- the credentials; null: they are missing
  primary key (tenant, store, operator, country)
);
call protect('operator_credentials', '{controller}');

-- The api reads the configuration of all sandboxes.
create policy api on organizations for select to cauri_api using (true);
create policy api on environments for select to cauri_api using (true);
create policy api on stores for select to cauri_api using (true);
create policy api on api_keys for select to cauri_api using (true);

-- Returns a tenant number as text, empty if no sandbox has it any more. A scope is entered with it, before
-- the settings of the scope are in force. So the function has settings of its own. Without them, a plan made
-- for a table of one page would read all sandboxes as long as its connection lives.
-- +goose StatementBegin
create function tenant_in_use(number bigint) returns text language plpgsql stable
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return coalesce((select tenant::text from organizations where tenant = number and retained_at is null), '');
end $$;
-- +goose StatementEnd

-- Clocks ----------------------------------------------------------------------------------------------------

-- The clock of a sandbox. A sandbox without a row has the time of the database.
--
-- The times in a sandbox's rows are in sandbox time. They stay as they are when the clock moves. Leases, rate
-- limits, keys, retention and cleaning are in the time of the database.
create table clocks (
  tenant          bigint primary key,
  -- Where a manual clock began. If clock_start has another value now, that value waits for the next reset.
  -- Null: the clock began as a real one.
  began_at        timestamptz,
  stands_at       timestamptz, -- sandbox time of a clock that is manual or is being advanced; null: it runs
  ahead           interval not null default '0', -- of a clock that runs: sandbox time minus database time
  -- Stamp of the last record: sandbox time is never before it.
  last_stamp      timestamptz not null default '-infinity',
  target          timestamptz, -- of the advance that is under way; null: none
  last_target     timestamptz, -- of the last advance that reached it
  -- Number of the present or last advance. A request that waits for an advance recognizes its end by it.
  advance         bigint not null default 0,
  fence           bigint not null default 0, -- fencing token: a worker with an older one has lost the lease
  leased_until    timestamptz, -- end of the lease of the clock, in the time of the database
  settled         bigint not null default 0, -- counts of the present or last advance
  expired         bigint not null default 0,
  delivered       bigint not null default 0,
  failed_attempts bigint not null default 0,
  -- The last advances that reached their target, the latest first: five values each, its number and four
  -- counts.
  ended           bigint[] not null default '{}'
) with (fillfactor = 50);
create index clocks_advanced on clocks (tenant) where target is not null;
call protect('clocks');

-- +goose StatementBegin
create function note_beginning() returns trigger language plpgsql as $$
begin
  new.began_at := new.stands_at;
  return new;
end $$;
-- +goose StatementEnd
create trigger begins before insert on clocks for each row execute function note_beginning();

-- Returns the sandbox time of a clock. For the nulls of a left join without a clock, it returns the time of
-- the database. The function takes columns and not the row, since a role that passes the row needs the
-- privilege to select all columns.
-- +goose StatementBegin
create function clock_time(stands_at timestamptz, ahead interval, last_stamp timestamptz) returns timestamptz
  language sql stable parallel safe
  return greatest(coalesce(stands_at, now() + ahead, now()), last_stamp);
-- +goose StatementEnd

-- Returns the sandbox time of a tenant. Postgres 18 keeps its plan, as that of tenant_in_use.
-- +goose StatementBegin
create function sandbox_time(of_tenant bigint) returns timestamptz language sql stable parallel safe
  set enable_seqscan = off as $$
  select clock_time(c.stands_at, c.ahead, c.last_stamp)
  from (select) one
  left join clocks c on c.tenant = of_tenant
$$;
-- +goose StatementEnd

-- Returns the time of the rows that the database transaction records. In a sandbox with a clock it is the
-- stamp that TakeStamp (server/postgres/recording.go) has taken under the lock of the clock's row. So ids and
-- times rise in the order of recording.
-- +goose StatementBegin
create function recording_time() returns timestamptz language sql stable parallel safe
  return coalesce(nullif(current_setting('cauri.stamp', true), '')::timestamptz, now());
-- +goose StatementEnd

-- Returns an id whose first seven bytes are recording_time(), in microseconds since the Unix epoch.
-- +goose StatementBegin
create function recording_id(id uuid) returns uuid language sql stable parallel safe
  return (lpad(to_hex((extract(epoch from recording_time()) * 1000000)::bigint), 14, '0')
    || substr(replace(id::text, '-', ''), 15))::uuid;
-- +goose StatementEnd

-- Money -----------------------------------------------------------------------------------------------------
-- For every float and every SIM, at every moment: sum of its adjustments + sum of its transactions' deltas =
-- balance. Balances change often. No index has them, and fillfactor leaves room in each page, so that each
-- change is a HOT update. A balance is at most 10^15 (payments.MaxBalance), so that an addition never
-- overflows.
--
-- A movement of a float is an adjustment, or a transaction that succeeds. A movement of a SIM is an
-- adjustment, or a transaction that the SIM pays or receives. The movements of each float and SIM are
-- numbered 1, 2, 3 and so on. A movement takes its number under the lock of the balance's row. So no number
-- is missing, the balance after movement n is the balance after movement n-1 plus the delta of n, and the
-- balance after the last movement is the present balance.

create table floats (
  tenant     bigint not null,
  currency   text not null,
  balance    bigint not null check (balance >= 0),
  movements  bigint not null default 0, -- the number of its last movement
  opening    bigint not null, -- the balance in the resource
  changed_at timestamptz not null default now(),
  primary key (tenant, currency),
  constraint floats_balance_bound check (balance <= 1000000000000000)
) with (fillfactor = 50);
call protect('floats');

create table sims (
  tenant     bigint not null,
  sim_id     uuid not null, -- UID of the TestClient
  name       text not null, -- of the TestClient
  -- resource or api. A SIM of source api has no resource, and is gone after a reset.
  source     text not null default 'resource',
  msisdn     text not null,
  operator   text not null,
  country    text not null,
  currency   text not null,
  blocked    boolean not null,
  behavior  text not null,
  balance    bigint not null check (balance >= 0),
  movements  bigint not null default 0, -- the number of its last movement
  opening    bigint not null,
  changed_at timestamptz not null default now(),
  -- Real time until which the holder answers by hand, whatever the behavior; null or past: not so. It is no
  -- part of the resource, and gone after a reset.
  manual_until timestamptz,
  -- The least id of a transaction that the present name is older than. Null: the SIM had no other name.
  named_from uuid,
  generation bigint not null default 0, -- as in organizations
  primary key (tenant, sim_id),
  unique (tenant, msisdn),
  constraint sims_balance_bound check (balance <= 1000000000000000)
) with (fillfactor = 50);
create index sims_sim_id on sims (sim_id); -- a TestClient whose sandbox is gone is found by its UID alone
call protect('sims', '{controller}');
-- In the scope of a tenant, SIMs of resources can be neither inserted nor deleted.
create policy api_inserts on sims as restrictive for insert to cauri_tenant with check (source = 'api');
create policy api_deletes on sims as restrictive for delete to cauri_tenant using (source = 'api');

-- Payments look up SIMs by this index. Its first key is the tenant and the number in one text, so that no
-- other look-up uses it. Payments read it through a view, to which row-level security adds no condition on
-- the tenant. The view has such a condition itself, in a form that no index serves.
create unique index sims_number on sims ((tenant::text || msisdn) collate "C", tenant);
create view sims_by_number as
  select (s.tenant::text || s.msisdn) collate "C" as number_key, s.sim_id, s.msisdn, s.operator, s.country,
    s.currency, s.blocked, s.balance, s.movements, s.changed_at
  from sims s
  where s.tenant is not distinct from current_tenant();

-- Changes of a balance by configuration. The first one is the opening balance.
create table adjustments (
  tenant        bigint not null,
  adjustment_id uuid not null default gen_random_uuid(),
  currency      text, -- of a float
  sim_id        uuid, -- of a SIM
  number        bigint not null check (number > 0),
  delta         bigint not null,
  balance_after bigint not null,
  created_at    timestamptz not null default now(),
  primary key (tenant, adjustment_id),
  check ((currency is null) <> (sim_id is null))
);
create index adjustments_of_floats on adjustments (tenant, currency, number) where currency is not null;
create index adjustments_of_sims on adjustments (tenant, sim_id, number) where sim_id is not null;
call protect('adjustments');

-- In transactions and events, columns aligned to eight bytes come first, then columns aligned to four, then
-- the rest. So there is no padding.
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
  merchant_number        bigint not null default 0, -- of the movement of the float; 0: it moved nothing
  sim_number             bigint not null default 0, -- of the movement of the SIM; 0: it moved nothing
  created_at             timestamptz not null default now(),
  completed_at           timestamptz,
  -- When a worker next has work with a pending transaction: to settle it, to let it expire, or to forward it
  -- (see passthrough).
  due_at                 timestamptz,
  -- End of the lease of a forwarded collection in a sandbox with a clock. Without a clock, due_at is the end
  -- of the lease.
  leased_until           timestamptz,
  expires_at             timestamptz,
  forwarded_at           timestamptz, -- when the operator accepted it
  forward_fence          bigint,      -- fencing token: a worker with an older one has lost the lease

  type                   transaction_type not null,
  status                 transaction_status not null,
  absorption_pct         integer not null,
  latency_ms             integer not null,
  forward_failures       integer, -- attempts in a row that had no outcome
  -- Attempts to send it to its operator, null for none. Each is committed before its request is sent. So if
  -- the operator has the payment already, an earlier attempt has sent it.
  forward_attempts       integer,

  id                     uuid not null, -- sorts by time
  parent_id              uuid,
  sim_id                 uuid, -- of the payer or recipient; null: none
  -- The collection is forwarded to the operator's API, since the sandbox does not know its number. due_at is
  -- when a worker next forwards it or asks for its status, or the end of the lease of that worker.
  passthrough            boolean not null default false,
  is_url_protected       boolean not null,
  reference              text not null,
  -- Hash of the request as sent, which distinguishes a replay from a conflict. For a request of an operator's
  -- own API it is the name of the call instead, so that no request of /v1 is a replay of it.
  request_hash           bytea not null,
  order_ref              text not null,
  order_url              text,
  store                  text not null,
  description            text,
  scenario               text not null, -- empty: none was forced
  env_id                 text not null,
  operator               text not null,
  country                text not null,
  currency               text not null, -- as sent
  float_currency         text not null, -- of the float that the transaction belongs to
  msisdn                 text not null,
  -- Behavior of the payer's test number when the collection was recorded. Null: the payer is no test number.
  -- A collection with a test number has no SIM and is not forwarded.
  test_behavior          text,
  -- The operator's transaction id, if it was drawn from the seed; null: it is derived from the id.
  provider_tx_id         text,
  native_id              text, -- the id in the answer of an operator's API
  native_raw             json, -- that answer, with its keys in their order
  faults                 text[], -- names of the faults that applied, in the order of their first time

  check ((status = 'PENDING') = (completed_at is null)),
  check (status = 'PENDING' or due_at is null),
  check (status = 'SUCCESS' or (merchant_delta = 0 and sim_delta = 0)),
  constraint transactions_merchant_number check (status <> 'SUCCESS' or merchant_number > 0),
  constraint transactions_sim_number check (sim_delta = 0 or sim_number > 0),
  constraint transactions_forward check (passthrough = (forward_fence is not null))
) with (fillfactor = 90);
create index transactions_order on transactions (tenant, order_ref, id);
-- Serves filtered lists. A list merges the newest rows of each combination of status, type, operator and
-- country.
create index transactions_listed on transactions (tenant, status, type, operator, country, id);
-- These indexes begin with tenant: a sweep skips from one sandbox with due rows to the next, and takes a
-- limited number of rows from each. So no sandbox waits for the backlog of another, and a suspended sandbox
-- costs a single look-up. Each sweep has an index of its own, so that rows of one sweep never delay the
-- other.
create index transactions_due on transactions (tenant, due_at)
  where status = 'PENDING' and not passthrough;
create index transactions_forward_due on transactions (tenant, due_at)
  where status = 'PENDING' and passthrough;
-- The movements of a float in the order of their numbers. Every transaction that moves a SIM moves a float
-- too.
create index transactions_movements on transactions (tenant, float_currency, merchant_number)
  where status = 'SUCCESS';
create index transactions_sim_movements on transactions (tenant, sim_id, sim_number)
  where sim_delta <> 0;
-- Makes references unique in a tenant. Payments read it through transactions_by_reference, for the reasons of
-- sims_number.
create unique index transactions_reference on transactions
  ((tenant::text || ' ' || reference) collate "C", tenant);
-- Created last, so that Postgres prefers it to indexes with the same cost.
alter table transactions add constraint transactions_pkey primary key (tenant, id);
call protect('transactions');

create view transactions_by_reference as
  select (t.tenant::text || ' ' || t.reference) collate "C" as reference_key, t.id
  from transactions t
  where t.tenant is not distinct from current_tenant();

-- Filtered lists read this view, which has the condition of row-level security itself. Under the policy, no
-- index serves a condition on status or type, since comparisons of enums are not leakproof. The view returns
-- only rows of the tenant, whatever a WHERE says.
create view listed_transactions as
  select tenant, id, status, type, operator, country, store, msisdn, created_at, completed_at
  from transactions
  where tenant = current_tenant();

-- Under which operators and countries the tenant may have transactions: those of its environments, and of
-- environments that were removed. Of a configuration, the scope of a tenant sees only this.
create view listed_markets as
  select tenant, operator, country
  from environments
  where tenant = current_tenant();

-- Transactions created in a calendar month (UTC), for sandboxes with a quota only.
create table quota_usage (
  tenant bigint not null,
  month  date not null, -- its first day
  used   bigint not null,
  primary key (tenant, month)
) with (fillfactor = 50);
call protect('quota_usage', '{worker}');

-- Requests granted in each second of about the last minute, for sandboxes with a rate limit only.
create table rate_usage (
  tenant  bigint not null,
  second  bigint not null, -- Unix time
  granted integer not null,
  primary key (tenant, second)
) with (fillfactor = 50);
call protect('rate_usage', '{worker}');

-- The number of a sandbox's transactions up to one of them, so that a count reads only the later ones.
create table transaction_counts (
  tenant bigint primary key,
  upto   uuid not null,  -- no transaction with a smaller id is recorded any more
  total  bigint not null -- transactions up to it
) with (fillfactor = 50);
call protect('transaction_counts');

-- The proof of the ledger -----------------------------------------------------------------------------------

-- The last verification of a sandbox's ledger. No row: there was none yet.
create table ledger_proofs (
  tenant       bigint primary key,
  verified_at  timestamptz, -- all that was recorded before is verified
  passed_at    timestamptz, -- start of the last verification from the first movement on (a pass)
  pass_due_at  timestamptz not null default now(), -- when the next pass is due
  broken       integer not null default 0, -- accounts that are not balanced
  imbalance    bigint not null default 0,  -- sum over these accounts, without signs
  fence        bigint not null default 0,  -- fencing token: a worker with an older one has lost the lease
  leased_until timestamptz
) with (fillfactor = 50);
create index ledger_proofs_due on ledger_proofs (pass_due_at);
call protect('ledger_proofs');

-- The last verification of each float and SIM.
create table account_proofs (
  tenant         bigint not null,
  account        text not null, -- the currency of a float, or the sim_id of a SIM
  sim_id         uuid, -- null for a float
  verified_up_to bigint not null, -- the number of a movement
  verified_at    timestamptz not null,
  balance        bigint not null, -- after that movement
  -- Sums of the movements up to that number, by kind.
  opening        bigint not null,
  adjustments    bigint not null, -- without the opening
  collections    bigint not null,
  refunds        bigint not null,
  disbursements  bigint not null,
  -- If the balance does not follow from its movements: imbalance is the balance minus their sum. The error
  -- lies after movement broken_after, and before movement broken_before. If broken_before is null, the last
  -- movement or the balance itself is wrong.
  imbalance      bigint not null default 0,
  broken_after   bigint, -- null: it is balanced
  broken_before  bigint,
  primary key (tenant, account)
) with (fillfactor = 50);
call protect('account_proofs', '{worker}');

-- Events ----------------------------------------------------------------------------------------------------

-- Each transaction with a terminal status has one event. Its id is that of the transaction, so that there
-- cannot be two. The row is also the entry in the delivery queue. The body is built before the first attempt
-- and stored. Every attempt sends it.
create table events (
  tenant       bigint not null,
  -- When the next attempt is due; null: none is. In a sandbox without a clock, it is the end of the lease
  -- during an attempt.
  due_at       timestamptz,
  leased_until timestamptz, -- the end of the lease, in a sandbox with a clock
  fence        bigint not null default 0, -- fencing token: a worker with an older one has lost the lease
  created_at   timestamptz not null default now(),
  recorded_at  timestamptz not null default now(), -- in the time of the database, for the removal by age
  delivered_at timestamptz,
  state        event_state not null,
  attempts     integer not null default 0,
  -- The number of attempts when it was last queued by hand; null: never. Its retry schedule begins there, and
  -- it is sent whatever its type.
  resent_after integer,
  resends      integer, -- how often it was to be sent again by hand; null: never
  -- The number of probes, which use up no retry, of an event that was never queued by hand. A probe of
  -- another event raises resent_after.
  probes       integer not null default 0,
  id           uuid not null,
  leased       boolean not null default false, -- a worker has leased it; the lease may have expired
  body         bytea,
  primary key (tenant, id)
) with (fillfactor = 80);
create index events_due on events (tenant, due_at) where due_at is not null;
create index events_failed on events (tenant, id) where state = 'failed';
call protect('events', '{worker}');

create table delivery_attempts (
  tenant          bigint not null,
  event_id        uuid not null,
  attempt         integer not null, -- from 1
  started_at      timestamptz not null, -- sandbox time
  real_started_at timestamptz, -- the same in the time of the database; null: started_at is in that time
  duration_ms     integer not null,
  response_status integer, -- null: no answer came
  response_body   bytea,   -- the first 4 KiB
  error           text,    -- null: acknowledged
  faults          text[],  -- names of the faults that applied
  -- As its headers said: webhook-timestamp, X-Service-Signature, the same by the previous secret, and
  -- webhook-signature. Null: nothing was sent, or there is no previous secret.
  signed_at          timestamptz,
  signature          text,
  previous_signature text,
  standard_signature text,
  signed_with        text, -- fingerprints of the secrets, in the order of standard_signature
  copies json, -- the answers to copies that a fault sent at the same moment; null: there were none
  primary key (tenant, event_id, attempt)
);
call protect('delivery_attempts', '{worker}');

-- The health of a sandbox's endpoint, updated with every batch of attempts.
create table endpoint_health (
  tenant          bigint primary key,
  failures        integer not null default 0, -- attempts in a row without a success
  failing_since   timestamptz,                -- the first of them
  -- Set while the circuit breaker is open: nothing is sent before this time, and then one event as a probe.
  probe_at        timestamptz,
  delivered       bigint not null default 0,  -- events
  failed          bigint not null default 0,  -- events whose retries are used up
  last_failure_at timestamptz,
  last_failure    text,
  changed_at      timestamptz not null default now(),
  -- Attempts, by event and number: the first of failures, the last failure, and the last that was
  -- acknowledged. Their rows go with their events.
  first_failed         uuid,
  first_failed_attempt integer,
  last_failed          uuid,
  last_failed_attempt  integer,
  last_acked           uuid,
  last_acked_attempt   integer,
  -- Where the last attempt on which no fault acted was acknowledged; null: it was not.
  acknowledged_url     text,
  -- When the URL changed after an attempt, in the time of the database; null: it did not. What was attempted
  -- before says nothing about the present one.
  url_changed_at       timestamptz
) with (fillfactor = 50);
call protect('endpoint_health');

-- Events and callbacks that wait after, or have ended failed by, an attempt on which no fault acted, until
-- they are delivered, or queued by hand. They say whether a receiver is well. No payment touches them. What
-- looks for an id writes operator || '', so that it takes the primary key whatever the statistics.
create table unacknowledged_events (
  tenant     bigint not null,
  created_at timestamptz not null, -- of the event
  attempt    integer not null, -- the last such attempt
  id         uuid not null,
  operator   text not null, -- of a callback; empty: it is an event
  primary key (tenant, id, operator)
);
create index unacknowledged_events_newest on unacknowledged_events (tenant, operator, created_at);
call protect('unacknowledged_events', '{worker}');

-- The operators' own APIs -----------------------------------------------------------------------------------
-- Their requests record transactions like those of /v1.

-- A request that recorded the transaction with the same id.
create table native_requests (
  tenant    bigint not null,
  id        uuid not null,
  operation text not null, -- of the operator's API
  sent      json not null, -- what the operator's answers repeat, in the format of its package
  -- Where the callbacks go, their kinds, and with which outcome each is sent: see callbacks_of.
  callback_urls     text[], -- null: there are none
  callback_kinds    text[], -- null: they have none
  callback_outcomes text[], -- success, failure, or empty for both; null: all are empty
  primary key (tenant, id)
);
call protect('native_requests', '{worker}');

-- Callbacks. The row is also the entry in the queue, as in events. Like events, callbacks are listed, their
-- attempts are kept, and they can be sent again. The first callback of a transaction has the transaction's
-- id, and the others differ from it in the last four bits, see callback_id. A callback that belongs to no
-- transaction has an id like one, and goes by its own age.
create table native_callbacks (
  tenant         bigint not null,
  due_at         timestamptz, -- in sandbox time; null: it is not due
  leased_until   timestamptz, -- in the time of the database
  fence          bigint not null default 0, -- fencing token: a worker with an older one has lost the lease
  delivered_at   timestamptz,
  created_at     timestamptz, -- null: when its transaction was completed
  recorded_at    timestamptz, -- in the time of the database; null: it goes with its transaction's event
  attempts       integer not null default 0,
  retries        integer not null default 0, -- since it was recorded, or last queued by hand
  last_status    integer, -- HTTP status of the last attempt; null: no answer came
  times_sent     integer not null default 0, -- in the present attempt, because of a fault that duplicates it
  id             uuid not null,
  transaction_id uuid, -- null: it belongs to none
  state          event_state not null,
  operator       text, -- null: its transaction's
  kind           text not null, -- in the terms of the operator's package; empty: the operator has one kind
  url            text not null,
  sent           json, -- null: as in its request
  last_error     text,
  body           bytea, -- which every attempt sends; null: not built yet
  -- The fault that was decided for the present attempt. A worker that leases the callback after another
  -- worker applies the same fault.
  fault          text,
  primary key (tenant, id)
) with (fillfactor = 80);
create index native_callbacks_due on native_callbacks (tenant, due_at) where due_at is not null;
create index native_callbacks_failed on native_callbacks (tenant, id) where state = 'failed';
create index native_callbacks_newest on native_callbacks (tenant, operator, id) where recorded_at is not null;
create index native_callbacks_aged on native_callbacks (recorded_at) where recorded_at is not null;
call protect('native_callbacks', '{worker}');

-- Returns the id of a transaction's callback. place is from 1 to 16.
-- +goose StatementBegin
create function callback_id(id uuid, place integer) returns uuid language sql immutable parallel safe
  return case when place = 1 then id
    else overlay(id::text placing to_hex(('x' || right(id::text, 1))::bit(4)::integer # (place - 1))
      from 36)::uuid end;
-- +goose StatementEnd

-- The callbacks of a transaction have ids from first_callback_id to last_callback_id.
-- +goose StatementBegin
create function first_callback_id(id uuid) returns uuid language sql immutable parallel safe
  return overlay(id::text placing '0' from 36)::uuid;
-- +goose StatementEnd
-- +goose StatementBegin
create function last_callback_id(id uuid) returns uuid language sql immutable parallel safe
  return overlay(id::text placing 'f' from 36)::uuid;
-- +goose StatementEnd

-- Returns the callbacks that are sent when a transaction has its outcome.
-- +goose StatementBegin
create function callbacks_of(id uuid, urls text[], kinds text[], outcomes text[], status text)
  returns table (callback_id uuid, kind text, url text) language sql immutable parallel safe as $$
  select callback_id(callbacks_of.id, c.place::integer), coalesce(c.kind, ''), c.url
  from unnest(urls, kinds, outcomes) with ordinality c (url, kind, outcome, place)
  where coalesce(c.outcome, '') in ('', case status when 'SUCCESS' then 'success' else 'failure' end)
$$;
-- +goose StatementEnd

-- delivery_attempts for callbacks.
create table callback_attempts (
  tenant          bigint not null,
  id              uuid not null, -- of the callback
  attempt         integer not null, -- from 1
  started_at      timestamptz not null,
  real_started_at timestamptz,
  duration_ms     integer not null,
  response_status integer, -- null: no answer came
  response_body   bytea,   -- the first 4 KiB
  error           text,    -- null: acknowledged
  faults          text[],  -- names of the faults that applied
  copies          json,    -- as in delivery_attempts
  primary key (tenant, id, attempt)
);
call protect('callback_attempts', '{worker}');

-- Users that were created through an operator's own API. A user ends with the API key that created it, and
-- with a reset.
create table native_users (
  tenant        bigint not null,
  operator      text not null,
  user_id       uuid not null,
  made_with     bytea not null, -- hash of the API key
  secret_hash   bytea, -- null: it has none yet
  callback_host text not null,
  primary key (tenant, operator, user_id)
);
call protect('native_users');

-- What a sandbox keeps for the operators' own APIs, such as the URLs that a merchant has registered. A
-- setting ends with the API key that made it, and with a reset. A sandbox keeps only its newest ones of each
-- operator.
create table native_settings (
  tenant    bigint not null,
  operator  text not null,
  name      text not null,
  made_with bytea not null, -- hash of the API key
  value     json not null, -- in the format of the operator's package
  kept_at   timestamptz not null default now(), -- in the time of the database
  primary key (tenant, operator, name)
);
call protect('native_settings');

-- Access tokens of the operators' own APIs. Old tokens are removed, and a sandbox keeps only its newest ones
-- of each operator.
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
  primary key (tenant, operator, hash)
);
create index native_tokens_aged on native_tokens (created_at);
-- A partial index whose condition is true for all rows, so that Postgres never uses it in place of the
-- primary key to look up a token.
create index native_tokens_newest on native_tokens (tenant, operator, created_at)
  where created_at > '-infinity';
call protect('native_tokens', '{worker}');

-- Orders of the operators' own APIs that a payer confirms on a page. An order is no transaction: it moves
-- nothing. The collection is recorded when the payer confirms, with the id of the order as its reference. Old
-- orders are removed, and a sandbox keeps only its newest ones of each operator.
create table native_orders (
  tenant     bigint not null,
  token_hash bytea not null, -- of the token that names the order on its page
  operator   text not null,
  order_id   text not null,
  made_with  bytea not null, -- hash of the API key, with which the page ends
  amount     bigint not null,
  sent       json not null, -- of the request, in the format of the operator's package
  codes      integer not null default 0, -- one-time codes that were tried
  confirmed  boolean not null default false, -- its collection is recorded
  ended      boolean not null default false, -- without a transaction
  canceled   boolean not null default false, -- its payer has ended it
  expires_at timestamptz not null, -- in sandbox time
  created_at timestamptz not null default now(), -- in the time of the database
  constraint native_orders_one_end check (not (confirmed and ended))
);
create unique index native_orders_id on native_orders (tenant, operator, order_id);
create index native_orders_aged on native_orders (created_at);
create index native_orders_newest on native_orders (tenant, operator, created_at)
  where created_at > '-infinity'; -- as of native_tokens
-- Created last, so that Postgres prefers it to indexes with the same cost.
alter table native_orders add constraint native_orders_pkey primary key (tenant, operator, token_hash);
call protect('native_orders', '{worker}');
create policy api on native_orders for select to cauri_api using (true); -- which tokens exist
create policy api on native_tokens for select to cauri_api using (true); -- the same

-- Faults ----------------------------------------------------------------------------------------------------
-- Rows about references are removed by their age, in the time of the database.

-- The faults that were set through the API, beside those of the resource. change_faults writes them.
create table set_faults (
  tenant  bigint not null,
  number  bigint not null generated always as identity, -- rises with each setting
  name    text not null,
  entry   json not null, -- as in spec.faults
  set_by  text not null, -- api, console or cli
  set_at  timestamptz not null default now(), -- in the time of the database
  ends_at timestamptz, -- the same; null: when it is removed
  primary key (tenant, name)
);
call protect('set_faults', writes => false);
create policy api on set_faults for select to cauri_api using (true);

-- How often each fault applied. `first` is compared with acts under the lock of this row.
create table fault_counts (
  tenant  bigint not null,
  name    text not null, -- of a fault in set_faults with its number
  digest  bytea not null, -- of the fault's entry in the spec; a changed entry is counted from 0
  acts    bigint not null default 0,
  draws   bigint not null default 0, -- of `percent`, where there is no reference
  last_at timestamptz, -- when it last applied, in sandbox time
  primary key (tenant, name)
) with (fillfactor = 50);
call protect('fault_counts');

-- The references for which a fault has applied, of faults that apply once for each reference.
create table fault_acts (
  tenant    bigint not null,
  name      text not null,
  reference text not null,
  acted_at  timestamptz not null default now(),
  primary key (tenant, name, reference)
);
create index fault_acts_aged on fault_acts (acted_at);
call protect('fault_acts', '{worker}');

-- The number of requests with a reference, in sandboxes with faults that depend on it.
create table fault_requests (
  tenant     bigint not null,
  reference  text not null,
  requests   integer not null default 1,
  counted_at timestamptz not null default now(),
  primary key (tenant, reference)
) with (fillfactor = 50);
create index fault_requests_aged on fault_requests (counted_at);
call protect('fault_requests', '{worker}');

-- The fault that was decided for the next attempt of an event, until the attempt is recorded. A worker that
-- leases the event after another worker applies the same fault.
create table event_faults (
  tenant      bigint not null,
  event_id    uuid not null,
  attempt     integer not null,
  name        text not null,
  not_before  timestamptz not null, -- sandbox time
  awaits_next boolean not null, -- the event is sent after the sandbox's next one
  sent        integer not null default 0, -- how often it was sent in this attempt
  primary key (tenant, event_id)
) with (fillfactor = 50);
call protect('event_faults', '{worker}');

-- Expectations ----------------------------------------------------------------------------------------------

-- What a resource expects of its sandbox, and what a worker found. The row belongs to the tenant that the
-- sandbox had when it was made: after a reset nobody evaluates it any more. All times are real times.
create table expectations (
  tenant         bigint not null,
  uid            uuid not null, -- of the resource
  name           text not null, -- of the resource, in the namespace of the sandbox
  run            text not null, -- value of the spec that the row was made for
  began_at       timestamptz not null default now(),
  lines          jsonb not null, -- as in the spec
  settle_ms      bigint not null, -- for how long all lines have to stay met
  deadline       timestamptz not null,
  since_creation boolean not null, -- only what comes after began_at counts
  since          uuid, -- the newest transaction before began_at; null: there was none
  -- When it is evaluated although nothing happens; null: it is decided.
  due_at         timestamptz default now(),
  evaluated_at   timestamptz not null default 'epoch',
  verdict        text not null default 'Open', -- Met or Failed
  reason         text not null default '',
  message        text not null default '',
  results        jsonb not null default '[]', -- one for each line, once it was evaluated
  met_since      timestamptz, -- since when all lines are met
  changed_at     timestamptz not null default now(), -- what the resource shows at once
  primary key (tenant, uid)
) with (fillfactor = 50);
create index expectations_uid on expectations (uid); -- an Expectation is found by its UID alone
create index expectations_open on expectations (tenant) where due_at is not null;
create index expectations_changed on expectations (changed_at);
call protect('expectations', '{worker, controller}');

-- Checks of receivers ---------------------------------------------------------------------------------------

-- A check sends a fixed battery of events to the webhook of its sandbox, and grades the answers. It belongs
-- to the tenant that the sandbox had when it was asked for, so that a reset ends it. All times are real
-- times.
create table receiver_checks (
  tenant       bigint not null,
  id           uuid not null, -- sorts by requested_at
  requested_at timestamptz not null default now(),
  tx_id        uuid, -- of the transaction whose event is sent; null: all transactions are invented
  allow        boolean not null, -- a refund of that transaction may be told that did not happen
  host         text, -- of the receiver; null: no worker has begun
  began_at     timestamptz,
  fence        bigint not null default 0,
  leased_until timestamptz,
  finished_at  timestamptz,
  problem      text not null default '', -- why it could not be run
  card         jsonb, -- the report card so far
  primary key (tenant, id)
);
create unique index receiver_checks_open on receiver_checks (tenant) where finished_at is null;
create index receiver_checks_host on receiver_checks (host, began_at) where host is not null;
call protect('receiver_checks');

-- The request log -------------------------------------------------------------------------------------------

-- The last requests to each sandbox, with their answers: requests that failed, requests without a valid key,
-- and, until organizations.requests_logged_until, requests that succeeded. The api writes only what may be
-- kept of a request, which includes no credential, and removes the oldest requests.
create table requests (
  tenant        bigint not null,
  id            uuid not null, -- sorts by the time of the answer
  kind          text not null
    check (kind in ('failed', 'succeeded', 'guest_failed', 'guest_succeeded', 'unauthenticated')),
  received_at   timestamptz not null,
  method        text not null,
  path          text not null,
  query         json,
  status        integer, -- null: the connection was closed without an answer
  error         text,
  hint          text, -- what a person should know about the request; null for nothing
  request_id    text,
  fault         text, -- name of the declared fault that applied
  actor         text, -- the session of the console that made a change; null: a request with the API key
  request_body  json,
  response_body json,
  not_kept      json, -- names of the parts of the request that are not kept
  primary key (tenant, id)
);
call protect('requests', writes => false);
create policy api on requests to cauri_api using (true); -- it writes requests of all sandboxes at once

-- The console -----------------------------------------------------------------------------------------------

-- Who looks at a sandbox in a browser: links that open the console once, and sessions. Both belong to the
-- organization, so that a reset ends none of them. They end with the API key that made them, and with the
-- organization. Their times are those of the database.
create table console_links (
  org_id     text not null references organizations on delete cascade,
  hash       bytea not null, -- SHA-256 of the token in the link
  made_with  bytea not null, -- hash of the API key
  role       text not null check (role in ('full', 'viewer', 'handset')),
  msisdn     text check ((msisdn is not null) = (role = 'handset')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '5 minutes',
  primary key (org_id, hash)
);
create index console_links_newest on console_links (org_id, created_at);
create index console_links_ended on console_links (expires_at);

create table console_sessions (
  org_id     text not null references organizations on delete cascade,
  hash       bytea not null, -- SHA-256 of the token in the cookie
  session_id text not null,  -- how the API and the request log name it
  made_with  bytea not null, -- hash of the API key
  role       text not null check (role in ('full', 'viewer', 'handset')),
  msisdn     text check ((msisdn is not null) = (role = 'handset')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '8 hours',
  primary key (org_id, hash)
);
create index console_sessions_newest on console_sessions (org_id, created_at);
create index console_sessions_ended on console_sessions (expires_at);

-- In the scope of a tenant, only those of its organization are there. The api also asks outside of a scope
-- which tokens open something, since strangers send any, and the worker removes those that have ended.
-- +goose StatementBegin
do $$
declare name text;
begin
  foreach name in array array['console_links', 'console_sessions'] loop
    execute format('alter table %I alter column org_id set statistics 0', name);
    execute format('alter table %I enable row level security', name);
    execute format('create policy tenant on %I to cauri_tenant using (org_id = (
      select o.org_id from organizations o where o.tenant = current_tenant()))', name);
    execute format('create policy worker_reads on %I for select to cauri_worker using (true)', name);
    execute format('create policy worker_deletes on %I for delete to cauri_worker using (true)', name);
  end loop;
end $$;
-- +goose StatementEnd
create policy api on console_sessions for select to cauri_api using (true);
create policy api on console_links for select to cauri_api using (true);

-- The stream ------------------------------------------------------------------------------------------------

-- The changes of a sandbox while a stream followed it (GET /v1/stream). Only a reference to the changed row
-- is noted, since a stream sends a row in its state at the time of reading. Readers read in the order (xact,
-- seq), up to the oldest database transaction that still runs. So no reader passes a change that is committed
-- late. A row of kind start says that the changes before it are unknown.
create table changes (
  tenant     bigint not null,
  -- The database transaction that made the change.
  xact       bigint not null default pg_current_xact_id()::text::bigint,
  seq        bigint generated always as identity,
  -- Start, booking, transaction, event, resend, attempt, callback, callback_attempt, clock, faults, float or
  -- sim.
  kind       text not null,
  id         uuid, -- of the transaction, its event or its callback, which have the same id; or of the SIM
  attempt    integer,
  currency   text, -- of the float
  created_at timestamptz not null default now(),
  primary key (tenant, xact, seq)
);
call protect('changes', '{worker}', writes => false);

-- Notes a change, if a stream follows the sandbox. If a statement knows that no stream does, cauri.followed
-- is no, and the triggers do not call this function: see server/postgres/scope.go. A database transaction has
-- a transaction id before it reads the mark followed_until. By these ids a reader knows when all database
-- transactions that have not seen the mark have ended.
-- +goose StatementBegin
create function note_change() returns trigger language plpgsql security definer
  set plan_cache_mode = force_generic_plan as $$
declare
  kind text := tg_argv[0];
begin
  if current_setting('cauri.followed', true) = 'no' then
    return null; -- an earlier call in this database transaction has found it
  end if;
  if not exists (select from organizations where followed_until > now()) then
    perform set_config('cauri.followed', 'no', true);
    return null;
  end if;
  -- As a condition, followed_until > now() could be served by organizations_followed. A plan made while one
  -- sandbox is followed would read all that are followed later.
  if (select followed_until > now() from organizations where tenant = new.tenant) is not true then
    return null;
  end if;
  if kind = 'adjustment' then
    kind := case when new.currency is not null then 'float' else 'sim' end;
  elsif kind = 'booking' and tg_op = 'UPDATE' then
    if old.status = new.status then
      kind := 'transaction'; -- with the same status, it moved no balance
    end if;
  elsif kind = 'event' then
    if old.resends is distinct from new.resends then
      kind := 'resend';
    end if;
  end if;
  case kind
    when 'attempt' then
      insert into changes (tenant, kind, id, attempt) values (new.tenant, kind, new.event_id, new.attempt);
    when 'callback_attempt' then
      insert into changes (tenant, kind, id, attempt) values (new.tenant, kind, new.id, new.attempts);
    when 'float' then
      insert into changes (tenant, kind, currency) values (new.tenant, kind, new.currency);
    when 'sim' then
      insert into changes (tenant, kind, id) values (new.tenant, kind, new.sim_id);
    when 'clock', 'faults' then
      insert into changes (tenant, kind) values (new.tenant, kind);
    else
      insert into changes (tenant, kind, id) values (new.tenant, kind, new.id);
  end case;
  return null;
end $$;
-- +goose StatementEnd

-- Triggers note the changes of all writers. Leases, and times that are not shown, are no changes. Each
-- trigger on a table that a payment writes costs the payment some microseconds. So a payment has one trigger:
-- a booking stands for the transaction, its event, and the balances that it moved.
create trigger noted_when_made after insert on transactions for each row
  when (current_setting('cauri.followed', true) is distinct from 'no')
  execute function note_change('booking');
create trigger noted_when_changed after update on transactions for each row
  when (current_setting('cauri.followed', true) is distinct from 'no'
    and (old.status <> new.status
      or old.refunded <> new.refunded
      or old.faults is distinct from new.faults
      or old.provider_tx_id is distinct from new.provider_tx_id
      or old.native_id is distinct from new.native_id))
  execute function note_change('booking');

create trigger noted_when_changed after update on events for each row
  when (current_setting('cauri.followed', true) is distinct from 'no'
    and (old.state <> new.state
      or old.attempts <> new.attempts
      or old.resends is distinct from new.resends
      or old.due_at is distinct from new.due_at and not old.leased and not new.leased))
  execute function note_change('event');

create trigger noted_when_made after insert on delivery_attempts for each row
  when (current_setting('cauri.followed', true) is distinct from 'no')
  execute function note_change('attempt');

create trigger noted_when_made after insert on native_callbacks for each row
  when (current_setting('cauri.followed', true) is distinct from 'no')
  execute function note_change('callback');
create trigger noted_when_changed after update on native_callbacks for each row
  when (current_setting('cauri.followed', true) is distinct from 'no'
    and (old.state <> new.state or old.attempts <> new.attempts))
  execute function note_change('callback');
create trigger noted_when_tried after update on native_callbacks for each row
  when (current_setting('cauri.followed', true) is distinct from 'no' and old.attempts <> new.attempts)
  execute function note_change('callback_attempt');

create trigger noted_when_made after insert on clocks for each row
  when (current_setting('cauri.followed', true) is distinct from 'no')
  execute function note_change('clock');
create trigger noted_when_changed after update on clocks for each row
  when (current_setting('cauri.followed', true) is distinct from 'no'
    and (old.stands_at is distinct from new.stands_at
      or old.ahead <> new.ahead
      or old.target is distinct from new.target))
  execute function note_change('clock');

create trigger noted_when_made after insert on adjustments for each row
  when (current_setting('cauri.followed', true) is distinct from 'no')
  execute function note_change('adjustment');

-- change_faults notes that a fault is set or removed.
create trigger noted_when_acted after update on fault_counts for each row
  when (current_setting('cauri.followed', true) is distinct from 'no' and old.acts <> new.acts)
  execute function note_change('faults');

-- The upkeep of the workers ---------------------------------------------------------------------------------

-- Sweeps that failed in one sandbox although the database was available. The sandbox waits until retry_at,
-- longer after each failure. The other sandboxes do not wait.
create table sweep_failures (
  tenant        bigint not null,
  sweep         text not null, -- settlement, delivery, passthrough, callbacks, clock or verification
  failures      integer not null default 1, -- in a row
  failing_since timestamptz not null default now(),
  retry_at      timestamptz not null,
  error         text not null,
  primary key (tenant, sweep)
) with (fillfactor = 50);
call protect('sweep_failures', '{worker}');

-- When something last happened in a sandbox that its status should show. A process writes the activity of all
-- sandboxes in one statement every few seconds, so that no payment has to write it.
create table activity (
  tenant     bigint primary key,
  changed_at timestamptz not null default now()
) with (fillfactor = 50);
call protect('activity');
create policy api on activity to cauri_api using (true); -- written for all sandboxes at once

-- By default, autovacuum waits until a fifth of a table's rows are dead. Tables that change with every
-- payment are vacuumed long before that. Balances are vacuumed without pauses: they are a few pages that
-- every booking reads and writes. Tables that only grow are vacuumed too, for index-only scans. Rows of
-- changes are added at one end of the table and removed at the other.
alter table floats set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
alter table quota_usage set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
alter table sims set (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
alter table transactions set (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
alter table events set (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
alter table changes set (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02);

-- What the api may do with the configuration ----------------------------------------------------------------
-- The api may not write these tables. In the scope of a tenant it may call these functions, which change only
-- this sandbox, with the rights of the owner of the tables. Every change of a configuration locks the row of
-- the organization first, so that changes come one after the other, and increases the version last.

-- Resets the sandbox, as a new value of spec.reset in its resource does, and returns the new tenant number.
-- It returns null if the API may not reset the sandbox, or if no sandbox has the tenant number any more.
-- After five resets within a second, it does nothing and returns 0. organizations.reset stays, since it is
-- the value in the resource.
-- +goose StatementBegin
create function reset_sandbox() returns bigint language plpgsql security definer as $$
declare
  former bigint := current_tenant();
  present bigint;
  resets timestamptz[];
begin
  select api_resets into resets from organizations
    where tenant = former and retained_at is null and api_reset and not suspended
    for update;
  if not found then
    return null;
  end if;
  if resets[5] between clock_timestamp() - interval '1 second' and clock_timestamp() then
    return 0;
  end if;
  present := nextval('tenant_numbers');
  update organizations
    set tenant = present, clocked = (clock_mode = 'Manual'), api_resets = (clock_timestamp() || resets)[1:5]
    where tenant = former;
  insert into clocks (tenant, stands_at)
    select present, coalesce(o.clock_start, now())
    from organizations o where o.tenant = present and o.clocked;
  update environments set tenant = present where tenant = former;
  update stores set tenant = present where tenant = former;
  update api_keys set tenant = present where tenant = former;
  update operator_credentials set tenant = present where tenant = former;
  -- These rows are copied and not moved, since payments of the old tenant may hold locks on them.
  insert into floats (tenant, currency, balance, opening, movements)
    select present, f.currency, f.opening, f.opening, 1
    from floats f where f.tenant = former;
  insert into sims (tenant, sim_id, generation, name, msisdn, operator, country, currency, blocked, behavior,
      balance, opening, movements)
    select present, s.sim_id, s.generation, s.name, s.msisdn, s.operator, s.country, s.currency, s.blocked,
      s.behavior, s.opening, s.opening, 1
    from sims s where s.tenant = former and s.source = 'resource';
  insert into adjustments (tenant, currency, delta, balance_after, number)
    select present, f.currency, f.balance, f.balance, 1
    from floats f where f.tenant = present;
  insert into adjustments (tenant, sim_id, delta, balance_after, number)
    select present, s.sim_id, s.balance, s.balance, 1
    from sims s where s.tenant = present;
  update config_version set version = version + 1;
  update organizations set version = (select version from config_version) where tenant = present;
  insert into retired_tenants (tenant, resource_uid, version)
    select former, resource_uid, version
    from organizations where tenant = present;
  return present;
end $$;
-- +goose StatementEnd

-- Gives the sandbox a clock, which shows the time of the database until it is moved. The version increases,
-- so that callers that do not know of the clock record nothing any more.
-- +goose StatementBegin
create function start_clock() returns void language plpgsql security definer as $$
declare
  of_tenant bigint := current_tenant();
  known boolean;
begin
  select clocked into known from organizations where tenant = of_tenant and retained_at is null for update;
  if not found then
    return;
  end if;
  insert into clocks (tenant) values (of_tenant) on conflict do nothing;
  if known then
    return;
  end if;
  update config_version set version = version + 1;
  update organizations set clocked = true, version = (select version from config_version)
    where tenant = of_tenant;
end $$;
-- +goose StatementEnd

-- Sets a fault for some time, or without an end if ends_ms is 0. The fault replaces one that was set with the
-- same name. A null entry removes the fault with the name, and a null name all faults that were set.
--
-- Returns what came of it: `done`; `changed` if the API may not set faults, or if no sandbox has the tenant
-- number any more; `declared` for the name of a fault of the resource; `too many` beyond 20 faults; `none` if
-- there is no fault to remove. After ten changes within ten seconds, it does nothing and returns `too often`
-- with the seconds to wait.
-- +goose StatementBegin
create function change_faults(of_name text, of_entry json, ends_ms bigint, by text, out result text,
    out wait_seconds integer)
  language plpgsql security definer as $$
declare
  of_tenant bigint := current_tenant();
  changed timestamptz[];
  declared jsonb;
  followed boolean;
begin
  select fault_changes, faults, followed_until > now() into changed, declared, followed from organizations
    where tenant = of_tenant and retained_at is null and api_faults and not suspended
    for update;
  result := case
    when not found then 'changed'
    when changed[10] between clock_timestamp() - interval '10 seconds' and clock_timestamp() then 'too often'
    when of_entry is null and not exists (select from set_faults s
      where s.tenant = of_tenant and s.name = coalesce(of_name, s.name)
        and (s.ends_at is null or s.ends_at > now())) then 'none'
    when of_entry is null then 'done'
    when declared @> jsonb_build_array(jsonb_build_object('name', of_name)) then 'declared'
    when 20 <= (select count(*) from set_faults s
      where s.tenant = of_tenant and s.name <> of_name and (s.ends_at is null or s.ends_at > now()))
      then 'too many'
    else 'done' end;
  wait_seconds := case when result = 'too often'
    then ceil(extract(epoch from changed[10] + interval '10 seconds' - clock_timestamp())) else 0 end;
  if result <> 'done' then
    return;
  end if;
  with removed as (
    delete from set_faults s
    where s.tenant = of_tenant and (s.name = coalesce(of_name, s.name) or s.ends_at <= now())
    returning s.name, s.number
  )
  delete from fault_counts c using removed
    where c.tenant = of_tenant and c.name = removed.name || ' #' || removed.number;
  if of_entry is not null then
    insert into set_faults (tenant, name, entry, set_by, ends_at)
      values (of_tenant, of_name, of_entry, by,
        case when ends_ms > 0 then now() + make_interval(secs => ends_ms::float8 / 1000) end);
  end if;
  if followed then
    insert into changes (tenant, kind) values (of_tenant, 'faults');
  end if;
  update config_version set version = version + 1;
  update organizations
    set fault_changes = (clock_timestamp() || changed)[1:10], version = (select version from config_version)
    where tenant = of_tenant;
end $$;
-- +goose StatementEnd

-- Marks the sandbox so that all its requests are logged for ten minutes, and returns the end of the mark. A
-- mark that has more than five minutes left stays, so that the configuration changes at most every five
-- minutes.
-- +goose StatementBegin
create function log_all_requests() returns timestamptz language plpgsql security definer as $$
declare
  marked timestamptz;
begin
  select requests_logged_until into marked from organizations
    where tenant = current_tenant() and retained_at is null
    for update;
  if not found or marked > now() + interval '5 minutes' then
    return marked;
  end if;
  marked := now() + interval '10 minutes';
  update config_version set version = version + 1;
  update organizations set requests_logged_until = marked, version = (select version from config_version)
    where tenant = current_tenant();
  return marked;
end $$;
-- +goose StatementEnd

-- Marks the sandbox as followed for ten minutes, and returns the end of the mark. It inserts a row of kind
-- start if the mark has ended or has less than a minute left, and if the tenant has no changes yet. A minute
-- is longer than any statement that extends the mark takes.
--
-- Streams call this function once a minute. So the mark has at least five minutes left when the last stream
-- ends, and a client has four minutes to reconnect.
-- +goose StatementBegin
create function follow_sandbox() returns timestamptz language plpgsql security definer as $$
declare
  marked timestamptz;
begin
  select followed_until into marked from organizations
    where tenant = current_tenant() and retained_at is null
    for update;
  if not found then
    return null;
  end if;
  if marked is null or marked < clock_timestamp() + interval '1 minute'
      or not exists (select from changes where tenant = current_tenant()) then
    insert into changes (tenant, kind) values (current_tenant(), 'start');
  end if;
  if marked > now() + interval '6 minutes' then
    return marked;
  end if;
  marked := now() + interval '10 minutes';
  update config_version set version = version + 1;
  update organizations set followed_until = marked, version = (select version from config_version)
    where tenant = current_tenant();
  return marked;
end $$;
-- +goose StatementEnd

-- Reports whether an API key of the sandbox is valid: a user of an operator's own API ends with the key that
-- created it. In its scope, a tenant can read nothing else about its keys.
-- +goose StatementBegin
create function api_key_is_valid(key_hash bytea) returns boolean language sql stable security definer as $$
  select exists (
    select from api_keys k
    where k.tenant = current_tenant() and k.hash = key_hash
      and (k.expires_at is null or k.expires_at > now()))
$$;
-- +goose StatementEnd
-- These functions run with the rights of the owner, so their search_path is fixed. Postgres keeps the plans
-- of their statements while the connection lives, so sequential scans are off, whatever the first caller has
-- set. This makes the estimated cost of reading config_version very high. At this cost Postgres would compile
-- the statement (JIT), which takes a second.
-- +goose StatementBegin
do $$
declare f text;
begin
  foreach f in array array['note_change()', 'reset_sandbox()', 'start_clock()', 'log_all_requests()',
      'follow_sandbox()', 'change_faults(text,json,bigint,text)', 'api_key_is_valid(bytea)'] loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
    execute format('alter function %s set enable_seqscan = off', f);
    execute format('revoke execute on function %s from public', f);
  end loop;
  foreach f in array array['reset_sandbox()', 'start_clock()', 'log_all_requests()', 'follow_sandbox()',
      'change_faults(text,json,bigint,text)'] loop
    execute format('alter function %s set jit = off', f);
  end loop;
end $$;
-- +goose StatementEnd

-- Drift -----------------------------------------------------------------------------------------------------

-- Returns a fingerprint of each sandbox's configuration, over all its rows. The fingerprint changes when one
-- of these rows changes, and when a replaced key or signing secret expires. It does not include balances. It
-- includes only which secrets exist, since a new encryption key changes their bytes. Postgres pushes a
-- condition on the tenant down into every subquery.
-- +goose StatementBegin
create function sandbox_fingerprints() returns table (tenant bigint, fingerprint text)
  language sql stable parallel safe as $$
  select o.tenant, md5(concat_ws(chr(10),
    row(o.org_id, o.namespace, o.name, o.latency_percent, o.monthly_quota, o.rate_limit, o.pending_timeout_ms,
      o.suspended, o.reset),
    row(o.webhook_url, o.webhook_max_retries, o.webhook_initial_delay_ms, o.webhook_factor,
      o.webhook_max_delay_ms, o.webhook_types),
    row(o.key_rotation, o.secret_rotation, o.signing_secret is null, o.previous_secret is null,
      o.previous_secret_until <= now(), cardinality(o.older_secrets),
      (select count(*) from unnest(o.older_secrets_until) older_until where older_until <= now())),
    e.parts, '', s.parts, '', f.parts, '', k.parts, '', c.parts,
    'test numbers ' || nullif(o.test_numbers, 'None'),
    case when o.api_test_clients or o.api_reset or o.max_test_clients is not null
      then row(o.api_test_clients, o.api_reset, o.max_test_clients) end,
    'faults by api ' || nullif(o.api_faults, false),
    case when o.clock_mode <> 'Real' or o.clock_start is not null
      then row(o.clock_mode, extract(epoch from o.clock_start)) end,
    'seed ' || o.seed, 'faults ' || o.faults::text,
    case when o.callback_hosts is not null or o.webhook_host <> ''
      then row(o.callback_hosts, o.webhook_host) end,
    'refusal ' || nullif(o.webhook_refusal, ''),
    'native environments ' || e.native, 'native stores ' || s.native, 'native keys ' || k.native))
  from organizations o
  left join (
    select tenant,
      string_agg(row(env_id, operator, country, currency, enabled, removed, commission_bps, absorption_pct,
        unknown_policy, max_amount)::text, ' ' order by env_id) as parts,
      string_agg(row(env_id, place, vague, quirks, callback_url, callback_hash)::text, ' ' order by env_id)
        filter (where place > 0 or vague or quirks <> '{}' or callback_url <> '' or callback_hash)
        as native
    from environments
    group by tenant
  ) e on e.tenant = o.tenant
  left join (
    select tenant, string_agg(row(slug, removed)::text, ' ' order by slug) as parts,
      string_agg(row(slug, place)::text, ' ' order by slug) filter (where place > 0) as native
    from stores
    group by tenant
  ) s on s.tenant = o.tenant
  left join (
    select tenant, string_agg(row(currency, opening)::text, ' ' order by currency) as parts
    from floats
    group by tenant
  ) f on f.tenant = o.tenant
  left join (
    select tenant, string_agg(row(hash, extract(epoch from expires_at))::text, ' ' order by hash) as parts,
      string_agg(native::text, ' ' order by hash) as native
    from api_keys
    where expires_at is null or expires_at > now()
    group by tenant
  ) k on k.tenant = o.tenant
  left join (
    select tenant, string_agg(row(store, operator, country, base_url, sealed is null)::text, ' '
      order by store, operator, country) as parts
    from operator_credentials
    group by tenant
  ) c on c.tenant = o.tenant
$$;
-- +goose StatementEnd

-- The version of the schema ---------------------------------------------------------------------------------

-- The digest of the text of this file. A version number cannot distinguish two texts of this file. `cauri
-- migrate` stores the digest, and every process refuses a database with another one.
create table schema_digest (
  one    boolean primary key default true check (one),
  digest text not null
);

-- Privileges ------------------------------------------------------------------------------------------------
-- Each role has only the privileges that its statements need. TestRolesHaveWhatTheirStatementsNeed reports
-- missing and unneeded grants.

-- The processes compare the version and the digest of the schema with those that they need.
grant select on schema_version, schema_digest to cauri_api, cauri_worker, cauri_controller;

-- The api in the scope of a tenant, on the rows of that tenant.

grant execute on function reset_sandbox, start_clock, log_all_requests, follow_sandbox, change_faults,
    api_key_is_valid
  to cauri_tenant;
grant select (account, adjustments, broken_after, broken_before, collections, disbursements, imbalance,
    opening, refunds, tenant, verified_at, verified_up_to)
  on account_proofs to cauri_tenant;
grant select (balance_after, created_at, currency, delta, number, sim_id, tenant),
    insert (balance_after, delta, number, sim_id, tenant)
  on adjustments to cauri_tenant;
grant select, delete on callback_attempts to cauri_tenant;
grant select on changes to cauri_tenant;
grant select (advance, ahead, ended, last_stamp, last_target, stands_at, target, tenant),
    update (advance, delivered, expired, failed_attempts, last_stamp, leased_until, settled, target)
  on clocks to cauri_tenant;
grant select (hash, created_at, org_id, expires_at, made_with, role, msisdn),
    insert (org_id, hash, made_with, role, msisdn),
    delete
  on console_links to cauri_tenant;
grant select,
    insert (org_id, hash, session_id, made_with, role, msisdn),
    delete
  on console_sessions to cauri_tenant;
grant select on delivery_attempts to cauri_tenant;
grant select (delivered, failed, failing_since, failures, first_failed, first_failed_attempt, last_acked,
    last_acked_attempt, last_failed, last_failed_attempt, last_failure, last_failure_at, probe_at, tenant,
    acknowledged_url, changed_at, url_changed_at),
    update (changed_at, delivered, failed)
  on endpoint_health to cauri_tenant;
grant select, delete on unacknowledged_events to cauri_tenant;
grant select,
    insert (created_at, due_at, id, state, tenant),
    update (body, delivered_at, due_at, fence, leased, leased_until, resends, resent_after, state)
  on events to cauri_tenant;
grant select (began_at, changed_at, deadline, due_at, lines, name, reason, results, tenant, uid, verdict)
  on expectations to cauri_tenant;
grant select, insert on fault_acts to cauri_tenant;
grant select,
    insert (digest, name, tenant),
    update (acts, digest, draws, last_at)
  on fault_counts to cauri_tenant;
grant select, insert (reference, tenant), update (requests) on fault_requests to cauri_tenant;
grant select (balance, currency, movements, tenant),
    update (balance, changed_at, movements)
  on floats to cauri_tenant;
grant select (broken, pass_due_at, passed_at, tenant),
    insert (pass_due_at, tenant),
    update (pass_due_at)
  on ledger_proofs to cauri_tenant;
grant select on listed_markets to cauri_tenant;
grant select on listed_transactions to cauri_tenant;
grant select,
    insert (amount, expires_at, made_with, operator, order_id, sent, tenant, token_hash),
    update (amount, canceled, codes, confirmed, created_at, ended, expires_at, made_with, sent, token_hash),
    delete
  on native_orders to cauri_tenant;
grant select (callback_kinds, callback_outcomes, callback_urls, id, sent, tenant),
    insert (callback_kinds, callback_outcomes, callback_urls, id, operation, sent, tenant)
  on native_requests to cauri_tenant;
grant select,
    insert (made_with, name, operator, tenant, value),
    update (kept_at, made_with, value),
    delete
  on native_settings to cauri_tenant;
grant select,
    insert (created_at, due_at, id, kind, operator, recorded_at, retries, sent, state, tenant, transaction_id,
    url),
    update (body, delivered_at, due_at, fence, leased_until, retries, state),
    delete
  on native_callbacks to cauri_tenant;
grant select,
    insert (callback_host, expires_at, hash, made_with, operator, product, tenant, user_id),
    update (expires_at),
    delete
  on native_tokens to cauri_tenant;
grant select,
    insert (callback_host, made_with, operator, tenant, user_id),
    update (secret_hash),
    delete
  on native_users to cauri_tenant;
grant select (clocked, followed_until, monthly_quota, older_secrets_until, org_id, previous_secret_until,
    secret_fingerprints, secret_since, suspended, tenant, version, webhook_factor, webhook_initial_delay_ms,
    webhook_max_delay_ms, webhook_max_retries, webhook_refusal, webhook_types, webhook_url)
  on organizations to cauri_tenant;
grant select, insert, update (used) on quota_usage to cauri_tenant;
grant select, insert, update (granted), delete on rate_usage to cauri_tenant;
grant select, insert (allow, id, tenant, tx_id), delete on receiver_checks to cauri_tenant;
grant select on requests to cauri_tenant;
grant select on set_faults to cauri_tenant;
grant select,
    insert (balance, behavior, blocked, country, currency, movements, msisdn, name, opening, operator,
    sim_id, source, tenant),
    update (balance, behavior, blocked, changed_at, manual_until, movements, name, named_from),
    delete
  on sims to cauri_tenant;
grant select (balance, blocked, country, currency, movements, msisdn, number_key, operator, sim_id),
    update (balance, changed_at, movements)
  on sims_by_number to cauri_tenant;
grant select (slug, tenant) on stores to cauri_tenant;
grant select,
    insert (absorption_pct, amount, commission, completed_at, country, created_at, currency, description,
    due_at, env_id, expires_at, float_currency, forward_failures, forward_fence, id, is_url_protected,
    latency_ms, merchant_balance_after, merchant_delta, merchant_number, msisdn, net_amount, operator,
    order_ref, order_url, parent_id, passthrough, reference, request_hash, scenario, sim_balance_after,
    sim_delta, sim_id, sim_number, status, store, tenant, test_behavior, type),
    update (completed_at, due_at, faults, merchant_balance_after, merchant_delta, merchant_number,
    provider_tx_id, refunded, sim_balance_after, sim_delta, sim_number, status)
  on transactions to cauri_tenant;
grant select on transactions_by_reference to cauri_tenant;

-- The api outside of a scope reads the configuration into its cache, and never writes it.

grant select, insert, update (changed_at) on activity to cauri_api;
grant select (expires_at, hash, native, tenant) on api_keys to cauri_api;
grant select (version) on config_version to cauri_api;
grant select (expires_at, hash, org_id) on console_links to cauri_api;
grant select on console_sessions to cauri_api;
grant select on environments to cauri_api;
grant select (operator, tenant, token_hash) on native_orders to cauri_api;
grant select (hash, operator, tenant) on native_tokens to cauri_api;
grant select (api_faults, api_reset, api_test_clients, callback_hosts, clock_mode, clocked, faults,
    followed_until, latency_percent, max_test_clients, monthly_quota, name, namespace, org_id,
    pending_timeout_ms, rate_limit, retained_at, seed, suspended, tenant, test_numbers, version,
    requests_logged_until, webhook_host)
  on organizations to cauri_api;
grant select (id, kind, tenant), insert, delete on requests to cauri_api;
grant select (tenant, version) on retired_tenants to cauri_api;
grant select (ends_at, entry, number, tenant) on set_faults to cauri_api;
grant select on stores to cauri_api;

-- The worker works on all sandboxes.

grant select,
    insert,
    update (adjustments, balance, broken_after, broken_before, collections, disbursements, imbalance,
    opening, refunds, verified_at, verified_up_to),
    delete
  on account_proofs to cauri_worker;
grant select, insert, update (changed_at), delete on activity to cauri_worker;
grant select (adjustment_id, balance_after, currency, delta, number, sim_id, tenant), delete
  on adjustments to cauri_worker;
grant select (tenant), delete on api_keys to cauri_worker;
grant select (attempt, duration_ms, error, id, real_started_at, started_at, tenant),
    insert (attempt, copies, duration_ms, error, faults, id, real_started_at, response_body,
    response_status, started_at, tenant),
    delete
  on callback_attempts to cauri_worker;
grant select (created_at, seq, tenant, xact), delete on changes to cauri_worker;
grant select (advance, ahead, delivered, ended, expired, failed_attempts, fence, last_stamp, last_target,
    leased_until, settled, stands_at, target, tenant),
    update (ahead, delivered, ended, expired, failed_attempts, fence, last_stamp, last_target, leased_until,
    settled, stands_at, target),
    delete
  on clocks to cauri_worker;
grant select (version) on config_version to cauri_worker;
grant select (expires_at, hash, org_id), delete on console_links to cauri_worker;
grant select (expires_at, hash, org_id), delete on console_sessions to cauri_worker;
grant select (attempt, duration_ms, error, event_id, real_started_at, started_at, tenant),
    insert (attempt, duration_ms, error, event_id, faults, previous_signature, real_started_at,
    response_body, response_status, signature, signed_at, signed_with, standard_signature, started_at,
    tenant),
    update (copies),
    delete
  on delivery_attempts to cauri_worker;
grant select (delivered, failed, failing_since, failures, first_failed, first_failed_attempt, last_acked,
    last_acked_attempt, last_failed, last_failed_attempt, last_failure, last_failure_at, probe_at, tenant,
    acknowledged_url),
    insert (delivered, failed, failing_since, failures, first_failed, first_failed_attempt, last_acked,
    last_acked_attempt, last_failed, last_failed_attempt, last_failure, last_failure_at, tenant,
    acknowledged_url),
    update (changed_at, delivered, failed, failing_since, failures, first_failed, first_failed_attempt,
    last_acked, last_acked_attempt, last_failed, last_failed_attempt, last_failure, last_failure_at,
    probe_at, acknowledged_url),
    delete
  on endpoint_health to cauri_worker;
grant select (attempt, id, operator, tenant), insert, update (attempt), delete
  on unacknowledged_events to cauri_worker;
grant select (country, enabled, env_id, operator, place, removed, tenant, vague), delete on environments
  to cauri_worker;
grant select,
    insert (attempt, awaits_next, event_id, name, not_before, tenant),
    update (attempt, awaits_next, name, not_before, sent),
    delete
  on event_faults to cauri_worker;
grant select (attempts, body, created_at, due_at, fence, id, leased, leased_until, probes, recorded_at,
    resent_after, state, tenant),
    insert (created_at, due_at, id, state, tenant),
    update (attempts, body, delivered_at, due_at, fence, leased, leased_until, probes, resent_after, state),
    delete
  on events to cauri_worker;
grant select,
    update (changed_at, due_at, evaluated_at, message, met_since, reason, results, since, verdict),
    delete
  on expectations to cauri_worker;
grant select, insert, delete on fault_acts to cauri_worker;
grant select,
    insert (digest, name, tenant),
    update (acts, digest, draws, last_at),
    delete
  on fault_counts to cauri_worker;
grant select (counted_at, reference, tenant), delete on fault_requests to cauri_worker;
grant select (balance, changed_at, currency, movements, tenant),
    update (balance, changed_at, movements),
    delete
  on floats to cauri_worker;
grant select,
    insert (fence, leased_until, tenant),
    update (broken, fence, imbalance, leased_until, pass_due_at, passed_at, verified_at),
    delete
  on ledger_proofs to cauri_worker;
grant select on listed_markets to cauri_worker;
grant select (country, created_at, id, msisdn, operator, status, store, tenant, type)
  on listed_transactions to cauri_worker;
grant select on transactions_by_reference to cauri_worker;
grant select (created_at, operator, tenant, token_hash), delete on native_orders to cauri_worker;
grant select (callback_kinds, callback_outcomes, callback_urls, id, sent, tenant),
    delete
  on native_requests to cauri_worker;
grant select (attempts, body, created_at, due_at, fault, fence, id, kind, leased_until, operator, recorded_at,
    retries, sent, state, tenant, times_sent, transaction_id, url),
    insert (due_at, id, kind, state, tenant, transaction_id, url),
    update (attempts, body, delivered_at, due_at, fault, fence, last_error, last_status, leased_until,
    retries, state, times_sent),
    delete
  on native_callbacks to cauri_worker;
grant select (created_at, hash, operator, tenant), delete on native_tokens to cauri_worker;
grant select (tenant), delete on native_settings to cauri_worker;
grant select (tenant), delete on native_users to cauri_worker;
grant select (base_url, country, operator, sealed, store, tenant),
    delete
  on operator_credentials to cauri_worker;
grant select (callback_hosts, clock_mode, clocked, faults, followed_until, latency_percent, namespace,
    older_secrets, older_secrets_until, org_id, previous_secret, previous_secret_until, resource_uid,
    retained_at, seed, signing_secret, suspended, tenant, webhook_factor, webhook_host,
    webhook_initial_delay_ms, webhook_max_delay_ms, webhook_max_retries, webhook_types, webhook_url)
  on organizations to cauri_worker;
grant select (month, tenant), delete on quota_usage to cauri_worker;
grant select (second, tenant), delete on rate_usage to cauri_worker;
grant select (allow, began_at, card, fence, finished_at, host, id, leased_until, requested_at, tenant, tx_id),
    update (began_at, card, fence, finished_at, host, leased_until, problem),
    delete
  on receiver_checks to cauri_worker;
grant select (tenant), delete on requests to cauri_worker;
grant select (purged_at, retired_at, tenant), update (purged_at), delete on retired_tenants to cauri_worker;
grant select (ends_at, entry, number, tenant), delete on set_faults to cauri_worker;
grant select (tenant, sim_id, msisdn, operator, country, currency, blocked, behavior, balance, movements,
    changed_at, manual_until),
  update (balance, changed_at, movements), delete
  on sims to cauri_worker;
grant select (slug, tenant), delete on stores to cauri_worker;
grant select (error, failures, retry_at, sweep, tenant),
    insert (error, retry_at, sweep, tenant),
    update (error, failures, retry_at),
    delete
  on sweep_failures to cauri_worker;
grant select (tenant), delete on transaction_counts to cauri_worker;
grant select,
    update (completed_at, due_at, faults, forward_attempts, forward_failures, forward_fence, forwarded_at,
    leased_until, merchant_balance_after, merchant_delta, merchant_number, native_id, native_raw,
    sim_balance_after, sim_delta, sim_number, status),
    delete
  on transactions to cauri_worker;

-- The controller writes the configuration.

grant select (account, broken_after, broken_before, imbalance, sim_id, tenant),
    delete
  on account_proofs to cauri_controller;
grant select, delete on activity to cauri_controller;
grant select (adjustment_id, tenant),
    insert (balance_after, currency, delta, number, sim_id, tenant),
    delete
  on adjustments to cauri_controller;
grant select (expires_at, hash, native, tenant),
    insert (hash, native, tenant),
    update (expires_at, native, tenant),
    delete
  on api_keys to cauri_controller;
grant select (attempt, id, tenant), delete on callback_attempts to cauri_controller;
grant select (seq, tenant, xact), delete on changes to cauri_controller;
grant select (ahead, began_at, last_stamp, stands_at, target, tenant),
    insert (stands_at, tenant),
    update (ahead, stands_at),
    delete
  on clocks to cauri_controller;
grant select (version), update (version) on config_version to cauri_controller;
grant select (attempt, error, event_id, real_started_at, started_at, tenant), delete
  on delivery_attempts to cauri_controller;
grant select (acknowledged_url, changed_at, delivered, failed, failing_since, failures, last_failure,
    last_failure_at, probe_at, tenant, url_changed_at),
    update (acknowledged_url, changed_at, failing_since, failures, first_failed, first_failed_attempt,
    url_changed_at),
    delete
  on endpoint_health to cauri_controller;
grant select, delete on unacknowledged_events to cauri_controller;
grant select,
    insert (absorption_pct, callback_hash, callback_url, commission_bps, country, currency, enabled, env_id,
    max_amount, operator, place, quirks, tenant, unknown_policy, vague),
    update (absorption_pct, callback_hash, callback_url, commission_bps, currency, enabled, max_amount, place,
    quirks, removed, tenant, unknown_policy, vague),
    delete
  on environments to cauri_controller;
grant select (event_id, tenant), delete on event_faults to cauri_controller;
grant select (id, state, tenant), delete on events to cauri_controller;
grant select (changed_at, due_at, evaluated_at, message, reason, results, run, tenant, uid, verdict),
    insert (deadline, lines, name, run, settle_ms, since_creation, tenant, uid),
    delete
  on expectations to cauri_controller;
grant select (name, reference, tenant), delete on fault_acts to cauri_controller;
grant select (acts, digest, last_at, name, tenant), delete on fault_counts to cauri_controller;
grant select (reference, tenant), delete on fault_requests to cauri_controller;
grant select,
    insert,
    update (balance, changed_at, movements, opening),
    delete
  on floats to cauri_controller;
grant select (broken, tenant, verified_at), delete on ledger_proofs to cauri_controller;
grant select (id, tenant), delete on native_callbacks to cauri_controller;
grant select (tenant), delete on native_orders to cauri_controller;
grant select (id, tenant), delete on native_requests to cauri_controller;
grant select (tenant), delete on native_tokens to cauri_controller;
grant select (tenant), delete on native_settings to cauri_controller;
grant select (tenant), delete on native_users to cauri_controller;
grant select, insert, update (base_url, sealed, tenant), delete on operator_credentials to cauri_controller;
grant select,
    insert (api_faults, api_reset, api_test_clients, callback_hosts, clock_mode, clock_start, clocked,
    faults, generation, latency_percent, max_test_clients, monthly_quota, name, namespace, org_id,
    pending_timeout_ms, rate_limit, reset, resource_uid, seed, suspended, test_numbers, webhook_factor,
    webhook_host, webhook_initial_delay_ms, webhook_max_delay_ms, webhook_max_retries, webhook_refusal,
    webhook_types, webhook_url),
    update (api_faults, api_reset, api_test_clients, applied, callback_hosts, clock_mode, clock_start,
    clocked, faults, generation, key_rotation, latency_percent, max_test_clients, monthly_quota, name,
    namespace,
    older_secrets, older_secrets_until, pending_timeout_ms, previous_secret, previous_secret_until,
    rate_limit, reset, retained_at, secret_fingerprints, secret_rotation, secret_since, seed,
    signing_secret, suspended, tenant, test_numbers,
    version, webhook_factor, webhook_host, webhook_initial_delay_ms, webhook_max_delay_ms,
    webhook_max_retries, webhook_refusal, webhook_types, webhook_url),
    delete
  on organizations to cauri_controller;
grant select (month, tenant, used), delete on quota_usage to cauri_controller;
grant select (tenant), delete on rate_usage to cauri_controller;
grant select (tenant), delete on receiver_checks to cauri_controller;
grant select (tenant), delete on requests to cauri_controller;
grant select (purged_at, resource_uid, tenant),
    insert (resource_uid, tenant, version)
  on retired_tenants to cauri_controller;
grant select (tenant), delete on set_faults to cauri_controller;
grant select,
    insert (balance, behavior, blocked, changed_at, country, currency, generation, movements, msisdn, name,
    opening, operator, sim_id, source, tenant),
    update (balance, behavior, blocked, changed_at, country, currency, generation, movements, msisdn, name,
    opening, operator),
    delete
  on sims to cauri_controller;
grant select,
    insert (place, slug, tenant),
    update (place, removed, tenant),
    delete
  on stores to cauri_controller;
grant select, delete on sweep_failures to cauri_controller;
grant usage on sequence tenant_numbers to cauri_controller;
grant select, insert, update (total, upto), delete on transaction_counts to cauri_controller;
grant select (id, passthrough, status, tenant), delete on transactions to cauri_controller;
