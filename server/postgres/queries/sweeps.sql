-- Failures of the workers' sweeps that concern one sandbox alone.

-- name: NoteSweepFailure :one
-- The pause grows from one second to five minutes.
insert into sweep_failures as f (tenant, sweep, retry_at, error)
select o.tenant, sqlc.arg(sweep), now() + interval '1 second', sqlc.arg(error) from organizations o
where o.tenant = sqlc.arg(tenant)
on conflict (tenant, sweep) do update
  set failures = least(f.failures, 1000000) + 1, error = excluded.error,
    retry_at = now() + make_interval(secs => least(power(2, least(f.failures, 20)), 300))
returning f.failures, (extract(epoch from f.retry_at - now()) * 1000)::float8 as pause_ms;

-- name: ClearSweepFailures :exec
delete from sweep_failures where tenant = any(sqlc.arg(tenants)::bigint[]) and sweep = sqlc.arg(sweep);

-- name: SweepFailures :many
select sweep, failures, failing_since, retry_at, error from sweep_failures where tenant = sqlc.arg(tenant)
order by sweep;

-- name: PurgeSweepFailures :execrows
delete from sweep_failures where tenant = sqlc.arg(tenant);

-- name: QueuesInUse :one
-- Returns which queues have a row, due or not, and whether the ledger of a sandbox is due to be verified. A
-- worker runs it before it lists due rows, so that an empty queue costs one look-up in an index.
select exists (select from transactions t
    where t.status = 'PENDING' and not t.passthrough)::boolean as settlements,
  exists (select from transactions t where t.status = 'PENDING' and t.passthrough)::boolean as forwards,
  exists (select from events e where e.due_at is not null)::boolean as events,
  exists (select from native_callbacks n where n.due_at is not null)::boolean as callbacks,
  exists (select from clocks c where c.target is not null)::boolean as clocks,
  exists (select from expectations e where e.due_at is not null)::boolean as expectations,
  exists (select from receiver_checks c where c.finished_at is null)::boolean as receiver_checks,
  exists (select from ledger_proofs p where p.pass_due_at <= now())::boolean as passes;
