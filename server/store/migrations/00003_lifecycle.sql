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

-- The wall ----------------------------------------------------------------------------------------------------------------

alter table endpoint_health enable row level security;
create policy tenant on endpoint_health to cauri_tenant using (tenant = current_tenant());
alter table activity enable row level security;
create policy tenant on activity to cauri_tenant using (tenant = current_tenant());

grant select (webhook_types) on organizations to cauri_tenant;

-- +goose Down
drop table activity, endpoint_health;
drop index transactions_due, transactions_forward_due, events_due;
create index transactions_due on transactions (due_at) where due_at is not null and not passthrough;
create index transactions_forward_due on transactions (due_at) where due_at is not null and passthrough;
create index events_due on events (due_at) where due_at is not null;
alter table api_keys drop column expires_at;
drop index organizations_name;
alter table organizations drop column pending_timeout_ms, drop column suspended, drop column webhook_types, drop column secret_rotation,
  drop column previous_secret, drop column previous_secret_until, drop column reset, drop column retained_at;
alter table organizations add constraint organizations_namespace_name_key unique (namespace, name);
