-- +goose Up

-- Forwarding ------------------------------------------------------------------------------------------------------------
-- A collection from a number that the sandbox does not know is forwarded to the operator's API. Its due_at is when it is
-- to be forwarded or asked after next, or when the lease of whoever does that ends.

alter table transactions
  add column passthrough      boolean not null default false,
  add column forward_fence    bigint,      -- of the lease; who comes with an older one has lost it
  add column forward_failures integer,     -- attempts in a row that came to nothing
  add column forwarded_at     timestamptz; -- when the operator accepted it
update transactions set passthrough = true, forward_fence = 0, forward_failures = 0 where status = 'PENDING' and sim_id is null;
alter table transactions add constraint transactions_forward check (passthrough = (forward_fence is not null));

-- Kept as it was answered, with its keys in their order.
alter table transactions alter column native_raw type json;

-- Each sweep has an index of its own, so that what one leaves lying never stands in the other's way.
drop index transactions_due;
create index transactions_due on transactions (due_at) where due_at is not null and not passthrough;
create index transactions_forward_due on transactions (due_at) where due_at is not null and passthrough;

-- How a store's collections reach an operator.
create table operator_credentials (
  tenant   bigint not null,
  store    text not null, -- slug
  operator text not null,
  country  text not null,
  base_url text not null, -- empty: the simulator
  sealed   bytea,         -- the credentials; null: they are missing
  digest   bytea,         -- of the credentials, for whoever has to recognize them and has no key ring
  primary key (tenant, store, operator, country),
  check ((sealed is null) = (digest is null))
);

-- The simulator ---------------------------------------------------------------------------------------------------------
-- What the simulated operators know. It is theirs: nothing here moves a sandbox's money.

create table operator_tokens (
  tenant     bigint not null,
  operator   text not null,
  hash       bytea not null, -- SHA-256 of the token
  expires_at timestamptz not null,
  primary key (tenant, operator, hash)
);

create table operator_payments (
  tenant     bigint not null,
  operator   text not null,
  reference  text not null, -- the caller's id of the payment
  native_id  text not null, -- the operator's
  request    json not null, -- as the operator's API answers with it
  created_at timestamptz not null default now(),
  answers_at timestamptz not null, -- when the payer has answered
  primary key (tenant, operator, reference)
);

-- The wall --------------------------------------------------------------------------------------------------------------

-- +goose StatementBegin
do $$
declare t text;
begin
  foreach t in array array['operator_credentials', 'operator_tokens', 'operator_payments'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I to cauri_tenant using (tenant = current_tenant())', t);
  end loop;
end $$;
-- +goose StatementEnd

grant select (tenant, operator, base_url, digest) on operator_credentials to cauri_tenant;
grant select, insert, delete on operator_tokens to cauri_tenant;
grant select, insert on operator_payments to cauri_tenant;

-- +goose Down
drop table operator_payments, operator_tokens, operator_credentials;
drop index transactions_forward_due, transactions_due;
create index transactions_due on transactions (due_at) where due_at is not null;
alter table transactions drop constraint transactions_forward, drop column passthrough, drop column forward_fence,
  drop column forward_failures, drop column forwarded_at, alter column native_raw type jsonb;
