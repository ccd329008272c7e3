-- Rows $2 to $3 of sandbox $1, in every table that grows with a sandbox. See plans_test.go.

insert into sims (tenant, sim_id, name, msisdn, operator, country, currency, blocked, behavior, balance, opening, movements)
select $1, plan_id(i), 'sim' || i, plan_msisdn(i), 'mtn', 'RW', 'RWF', false, 'Approve', 1000000, 1001000, 2 from generate_series($2::bigint, $3::bigint) i;

insert into transactions (tenant, id, type, status, reference, request_hash, order_ref, is_url_protected, store, scenario, env_id, operator,
  country, currency, msisdn, amount, commission, net_amount, absorption_pct, latency_ms, float_currency, sim_id, completed_at, merchant_delta,
  sim_delta, merchant_balance_after, sim_balance_after, merchant_number, sim_number, due_at, expires_at, passthrough, forward_fence,
  forward_failures)
select $1, plan_id(i), 'collection', (case when pending then 'PENDING' else 'SUCCESS' end)::transaction_status, 'r' || i, '\x00', 'o' || i, false,
  'shop', '', 'env', 'mtn', 'RW', 'RWF', plan_msisdn(i), 1000, 0, 1000, 100, 0, 'RWF', case when not forwarded then plan_id(i) end,
  case when not pending then now() end, case when pending then 0 else 1000 end, case when pending then 0 else -1000 end,
  case when not pending then i * 1000 end, case when not pending then 1000000 end, case when pending then 0 else i end,
  case when pending then 0 else 2 end, case when pending then now() + (case when i <= 100 then '-1 minute' else '1 day' end)::interval end,
  case when pending then now() + interval '1 day' end, forwarded, case when forwarded then 0 end, case when forwarded then 0 end
from (select i, i % 20 = 0 as pending, i % 40 = 0 as forwarded from generate_series($2::bigint, $3::bigint) i) rows;

insert into events (tenant, id, state, due_at, attempts, body, delivered_at)
select $1, plan_id(i), (case when queued then 'queued' when i % 100 = 7 then 'failed' else 'delivered' end)::event_state,
  case when queued then now() + (case when i <= 100 then '-1 minute' else '1 day' end)::interval end, 1, '{}', case when not queued then now() end
from (select i, i % 20 = 1 as queued from generate_series($2::bigint, $3::bigint) i) rows where i % 20 <> 0;

insert into delivery_attempts (tenant, event_id, attempt, started_at, duration_ms, response_status)
select $1, plan_id(i), 1, now(), 1, 200 from generate_series($2::bigint, $3::bigint) i;

insert into unacknowledged_events (tenant, id, operator, created_at, attempt)
select $1, plan_id(i), case when i % 2 = 0 then '' else 'mtn' end, now(), 1 from generate_series($2::bigint, $3::bigint) i;

insert into adjustments (tenant, sim_id, delta, balance_after, number)
select $1, plan_id(i), 1001000, 1001000, 1 from generate_series($2::bigint, $3::bigint) i;

insert into native_requests (tenant, id, operation, sent, callback_urls)
select $1, plan_id(i), 'requesttopay', '{}', '{http://shop/}' from generate_series($2::bigint, $3::bigint) i;

insert into native_callbacks (tenant, id, transaction_id, kind, url, state, due_at, attempts)
select $1, plan_id(i), plan_id(i), '', 'http://shop/', (case when queued then 'queued' when i % 100 = 7 then 'failed' else 'delivered' end)::event_state,
  case when queued then now() + (case when i <= 100 then '-1 minute' else '1 day' end)::interval end, 1
from (select i, i % 20 = 1 as queued from generate_series($2::bigint, $3::bigint) i) rows where i % 20 <> 0;

insert into native_callbacks (tenant, id, operator, kind, url, sent, state, created_at, recorded_at)
select $1, plan_id((1::bigint << 41) + i), 'mtn', 'inquiry', 'http://shop/', '{}', 'delivered', now(), now()
from generate_series($2::bigint, $3::bigint) i;

insert into callback_attempts (tenant, id, attempt, started_at, duration_ms)
select $1, plan_id(i), 1, now(), 1 from generate_series($2::bigint, $3::bigint) i;

insert into native_tokens (tenant, hash, operator, product, user_id, made_with, callback_host, expires_at)
select $1, int8send(i), 'mtn', 'collection', 'u', '', '', now() + interval '1 hour' from generate_series($2::bigint, $3::bigint) i;

insert into native_settings (tenant, operator, name, made_with, value)
select $1, 'mtn', 's' || i, '', '{}' from generate_series($2::bigint, $3::bigint) i where i <= 100;

insert into native_orders (tenant, operator, order_id, token_hash, made_with, amount, sent, expires_at)
select $1, 'orange', 'o' || i, int8send(i), '', 1, '{}', now() + interval '10 minutes' from generate_series($2::bigint, $3::bigint) i;

insert into changes (tenant, kind, id) select $1, 'booking', plan_id(i) from generate_series($2::bigint, $3::bigint) i;

insert into fault_acts (tenant, name, reference) select $1, 'lost', 'r' || i from generate_series($2::bigint, $3::bigint) i;

insert into fault_requests (tenant, reference) select $1, 'r' || i from generate_series($2::bigint, $3::bigint) i;

insert into event_faults (tenant, event_id, attempt, name, not_before, awaits_next)
select $1, plan_id(i), 1, 'lost', now(), i % 1000 = 1 from generate_series($2::bigint, $3::bigint) i where i % 20 = 1;

insert into account_proofs (tenant, account, sim_id, verified_up_to, verified_at, balance, opening, adjustments, collections, refunds, disbursements)
select $1, plan_id(i)::text, plan_id(i), 2, now(), 1000000, 1001000, 0, 1000, 0, 0 from generate_series($2::bigint, $3::bigint) i;

insert into expectations (tenant, uid, name, run, lines, settle_ms, deadline, since_creation, due_at, verdict)
select $1, gen_random_uuid(), 'paid-once', '', '[]', 0, now(), false, case when i % 100 = 0 then now() + interval '1 day' end, 'Met'
from generate_series($2::bigint, $3::bigint) i;

insert into receiver_checks (tenant, id, allow, host, began_at, finished_at)
select $1, plan_id(i), false, 'shop' || i / 20, now() - interval '1 day', now() from generate_series($2::bigint, $3::bigint) i;
