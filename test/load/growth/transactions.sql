-- Makes the transactions $1 to $2 of $3, in the order of their times in the 20 days before $7. $4 is the tenant number of the first of
-- $5 sandboxes. The first sandbox has about $6 of the transactions; 0: the same as the others. The position of a transaction decides its
-- fields. A refund follows its collection. Among the oldest of the first sandbox, ten collections have a unique status and ten are in a
-- separate market. The second sandbox has only successful collections.
with size as materialized (
  select $3::bigint as total, stride, case when stride > 0 then $3::bigint - $3::bigint / stride else $3::bigint end as rest,
    $5::bigint - sign(stride)::bigint as others
  from (select case when $6::bigint > 0 then $3::bigint / $6::bigint else 0 end as stride) s
), turn as materialized (
  select size.*, g, stride > 0 and g % stride = 0 as first, g - case when stride > 0 then g / stride else 0 end as s
  from size, generate_series($1::bigint, $2::bigint) g
), place as materialized (
  select *, case when n <> 2 and j % 25 = 0 then j - 1 else j end as k from (
    select g, total,
      case when first then 1 else 1 + sign(stride)::bigint + (s - 1) % others end as n,
      case when first then g / stride else (s - 1) / others + 1 end as j,
      case when first then total / stride else (rest - (s - 1) % others + others - 1) / others end as of_sandbox,
      -- the position of the previous transaction in its sandbox
      case when first then g - stride when stride > 1 then s - others + (s - others - 1) / (stride - 1) else s - others end as before
    from turn
  ) one
), drawn as materialized (
  select *, ('x' || substr(hash, 1, 4))::bit(16)::integer % 1000 as r, ('x' || substr(hash, 5, 4))::bit(16)::integer % 10 as m,
    ('x' || substr(hash, 9, 4))::bit(16)::integer % 1000 as a,
    ('x' || substr(md5('refund ' || n || '-' || k), 1, 4))::bit(16)::integer % 50 > 0 as granted,
    $7::timestamptz - interval '20 days' * ((total - g)::float8 / total) as at,
    $7::timestamptz - interval '20 days' * ((total - before)::float8 / total) as at_before
  from place, lateral (select md5(n || '-' || k)) h (hash)
), typed as materialized (
  select *, case when n = 2 then 'collection' when j <> k then 'refund' when j % 25 in (6, 18) then 'disbursement' else 'collection' end as type,
    j % 25 = 24 and n <> 2 as parent,
    case when n = 1 and k between 11 and 20 then 'moov TG XOF' when m < 6 then 'mtn RW RWF' when m < 8 then 'airtel RW RWF' when m = 8 then 'orange CI XOF'
      else 'moov BJ XOF' end as market,
    case when n = 1 and k between 11 and 20 or m >= 6 or k % 40 >= 20 then null else k % 40 end as sim
  from drawn
), decided as materialized (
  select *, case when n = 2 or parent then 'SUCCESS' when n = 1 and j <= 10 then 'DUPLICATE_REFERENCE'
    when type = 'refund' then case when granted then 'SUCCESS' else 'INSUFFICIENT_FUNDS' end
    when type = 'disbursement' then case when r >= 50 then 'SUCCESS' else 'INSUFFICIENT_FUNDS' end
    when r < 900 then 'SUCCESS' when r < 920 then 'PIN_INVALID' when r < 950 then 'INSUFFICIENT_FUNDS' when r < 960 then 'TIMEOUT'
    when r < 970 then 'ACCOUNT_BLOCKED' when r < 985 then 'USER_CANCELLED' when r < 990 then 'UNKNOWN_MSISDN' when r < 995 then 'LIMIT_EXCEEDED'
    when r < 999 or sim is null then 'SERVICE_UNAVAILABLE' else 'PENDING' end as status,
    1000 + a * 100 as amount, case when type = 'collection' then (1000 + a * 100) * 15 / 1000 else 0 end as commission
  from typed
), moved as materialized (
  select decided.*, $4::bigint + n - 1 as tenant, split_part(market, ' ', 3) as currency,
    case when sim is not null then md5('sim-' || $4::bigint + n - 1 || '-' || sim)::uuid end as sim_id,
    case when status <> 'SUCCESS' then 0 when type = 'collection' then amount - commission else -amount end as merchant_delta,
    case when status <> 'SUCCESS' or sim is null then 0 when type = 'collection' then -amount else amount end as sim_delta
  from decided
), numbered as materialized (
  -- The movements go on from the numbers and balances that the accounts have.
  select moved.*, case when status = 'SUCCESS' then f.movements + count(*) filter (where status = 'SUCCESS') over of_float else 0 end as merchant_number,
    case when status = 'SUCCESS' then f.balance + sum(merchant_delta) over of_float end::bigint as merchant_balance_after,
    case when sim_delta <> 0 then s.movements + count(*) filter (where sim_delta <> 0) over of_sim else 0 end as sim_number,
    case when sim_delta <> 0 then s.balance + sum(sim_delta) over of_sim end::bigint as sim_balance_after
  from moved join floats f on f.tenant = moved.tenant and f.currency = moved.currency
  left join sims s on s.tenant = moved.tenant and s.sim_id = moved.sim_id
  window of_float as (partition by moved.tenant, moved.currency order by g), of_sim as (partition by moved.tenant, moved.sim_id order by g)
), floats_moved as (
  update floats f set balance = m.balance, movements = m.movements
  from (select distinct on (tenant, currency) tenant, currency, merchant_balance_after as balance, merchant_number as movements
    from numbered where status = 'SUCCESS' order by tenant, currency, g desc) m
  where f.tenant = m.tenant and f.currency = m.currency
), sims_moved as (
  update sims s set balance = m.balance, movements = m.movements
  from (select distinct on (tenant, sim_id) tenant, sim_id, sim_balance_after as balance, sim_number as movements
    from numbered where sim_delta <> 0 order by tenant, sim_id, g desc) m
  where s.tenant = m.tenant and s.sim_id = m.sim_id
), recorded as (
  insert into transactions (tenant, id, type, status, parent_id, reference, request_hash, order_ref, is_url_protected, store, scenario, env_id,
    operator, country, currency, msisdn, amount, commission, net_amount, absorption_pct, refunded, latency_ms, created_at, completed_at,
    float_currency, sim_id, merchant_delta, sim_delta, due_at, expires_at, merchant_number, sim_number, merchant_balance_after,
    sim_balance_after)
  select tenant, (lpad(to_hex((extract(epoch from at) * 1000000)::bigint), 14, '0') || substr(md5('id ' || n || '-' || j), 1, 18))::uuid, type::transaction_type, status::transaction_status,
    case when type = 'refund' then (lpad(to_hex((extract(epoch from at_before) * 1000000)::bigint), 14, '0') || substr(md5('id ' || n || '-' || k), 1, 18))::uuid end,
    'g-' || n || '-' || j, sha256(hash::bytea), case when k % 100 = 7 then 'o-bulk' else 'o-' || k / 3 end, false,
    case when k % 10 = 3 then 'kiosk' else 'shop' end, '', 'env_growth_' || $4::bigint + n - 1 || '_' || replace(left(market, -4), ' ', ''),
    split_part(market, ' ', 1), split_part(market, ' ', 2), split_part(market, ' ', 3),
    case when sim is null then '+22507' || lpad((k % 100000)::text, 8, '0') else '+25078' || lpad(sim::text, 7, '0') end,
    amount, commission, amount - commission, 100,
    case when parent and granted and j < of_sandbox then amount else 0 end,
    800, at, case when status <> 'PENDING' then at + interval '0.8 s' end,
    currency, sim_id, merchant_delta, sim_delta,
    case when status = 'PENDING' then now() + interval '1 day' end, case when status = 'PENDING' then now() + interval '1 day' end,
    merchant_number, sim_number, merchant_balance_after, sim_balance_after
  from numbered
  returning tenant, id, status, created_at, completed_at
), sent as (
  insert into events (tenant, id, state, attempts, body, created_at, delivered_at)
  select tenant, id, (case when tenant = $4::bigint then 'delivered' else 'recorded' end)::event_state, case when tenant = $4::bigint then 1 else 0 end,
    case when tenant = $4::bigint then '{}'::bytea end, completed_at, case when tenant = $4::bigint then completed_at + interval '10 ms' end
  from recorded where status <> 'PENDING'
  returning tenant, id, state, created_at
)
insert into delivery_attempts (tenant, event_id, attempt, started_at, duration_ms, response_status)
select tenant, id, 1, created_at, 10, 204 from sent where state = 'delivered'
