-- Sandboxes in the state that the controller creates. The first has the tenant number $1. Each has five markets, two stores, two floats
-- and 20 SIMs. Its key derives from its position. Balances are opening balances.
with made as (
  insert into organizations (org_id, tenant, resource_uid, namespace, name, latency_percent, webhook_max_retries, webhook_initial_delay_ms,
    webhook_factor, webhook_max_delay_ms, version)
  select 'org_growth_' || n, $1::bigint + n - 1, md5('growth-' || n)::uuid, 'growth', 'growth-' || n, 0, 3, 1000, 2, 10000, v.version + 1
  from generate_series(1, $2::bigint) n, config_version v
  returning tenant
), markets as (
  insert into environments (tenant, env_id, operator, country, currency, enabled, commission_bps, absorption_pct, unknown_policy)
  select tenant, 'env_growth_' || tenant || '_' || operator || country, operator, country, currency, true, 150, 100, 'Reject'
  from made, (values ('mtn', 'RW', 'RWF'), ('airtel', 'RW', 'RWF'), ('orange', 'CI', 'XOF'), ('moov', 'BJ', 'XOF'), ('moov', 'TG', 'XOF'))
    market (operator, country, currency)
), shops as (
  insert into stores (tenant, slug) select tenant, slug from made, unnest(array['shop', 'kiosk']) slug
), keys as (
  insert into api_keys (tenant, hash)
  select tenant, sha256(('cauri_sk_test_growth_' || tenant - $1::bigint + 1)::bytea) from made
), accounts as (
  insert into floats (tenant, currency, balance, opening, movements)
  select tenant, currency, 1000000000000, 1000000000000, 1 from made, unnest(array['RWF', 'XOF']) currency
  returning tenant, currency, opening
), cards as (
  insert into sims (tenant, sim_id, name, msisdn, operator, country, currency, blocked, behavior, balance, opening, movements)
  select tenant, md5('sim-' || tenant || '-' || s)::uuid, 'sim-' || s, '+25078' || lpad(s::text, 7, '0'), 'mtn', 'RW', 'RWF', false, 'Approve',
    1000000000000, 1000000000000, 1
  from made, generate_series(0, 19) s
  returning tenant, sim_id, opening
), opened as (
  insert into adjustments (tenant, currency, sim_id, delta, balance_after, number)
  select tenant, currency, null, opening, opening, 1 from accounts
  union all
  select tenant, null, sim_id, opening, opening, 1 from cards
)
update config_version set version = version + 1
