-- The rows of Expectations: the controller makes them, a worker evaluates them, and the controller reads the
-- verdict. All times are real times.

-- name: TenantsToEvaluate :many
-- The sandboxes with open expectations that are due, or in which something happened since they were
-- evaluated. In random order, so that workers share them.
select o.tenant, (f.tenant is not null)::boolean as sweep_failed
from (
  select tenant, min(due_at) as due_at,
    min(evaluated_at) filter (where reason <> 'TooManyRows') as evaluated_at
  from expectations
  where due_at is not null
  group by tenant
) e
join organizations o on o.tenant = e.tenant
left join activity a on a.tenant = e.tenant
left join sweep_failures f on f.tenant = e.tenant and f.sweep = 'expectations'
where o.retained_at is null and (f.retry_at is null or f.retry_at <= now())
  and (e.due_at <= now() or a.changed_at > e.evaluated_at)
order by random()
limit sqlc.arg(batch)::integer;

-- name: LockExpectation :one
-- The one of a sandbox to evaluate now, the time, and what the sandbox is known for. Another worker has those
-- that are locked. One that took too long is evaluated again when it is due, whatever happens.
select e.*, now()::timestamptz as now, o.clocked, a.changed_at as active_at from expectations e
join organizations o on o.tenant = e.tenant
left join activity a on a.tenant = e.tenant
where e.tenant = sqlc.arg(tenant) and e.due_at is not null
  and (e.due_at <= now() or a.changed_at > e.evaluated_at and e.reason <> 'TooManyRows')
order by e.evaluated_at
limit 1
for update of e skip locked;

-- name: EnterToObserve :exec
-- What a worker observes is in the scope of one sandbox, in the views that have such a scope.
select set_config('cauri.tenant', sqlc.arg(tenant)::bigint::text, true);

-- name: NewestTransactionBefore :one
-- In a sandbox with a clock, transactions do not say when they were created in real time: the newest one.
select id from transactions
where tenant = sqlc.arg(tenant) and (sqlc.arg(clocked)::boolean or created_at < sqlc.arg(began)::timestamptz)
order by tenant desc, id desc limit 1;

-- name: JudgeExpectation :exec
-- What the controller is told of has a new changed_at.
update expectations set verdict = sqlc.arg(verdict), reason = sqlc.arg(reason), message = sqlc.arg(message),
  results = sqlc.arg(results), met_since = sqlc.narg(met_since), since = sqlc.narg(since),
  due_at = sqlc.narg(due_at), evaluated_at = now(),
  changed_at = case when sqlc.arg(told)::boolean then now() else changed_at end
where tenant = sqlc.arg(tenant) and uid = sqlc.arg(uid);

-- name: FailExpectationsOfResets :execrows
-- Those whose sandbox was reset or deleted while they were open.
update expectations e set verdict = 'Failed', reason = 'SandboxReset', message = sqlc.arg(message),
  due_at = null, changed_at = now()
where e.due_at is not null and not exists (
  select from organizations o where o.tenant = e.tenant and o.retained_at is null);

-- name: RemoveAgedExpectations :execrows
-- The resource has the verdict.
delete from expectations where (tenant, uid) in (
  select e.tenant, e.uid from expectations e
  where e.due_at is null and e.changed_at < now() - interval '1 day'
  limit sqlc.arg(batch));

-- name: FindExpectation :one
-- Of this run of the resource.
select verdict, reason, message, results, evaluated_at from expectations
where uid = sqlc.arg(uid) and run = sqlc.arg(run);

-- name: ListExpectations :many
-- The newest ones of a sandbox, or those that are older than one of them, and the time.
select e.uid, e.name, e.lines, e.began_at, e.deadline, e.due_at, e.verdict, e.reason, e.results, e.changed_at,
  now()::timestamptz as now
from expectations e
where e.tenant = sqlc.arg(tenant) and (sqlc.narg(after)::uuid is null or (e.began_at, e.uid) < (
  select a.began_at, a.uid from expectations a
  where a.tenant = sqlc.arg(tenant) and a.uid = sqlc.narg(after)))
order by e.began_at desc, e.uid desc
limit sqlc.arg(batch)::integer;

-- name: CountExpectations :one
select count(*) filter (where verdict = 'Open') as open, count(*) filter (where verdict = 'Met') as met,
  count(*) filter (where verdict = 'Failed') as failed
from expectations where tenant = sqlc.arg(tenant);

-- name: CountOpenExpectations :one
select count(*) from expectations e
join organizations o on o.tenant = e.tenant
where o.resource_uid = sqlc.arg(resource_uid) and e.due_at is not null;

-- name: InsertExpectation :execrows
-- No row: there is no such sandbox. Another worker may be evaluating a former run: this waits for it.
insert into expectations (tenant, uid, name, run, lines, settle_ms, deadline, since_creation)
select o.tenant, sqlc.arg(uid), sqlc.arg(name), sqlc.arg(run), sqlc.arg(lines), sqlc.arg(settle_ms),
  now() + make_interval(secs => sqlc.arg(within_ms)::float8 / 1000), sqlc.arg(since_creation)
from organizations o
where o.resource_uid = sqlc.arg(resource_uid) and o.retained_at is null;

-- name: DeleteExpectation :exec
delete from expectations where uid = sqlc.arg(uid);

-- name: ChangedExpectations :many
-- Since a time of the database, and what was changed shortly before: database transactions that began before
-- it may become visible after it.
select uid, changed_at from expectations
where changed_at > sqlc.arg(since)::timestamptz - interval '5 seconds'
order by changed_at;

-- name: PurgeExpectations :execrows
delete from expectations where tenant = sqlc.arg(tenant);
