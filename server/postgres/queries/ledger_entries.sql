-- The double entries that the API shows. Every statement here runs in the tenant scope. See
-- ledger_accounts.sql for the balances.

-- name: FirstFloat :one
-- Returns the float in a currency; for an empty currency, the first of all floats.
select currency from floats
where tenant = sqlc.arg(tenant) and (currency = sqlc.arg(currency)::text or sqlc.arg(currency)::text = '')
order by currency limit 1;

-- name: ListFloatEntries :many
-- msisdn is the present phone number of the SIM, or the recorded one if the SIM was deleted.
select m.number::bigint as number, m.at::timestamptz as at, m.kind::text as kind, m.id, m.reference,
  m.order_ref, m.float_currency as currency, m.merchant_delta, m.sim_delta, m.commission,
  coalesce(s.msisdn, m.msisdn)::text as msisdn, m.balance_after::bigint as balance_after
from (
  (select t.merchant_number as number, coalesce(t.completed_at, t.created_at) as at, t.type::text as kind,
    t.id, t.reference, t.order_ref,
     t.float_currency, t.merchant_delta, t.sim_delta, t.commission, t.msisdn, t.sim_id,
     t.merchant_balance_after as balance_after
   from transactions t
   where t.tenant = sqlc.arg(tenant) and t.float_currency = sqlc.arg(currency)
     and t.merchant_number > sqlc.arg(after)::bigint
     and t.status = 'SUCCESS'
   order by t.merchant_number limit sqlc.arg(most))
  union all
  (select a.number, a.created_at, case when a.number = 1
    and a.balance_after = a.delta then 'opening' else 'adjustment' end, null, '', '', a.currency, a.delta, 0,
    0, '', null,
     a.balance_after
   from adjustments a
   where a.tenant = sqlc.arg(tenant) and a.currency = sqlc.arg(currency)
     and a.number > sqlc.arg(after)::bigint
   order by a.number limit sqlc.arg(most))
) m
left join sims s on s.tenant = sqlc.arg(tenant) and s.sim_id = m.sim_id
order by m.number limit sqlc.arg(most);

-- name: ListSIMEntries :many
-- Has the columns of ListFloatEntries.
select m.number::bigint as number, m.at::timestamptz as at, m.kind::text as kind, m.id, m.reference,
  m.order_ref, m.float_currency as currency, m.merchant_delta, m.sim_delta, m.commission,
  sqlc.arg(msisdn)::text as msisdn, m.balance_after::bigint as balance_after
from (
  (select t.sim_number as number, coalesce(t.completed_at, t.created_at) as at, t.type::text as kind, t.id,
    t.reference, t.order_ref,
     t.float_currency, t.merchant_delta, t.sim_delta, t.commission, t.sim_balance_after as balance_after
   from transactions t
   where t.tenant = sqlc.arg(tenant) and t.sim_id = sqlc.arg(sim_id)::uuid
     and t.sim_number > sqlc.arg(after)::bigint and t.sim_delta <> 0
   order by t.sim_number limit sqlc.arg(most))
  union all
  (select a.number, a.created_at, case when a.number = 1
    and a.balance_after = a.delta then 'opening' else 'adjustment' end, null, '', '',
    sqlc.arg(currency)::text, 0, a.delta,
     0, a.balance_after
   from adjustments a
   where a.tenant = sqlc.arg(tenant) and a.sim_id = sqlc.arg(sim_id)::uuid
     and a.number > sqlc.arg(after)::bigint
   order by a.number limit sqlc.arg(most))
) m
order by m.number limit sqlc.arg(most);
