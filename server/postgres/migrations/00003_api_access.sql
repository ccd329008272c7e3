-- +goose Up

-- What a sandbox's API key may do that is otherwise configuration: spec.api of its resource.

alter table organizations add column api_test_clients boolean not null default false; -- create, change and delete test clients
alter table organizations add column api_reset boolean not null default false;        -- reset the sandbox
alter table organizations add column max_test_clients bigint;                         -- in its registry; null is no limit

-- A SIM that was made through the API is data of its tenant: no resource stands behind it, and a reset leaves it behind.
alter table sims add column source text not null default 'resource'; -- resource or api

grant insert (balance, behaviour, blocked, country, currency, msisdn, name, opening, operator, sim_id, source, tenant),
  update (behaviour, blocked, name), delete on sims to cauri_tenant;
grant insert (balance_after, delta, sim_id, tenant) on adjustments to cauri_tenant;
grant select (api_reset, api_test_clients, max_test_clients) on organizations to cauri_api;
grant insert (api_reset, api_test_clients, max_test_clients), update (api_reset, api_test_clients, max_test_clients) on organizations
  to cauri_controller;

-- Whoever is in the scope of a tenant neither makes nor removes the SIM of a resource.
create policy api_inserts on sims as restrictive for insert to cauri_tenant with check (source = 'api');
create policy api_deletes on sims as restrictive for delete to cauri_tenant using (source = 'api');

-- As in 00002, with what the API may do. A sandbox whose API may do nothing has the fingerprint that it had: concat_ws leaves out a null.
-- +goose StatementBegin
create or replace function sandbox_fingerprints() returns table (tenant bigint, fingerprint text) language sql stable parallel safe as $$
  select o.tenant, md5(concat_ws(chr(10),
    row(o.org_id, o.namespace, o.name, o.latency_percent, o.monthly_quota, o.rate_limit, o.pending_timeout_ms, o.suspended, o.reset),
    row(o.webhook_url, o.webhook_max_retries, o.webhook_initial_delay_ms, o.webhook_factor, o.webhook_max_delay_ms, o.webhook_types),
    row(o.key_rotation, o.secret_rotation, o.signing_secret is null, o.previous_secret is null, o.previous_secret_until <= now(),
      cardinality(o.older_secrets), (select count(*) from unnest(o.older_secrets_until) older_until where older_until <= now())),
    e.parts, '', s.parts, '', f.parts, '', k.parts, '', c.parts, 'test numbers ' || nullif(o.test_numbers, 'None'),
    case when o.api_test_clients or o.api_reset or o.max_test_clients is not null
      then row(o.api_test_clients, o.api_reset, o.max_test_clients) end))
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

-- Resets the sandbox in whose scope it is called, as a new value of its resource's spec.reset does, and returns the new tenant number; null
-- where the API may not do that, or where no sandbox has the number any more. The value in organizations.reset stays: it is the
-- resource's. The api has no right to any of this: it may call the function, which acts on one sandbox only. Whatever changes a
-- configuration locks its row first, so that one change comes after the other, and the version is increased last.
-- +goose StatementBegin
create function reset_sandbox() returns bigint language plpgsql security definer as $$
declare
  former bigint := current_tenant();
  present bigint;
begin
  perform from organizations where tenant = former and retained_at is null and api_reset and not suspended for update;
  if not found then
    return null;
  end if;
  present := nextval('tenant_numbers');
  update organizations set tenant = present where tenant = former;
  update environments set tenant = present where tenant = former;
  update stores set tenant = present where tenant = former;
  update api_keys set tenant = present where tenant = former;
  update operator_credentials set tenant = present where tenant = former;
  -- Copied, and not moved: payments of the old tenant that are being booked hold locks on these rows.
  insert into floats (tenant, currency, balance, opening)
    select present, f.currency, f.opening, f.opening from floats f where f.tenant = former;
  insert into sims (tenant, sim_id, generation, name, msisdn, operator, country, currency, blocked, behaviour, balance, opening)
    select present, s.sim_id, s.generation, s.name, s.msisdn, s.operator, s.country, s.currency, s.blocked, s.behaviour, s.opening, s.opening
    from sims s where s.tenant = former and s.source = 'resource';
  insert into adjustments (tenant, currency, delta, balance_after)
    select present, f.currency, f.balance, f.balance from floats f where f.tenant = present;
  insert into adjustments (tenant, sim_id, delta, balance_after)
    select present, s.sim_id, s.balance, s.balance from sims s where s.tenant = present;
  update config_version set version = version + 1;
  update organizations set version = (select version from config_version) where tenant = present;
  insert into retired_tenants (tenant, resource_uid, version) select former, resource_uid, version from organizations where tenant = present;
  return present;
end $$;

-- It runs with the rights of the owner of the tables, so nobody's search_path decides which tables these are.
do $$
begin
  execute format('alter function reset_sandbox() set search_path = %I, pg_temp', current_schema());
  revoke execute on function reset_sandbox() from public;
  grant execute on function reset_sandbox() to cauri_tenant;
end $$;
-- +goose StatementEnd
