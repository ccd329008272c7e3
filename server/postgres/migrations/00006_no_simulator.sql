-- +goose Up

-- The operators that the api simulated are gone: what no operator's API decides the worker approves itself, with no request.
-- Nothing was released with these tables. So they go at once, and no release has to leave them unused first.

-- unused since v0.1
drop table operator_payments;
-- unused since v0.1
drop table operator_tokens;

-- What credentials are follows from `sealed` alone, for whoever has the key. Its check goes with the column.
-- unused since v0.1
alter table operator_credentials drop column digest;

-- The api and its tenants see nothing of credentials, not even whether there are any.
-- unused since v0.1
revoke select (tenant, operator, base_url) on operator_credentials from cauri_tenant;
-- unused since v0.1
revoke select (resource_uid) on organizations from cauri_api;
-- unused since v0.1
revoke select (namespace, name) on organizations from cauri_worker;

-- +goose StatementBegin
create or replace function sandbox_fingerprints() returns table (tenant bigint, fingerprint text) language sql stable parallel safe as $$
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
  left join (select tenant, string_agg(row(store, operator, country, base_url, sealed is null)::text, ' '
      order by store, operator, country) as parts from operator_credentials group by tenant) c on c.tenant = o.tenant
$$;
-- +goose StatementEnd

-- +goose Down
alter table operator_credentials add column digest bytea;
create table operator_tokens (
  tenant bigint not null, operator text not null, hash bytea not null, expires_at timestamptz not null, primary key (tenant, operator, hash)
);
create table operator_payments (
  tenant bigint not null, operator text not null, reference text not null, native_id text not null, request json not null,
  created_at timestamptz not null default now(), answers_at timestamptz not null, primary key (tenant, operator, reference)
);
create index operator_payments_answered on operator_payments (tenant, answers_at);
