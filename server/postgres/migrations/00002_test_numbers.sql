-- +goose Up

alter table organizations add column test_numbers text not null default 'None'; -- or Standard

-- What the holder of a test number does with a pending collection, as it was when the collection was made. Null: the payer is no test
-- number. Such a collection has no SIM and is not forwarded.
alter table transactions add column test_behavior text;

grant select (test_numbers) on organizations to cauri_api;
grant insert (test_numbers), update (test_numbers) on organizations to cauri_controller;
grant insert (test_behavior) on transactions to cauri_tenant;

-- With the test numbers. A sandbox that has none keeps its fingerprint: concat_ws leaves out a null.
-- +goose StatementBegin
create or replace function sandbox_fingerprints() returns table (tenant bigint, fingerprint text) language sql stable parallel safe as $$
  select o.tenant, md5(concat_ws(chr(10),
    row(o.org_id, o.namespace, o.name, o.latency_percent, o.monthly_quota, o.rate_limit, o.pending_timeout_ms, o.suspended, o.reset),
    row(o.webhook_url, o.webhook_max_retries, o.webhook_initial_delay_ms, o.webhook_factor, o.webhook_max_delay_ms, o.webhook_types),
    row(o.key_rotation, o.secret_rotation, o.signing_secret is null, o.previous_secret is null, o.previous_secret_until <= now(),
      cardinality(o.older_secrets), (select count(*) from unnest(o.older_secrets_until) older_until where older_until <= now())),
    e.parts, '', s.parts, '', f.parts, '', k.parts, '', c.parts, 'test numbers ' || nullif(o.test_numbers, 'None')))
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
