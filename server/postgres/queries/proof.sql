-- The proof of the ledger: every balance follows from its movements, in the order of their numbers.
--
-- The verification locks only its own rows. A movement that has a number never changes any more.

-- name: TenantsToVerify :many
-- Returns the sandboxes with activity since their verification, those whose next pass is due, and those that
-- were never verified. The order is random, so that workers share them.
select o.tenant, (f.tenant is not null)::boolean as sweep_failed
from organizations o
left join ledger_proofs p on p.tenant = o.tenant
left join activity a on a.tenant = o.tenant
left join sweep_failures f on f.tenant = o.tenant and f.sweep = 'verification'
where o.retained_at is null and (p.leased_until is null or p.leased_until <= now())
  and (f.retry_at is null or f.retry_at <= now())
  and (p.tenant is null or p.pass_due_at <= now()
    or (a.changed_at > p.verified_at
      and p.verified_at < now() - make_interval(secs => sqlc.arg(pause_ms)::float8 / 1000)))
order by random()
limit sqlc.arg(batch)::integer;

-- name: LeaseProof :one
-- Leases the verification of a sandbox. Returns no row if another worker has the lease, or if the sandbox is
-- gone.
insert into ledger_proofs as p (tenant, fence, leased_until)
select o.tenant, 1, now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000) from organizations o
where o.tenant = sqlc.arg(tenant) and o.retained_at is null
on conflict (tenant) do update set fence = p.fence + 1, leased_until = excluded.leased_until
  where p.leased_until is null or p.leased_until <= now()
returning p.fence, (p.pass_due_at <= now())::boolean as pass_due, now()::timestamptz as began;

-- name: RenewProofLease :execrows
update ledger_proofs set leased_until = now() + make_interval(secs => sqlc.arg(lease_ms)::float8 / 1000)
where tenant = sqlc.arg(tenant) and fence = sqlc.arg(fence);

-- name: FinishProof :one
-- Records the result, ends the lease, and returns the previous result. A pass that was asked for meanwhile
-- stays due. Returns no row if the lease was lost, or if the sandbox is gone.
with before as (
  select p.tenant, p.broken, p.imbalance, (p.passed_at is null)::boolean as first from ledger_proofs p
  where p.tenant = sqlc.arg(tenant) and p.fence = sqlc.arg(fence)
    and exists (select from organizations o where o.tenant = p.tenant)
  for update
)
update ledger_proofs p set leased_until = null, verified_at = sqlc.arg(verified_at)::timestamptz,
  passed_at = coalesce(sqlc.narg(pass_began)::timestamptz, p.passed_at),
  pass_due_at = case when p.pass_due_at > sqlc.narg(pass_began)::timestamptz
    or sqlc.narg(pass_began)::timestamptz is null then p.pass_due_at
    else now() + make_interval(secs => sqlc.arg(next_pass_ms)::float8 / 1000) end,
  broken = coalesce(sqlc.narg(broken)::integer, p.broken),
  imbalance = coalesce(sqlc.narg(imbalance)::bigint, p.imbalance)
from before where p.tenant = sqlc.arg(tenant) and before.tenant = p.tenant
returning before.broken, before.imbalance, before.first;

-- name: KeepAccountProofs :exec
insert into account_proofs (tenant, account, sim_id, verified_up_to, verified_at, balance, opening,
  adjustments, collections, refunds, disbursements, imbalance, broken_after, broken_before)
select sqlc.arg(tenant), unnest(sqlc.arg(accounts)::text[]), unnest(sqlc.arg(sim_ids)::uuid[]),
  unnest(sqlc.arg(verified_up_to)::bigint[]), sqlc.arg(verified_at)::timestamptz,
  unnest(sqlc.arg(balances)::bigint[]), unnest(sqlc.arg(openings)::bigint[]),
  unnest(sqlc.arg(adjustments)::bigint[]), unnest(sqlc.arg(collections)::bigint[]),
  unnest(sqlc.arg(refunds)::bigint[]), unnest(sqlc.arg(disbursements)::bigint[]),
  unnest(sqlc.arg(imbalances)::bigint[]), nullif(unnest(sqlc.arg(broken_after)::bigint[]), -1),
  nullif(unnest(sqlc.arg(broken_before)::bigint[]), -1)
on conflict (tenant, account) do update
set verified_up_to = excluded.verified_up_to, verified_at = excluded.verified_at,
  balance = excluded.balance, opening = excluded.opening, adjustments = excluded.adjustments,
  collections = excluded.collections, refunds = excluded.refunds, disbursements = excluded.disbursements,
  imbalance = excluded.imbalance, broken_after = excluded.broken_after,
  broken_before = excluded.broken_before;

-- name: ForgetAccountProofs :exec
-- Deletes the proofs of deleted SIMs, after a pass has verified all existing ones.
delete from account_proofs
where tenant = sqlc.arg(tenant) and verified_at < sqlc.arg(verified_at)::timestamptz;

-- name: ListAccountProofs :many
select * from account_proofs where tenant = sqlc.arg(tenant) and account = any(sqlc.arg(accounts)::text[]);

-- name: FloatsToVerify :many
select f.currency, f.balance, f.movements from floats f where f.tenant = sqlc.arg(tenant) order by f.currency;

-- name: SIMsToVerify :many
-- Returns all SIMs if every is true, else those that have changed since their verification.
select s.sim_id, s.balance, s.movements from sims s
left join account_proofs p on p.tenant = sqlc.arg(tenant) and p.account = s.sim_id::text
where s.tenant = sqlc.arg(tenant)
  and (sqlc.arg(every)::boolean or p.account is null or p.verified_up_to <> s.movements
    or p.balance <> s.balance)
order by s.sim_id;

-- name: FloatMovements :many
-- Returns the movements of a float with numbers in a range, each with the movement of a SIM by the same
-- transaction.
select t.merchant_number as number, t.merchant_delta as delta,
  coalesce(t.merchant_balance_after, 0)::bigint as balance_after, t.type::text as kind, t.sim_id,
  t.sim_number, t.sim_delta, t.sim_balance_after
from transactions t
where t.tenant = sqlc.arg(tenant) and t.float_currency = sqlc.arg(currency) and t.status = 'SUCCESS'
  and t.merchant_number > sqlc.arg(after)::bigint and t.merchant_number <= sqlc.arg(up_to)::bigint
union all
select a.number, a.delta, a.balance_after, 'adjustment', null::uuid, 0::bigint, 0::bigint, null::bigint
from adjustments a
where a.tenant = sqlc.arg(tenant) and a.currency = sqlc.arg(currency)
  and a.number > sqlc.arg(after)::bigint and a.number <= sqlc.arg(up_to)::bigint
order by 1;

-- name: SIMAdjustments :many
-- Returns the adjustments of SIMs with numbers above the given number of each SIM.
select a.sim_id, a.number, a.delta, a.balance_after
from (select unnest(sqlc.arg(sim_ids)::uuid[]) as sim_id, unnest(sqlc.arg(after)::bigint[]) as after) given
join adjustments a on a.tenant = sqlc.arg(tenant) and a.sim_id = given.sim_id and a.number > given.after
order by a.sim_id, a.number;

-- name: VerificationTime :one
-- Returns the time of the snapshot.
select now()::timestamptz;

-- name: AskForPass :one
-- Makes a pass due: a worker then verifies the whole ledger of the sandbox.
insert into ledger_proofs as p (tenant, pass_due_at) select o.tenant, clock_timestamp() from organizations o
where o.tenant = sqlc.arg(tenant)
on conflict (tenant) do update set pass_due_at = clock_timestamp()
returning p.pass_due_at;

-- name: PassedSince :one
select coalesce(p.passed_at >= sqlc.arg(asked)::timestamptz, false)::boolean from ledger_proofs p
where p.tenant = sqlc.arg(tenant);

-- name: BrokenAccounts :many
-- Returns the accounts that are not balanced, for the status of the resource.
select p.account, coalesce(s.name, '')::text as test_client, (p.sim_id is not null)::boolean as of_sim,
  p.imbalance, p.broken_after::bigint as broken_after, p.broken_before
from account_proofs p left join sims s on s.tenant = p.tenant and s.sim_id = p.sim_id
where p.tenant = sqlc.arg(tenant) and p.broken_after is not null
order by p.sim_id nulls first, p.account
limit sqlc.arg(shown)::integer;

-- name: LedgerProof :one
select p.verified_at, p.broken from ledger_proofs p where p.tenant = sqlc.arg(tenant);

-- name: CountImbalances :one
select coalesce(sum(p.imbalance), 0)::bigint as imbalance, coalesce(sum(p.broken), 0)::bigint as accounts
from ledger_proofs p join organizations o using (tenant) where p.broken > 0 and o.retained_at is null;

-- name: PurgeAccountProofs :execrows
delete from account_proofs where tenant = sqlc.arg(tenant);

-- name: PurgeLedgerProofs :execrows
delete from ledger_proofs where tenant = sqlc.arg(tenant);
