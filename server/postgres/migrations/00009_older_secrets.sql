-- +goose Up

-- Signing secrets before previous_secret that sign on, sealed, the most recent first, and until when. A rotation does not end the
-- overlap of the one before.
alter table organizations
  add column older_secrets       bytea[] not null default '{}',
  add column older_secrets_until timestamptz[] not null default '{}';

-- As it was, and it changes when an older secret comes to its end.
-- +goose StatementBegin
create or replace function sandbox_fingerprints() returns table (tenant bigint, fingerprint text) language sql stable parallel safe as $$
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

grant update (older_secrets, older_secrets_until) on organizations to cauri_controller;
grant select (older_secrets, older_secrets_until) on organizations to cauri_worker;

-- +goose Down
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
alter table organizations drop column older_secrets, drop column older_secrets_until;
