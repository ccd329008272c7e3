-- The accounts with their proofs, as the API shows them. Every statement here runs in the tenant scope.

-- name: ListLedgerAccounts :many
-- Returns a page of accounts. Adds the sums that a worker verified and the few movements since then, in one
-- snapshot.
with page as (
  (select ''::text as msisdn, f.currency, f.currency as account, null::uuid as sim_id, f.balance, f.movements
   from floats f where f.tenant = sqlc.arg(tenant) and f.currency > sqlc.arg(after_currency)::text
   order by f.currency limit sqlc.arg(most))
  union all
  (select s.msisdn, s.currency, s.sim_id::text, s.sim_id, s.balance, s.movements
   from sims s where s.tenant = sqlc.arg(tenant) and s.msisdn > sqlc.arg(after_msisdn)::text
   order by s.msisdn limit sqlc.arg(most))
  order by msisdn, currency limit sqlc.arg(most)
), proved as materialized (
  -- coalesce is applied here, since under row-level security no index serves a condition with coalesce.
  select page.*, coalesce(p.verified_up_to, 0) as verified_up_to, p.verified_at,
    coalesce(p.opening, 0) as opening, coalesce(p.adjustments, 0) as adjustments,
    coalesce(p.collections, 0) as collections, coalesce(p.refunds, 0) as refunds,
    coalesce(p.disbursements, 0) as disbursements, coalesce(p.imbalance, 0) as imbalance, p.broken_after,
    p.broken_before
  from page left join account_proofs p on p.tenant = sqlc.arg(tenant) and p.account = page.account
)
select a.msisdn, a.currency, a.balance, a.movements, a.verified_up_to, a.verified_at,
  (a.opening + moved.opening)::bigint as opening, (a.adjustments + moved.adjustments)::bigint as adjustments,
  (a.collections + moved.collections)::bigint as collections, (a.refunds + moved.refunds)::bigint as refunds,
  (a.disbursements + moved.disbursements)::bigint as disbursements, a.imbalance, a.broken_after,
  a.broken_before, coalesce((select l.broken from ledger_proofs l where l.tenant = sqlc.arg(tenant)),
    0)::integer as broken
from proved a
cross join lateral (
  select coalesce(sum(m.delta) filter (where m.kind = 'opening'), 0) as opening,
    coalesce(sum(m.delta) filter (where m.kind = 'adjustment'), 0) as adjustments,
    coalesce(sum(m.delta) filter (where m.kind = 'collection'), 0) as collections,
    coalesce(sum(m.delta) filter (where m.kind = 'refund'), 0) as refunds,
    coalesce(sum(m.delta) filter (where m.kind = 'disbursement'), 0) as disbursements
  from (
    select t.type::text as kind, t.merchant_delta as delta from transactions t
    where a.sim_id is null and t.tenant = sqlc.arg(tenant) and t.float_currency = a.currency
      and t.merchant_number > a.verified_up_to and t.status = 'SUCCESS'
    union all
    select t.type::text, t.sim_delta from transactions t
    where t.tenant = sqlc.arg(tenant) and t.sim_id = a.sim_id and t.sim_number > a.verified_up_to
      and t.sim_delta <> 0
    union all
    select case when j.number = 1 and j.balance_after = j.delta then 'opening' else 'adjustment' end, j.delta
    from adjustments j
    where a.sim_id is null and j.tenant = sqlc.arg(tenant) and j.currency = a.currency
      and j.number > a.verified_up_to
    union all
    select case when j.number = 1 and j.balance_after = j.delta then 'opening' else 'adjustment' end, j.delta
    from adjustments j
    where j.tenant = sqlc.arg(tenant) and j.sim_id = a.sim_id and j.number > a.verified_up_to
  ) m
) moved
order by a.msisdn, a.currency;

-- name: SIMBefore :one
-- Returns the number of the SIM before this one, in the order of ListLedgerAccounts; empty for the first SIM.
select coalesce(max(s.msisdn), '')::text as msisdn from sims s
where s.tenant = sqlc.arg(tenant) and s.msisdn < sqlc.arg(msisdn)::text;
