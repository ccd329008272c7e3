-- +goose Up

-- The tenant wall. Statements that serve one sandbox run as this role, under row level security; whoever forgets a WHERE
-- sees nothing of another sandbox. Roles belong to the whole server, so another database may have made it already.
-- +goose StatementBegin
do $$
begin
  create role cauri_tenant nologin;
exception when duplicate_object or unique_violation then null;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
do $$
begin
  execute format('grant cauri_tenant to %I', current_user);
exception when sqlstate 'XX000' then null; -- two databases of one server granted at once; one grant serves both
end $$;
-- +goose StatementEnd

create type transaction_type as enum ('collection', 'refund', 'disbursement');
create type transaction_status as enum (
  'PENDING', 'SUCCESS', 'PIN_INVALID', 'INSUFFICIENT_FUNDS', 'TIMEOUT', 'ACCOUNT_BLOCKED', 'USER_CANCELLED',
  'UNKNOWN_MSISDN', 'LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE', 'DUPLICATE_REFERENCE');
create type event_state as enum ('recorded', 'queued', 'delivered', 'failed');

-- Configuration ---------------------------------------------------------------------------------------------------------

-- One row, bumped by the last statement of every change of configuration: its lock puts the changes in an order, so that a
-- reader that has seen version n has seen every change up to n.
create table config_version (
  one     boolean primary key default true check (one),
  version bigint not null
);
insert into config_version (version) values (0);

create sequence tenant_numbers;

-- The directory: which tenant number stands behind a sandbox. It is the one table that all tenants share.
create table organizations (
  org_id                   text primary key,
  tenant                   bigint not null unique default nextval('tenant_numbers'),
  resource_uid             uuid not null unique,
  namespace                text not null,
  name                     text not null,
  latency_percent          integer not null,
  monthly_quota            bigint,  -- transactions in a calendar month
  rate_limit               integer, -- requests in a minute
  webhook_url              text,
  webhook_max_retries      integer not null,
  webhook_initial_delay_ms bigint not null,
  webhook_factor           double precision not null,
  webhook_max_delay_ms     bigint not null,
  signing_secret           bytea, -- sealed
  version                  bigint not null default 0,
  created_at               timestamptz not null default now(),
  unique (namespace, name)
);
create index organizations_version on organizations (version);

-- Tenant numbers that stand for nothing any more. Readers of the configuration learn from it what is gone, and the purge
-- what to remove.
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
  primary key (tenant, hash)
);

-- Money -----------------------------------------------------------------------------------------------------------------
-- For every float and every SIM, at every moment: sum of its adjustments + sum of its transactions' deltas = balance.
-- Balances change often and no index holds them, so that room in the page makes each change a HOT update.

create table floats (
  tenant     bigint not null,
  currency   text not null,
  balance    bigint not null check (balance >= 0),
  opening    bigint not null, -- as the resource said last
  changed_at timestamptz not null default now(),
  primary key (tenant, currency)
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
  primary key (tenant, sim_id),
  unique (tenant, msisdn)
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

create table transactions (
  tenant           bigint not null,
  id               uuid not null, -- sorts by time
  type             transaction_type not null,
  status           transaction_status not null,
  parent_id        uuid,
  reference        text not null,
  request_hash     bytea not null, -- of the request as sent: tells a replay from a conflict
  order_ref        text not null,
  order_url        text,
  is_url_protected boolean not null,
  store            text not null,
  description      text,
  scenario         text not null, -- empty: nothing was forced
  env_id           text not null,
  operator         text not null,
  country          text not null,
  currency         text not null, -- as sent
  msisdn           text not null,
  amount           bigint not null check (amount > 0),
  commission       bigint not null,
  net_amount       bigint not null,
  absorption_pct   integer not null,
  refunded         bigint not null default 0 check (refunded between 0 and amount),
  latency_ms       integer not null,
  created_at       timestamptz not null default now(),
  completed_at     timestamptz,
  native_id        text,  -- what an operator's API answered, where one was asked
  native_raw       jsonb,

  float_currency        text not null, -- of the float that the transaction belongs to
  sim_id                uuid,          -- of the payer or recipient, where it was in the registry
  merchant_delta        bigint not null default 0,
  sim_delta             bigint not null default 0,
  merchant_balance_after bigint,
  sim_balance_after      bigint,

  due_at           timestamptz, -- when a pending transaction wants attention: to settle, or to expire
  expires_at       timestamptz,

  primary key (tenant, id),
  constraint transactions_reference unique (tenant, reference),
  check ((status = 'PENDING') = (completed_at is null)),
  check (status = 'PENDING' or due_at is null),
  check (status = 'SUCCESS' or (merchant_delta = 0 and sim_delta = 0))
) with (fillfactor = 90);
create index transactions_due on transactions (due_at) where due_at is not null;

create index transactions_order on transactions (tenant, order_ref, id);

-- Transactions made in a calendar month (UTC), kept for sandboxes with a quota only.
create table quota_usage (
  tenant bigint not null,
  month  date not null, -- its first day
  used   bigint not null,
  primary key (tenant, month)
) with (fillfactor = 50);

-- Requests granted in a second, of the last minute or so, kept for sandboxes with a rate limit only.
create table rate_usage (
  tenant  bigint not null,
  second  bigint not null, -- Unix time
  granted integer not null,
  primary key (tenant, second)
) with (fillfactor = 50);

-- One row for each transaction that reached a terminal status, under the transaction's own id: there cannot be two. The row
-- is its own queue entry. The body is built before the first attempt, kept, and sent with every attempt.
create table events (
  tenant       bigint not null,
  id           uuid not null,
  state        event_state not null,
  due_at       timestamptz, -- of the next attempt, or when the lease of the running one ends; null: nothing to do
  fence        bigint not null default 0, -- of the lease; who comes with an older one has lost it
  attempts     integer not null default 0,
  body         bytea,
  created_at   timestamptz not null default now(),
  delivered_at timestamptz,
  primary key (tenant, id)
) with (fillfactor = 80);
create index events_due on events (due_at) where due_at is not null;

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

-- The wall --------------------------------------------------------------------------------------------------------------

-- +goose StatementBegin
create function current_tenant() returns bigint language sql stable parallel safe
  return nullif(current_setting('cauri.tenant', true), '')::bigint;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
declare t text;
begin
  foreach t in array array['organizations', 'environments', 'stores', 'api_keys', 'floats', 'sims', 'adjustments',
                           'transactions', 'events', 'delivery_attempts', 'quota_usage', 'rate_usage'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I to cauri_tenant using (tenant = current_tenant())', t);
  end loop;
end $$;
-- +goose StatementEnd

-- What a request of one sandbox needs, and no more: configuration is read from the cache, never written.
grant select (tenant, version, webhook_url, monthly_quota) on organizations to cauri_tenant;
grant select on floats, sims, transactions, events, delivery_attempts to cauri_tenant;
grant update (balance, changed_at) on floats, sims to cauri_tenant;
grant update (refunded) on transactions to cauri_tenant;
grant insert on transactions, events to cauri_tenant;
grant select, insert, update (used) on quota_usage to cauri_tenant;
grant select, insert, delete, update (granted) on rate_usage to cauri_tenant;

-- +goose Down
drop table delivery_attempts, events, rate_usage, quota_usage, transactions, adjustments, sims, floats, api_keys, stores, environments,
  retired_tenants, organizations, config_version;
drop sequence tenant_numbers;
drop function current_tenant();
drop type event_state, transaction_status, transaction_type;
