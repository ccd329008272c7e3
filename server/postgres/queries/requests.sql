-- The request log.

-- name: LogRequests :exec
-- Inserts requests of several sandboxes; a request is one position in all arrays. Requests to a sandbox that
-- was reset or deleted meanwhile are left out.
with logged as (
  select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(ids)::uuid[]) as id,
    unnest(sqlc.arg(kinds)::text[]) as kind, unnest(sqlc.arg(received)::timestamptz[]) as received_at,
    unnest(sqlc.arg(methods)::text[]) as method, unnest(sqlc.arg(paths)::text[]) as path,
    unnest(sqlc.arg(queries)::text[]) as query, unnest(sqlc.arg(statuses)::integer[]) as status,
    unnest(sqlc.arg(errors)::text[]) as error, unnest(sqlc.arg(hints)::text[]) as hint,
    unnest(sqlc.arg(request_ids)::text[]) as request_id,
    unnest(sqlc.arg(faults)::text[]) as fault, unnest(sqlc.arg(actors)::text[]) as actor,
    unnest(sqlc.arg(request_bodies)::text[]) as request_body,
    unnest(sqlc.arg(response_bodies)::text[]) as response_body, unnest(sqlc.arg(not_kept)::text[]) as not_kept
)
insert into requests (tenant, id, kind, received_at, method, path, query, status, error, hint, request_id,
  fault, actor, request_body, response_body, not_kept)
select l.tenant, l.id, l.kind, l.received_at, l.method, l.path, nullif(l.query, '')::json,
  nullif(l.status, 0), nullif(l.error, ''), nullif(l.hint, ''), nullif(l.request_id, ''),
  nullif(l.fault, ''), nullif(l.actor, ''), nullif(l.request_body, '')::json,
  nullif(l.response_body, '')::json, nullif(l.not_kept, '')::json
from logged l
join organizations o on o.tenant = l.tenant and o.retained_at is null
on conflict do nothing;

-- name: LockRequestLog :exec
-- Runs before TrimRequests, so that processes trim one after the other.
select pg_advisory_xact_lock(hashtextextended('cauri requests', 0));

-- name: TrimRequests :exec
-- Removes all but the newest requests of each kind, for the given sandboxes and kinds.
with logged as (
  select distinct g.tenant, g.kind
  from (select unnest(sqlc.arg(tenants)::bigint[]) as tenant, unnest(sqlc.arg(kinds)::text[]) as kind) g
), oldest as (
  select l.tenant, l.kind, n.id from logged l
  cross join lateral (
    select r.id from requests r where r.tenant = l.tenant and r.kind = l.kind order by r.id desc
    limit 1 offset case l.kind when 'unauthenticated' then sqlc.arg(unauthenticated)::integer
      when 'guest_failed' then sqlc.arg(guests)::integer
      when 'guest_succeeded' then sqlc.arg(guests)::integer
      else sqlc.arg(others)::integer end - 1) n
)
delete from requests r using oldest
where r.tenant = oldest.tenant and r.kind = oldest.kind and r.id < oldest.id;

-- name: ListRequests :many
-- In the tenant scope. A sandbox has about a thousand rows at most, so that no filter needs an index.
select r.id, r.kind, r.received_at, r.method, r.path, r.query, r.status, r.error, r.hint,
  r.request_id, r.fault, r.actor, r.request_body, r.response_body, r.not_kept
from requests r
where r.tenant = sqlc.arg(tenant)
  and (r.kind not in ('succeeded', 'guest_succeeded') or sqlc.arg(succeeded)::boolean)
  and (r.status = sqlc.arg(status)::integer or sqlc.arg(status)::integer = 0)
  and (r.error = sqlc.arg(error)::text or sqlc.arg(error)::text = '')
  and starts_with(r.path, sqlc.arg(path)::text)
  and not (sqlc.arg(of_apis)::boolean and starts_with(r.path, '/console/')) and r.id < sqlc.arg(before)::uuid
order by r.tenant desc, r.id desc limit sqlc.arg(most);

-- name: CountRefused :one
-- In the tenant scope. Counts the requests to the APIs since a time that were refused or had no answer.
select count(*)::integer from requests r
where r.tenant = sqlc.arg(tenant) and r.kind not in ('succeeded', 'guest_succeeded')
  and r.received_at > sqlc.arg(since)
  and not starts_with(r.path, '/console/');

-- name: ListNewerRequests :many
-- Has the columns of ListRequests. Returns the requests after an id, oldest first.
select r.id, r.kind, r.received_at, r.method, r.path, r.query, r.status, r.error, r.hint,
  r.request_id, r.fault, r.actor, r.request_body, r.response_body, r.not_kept
from requests r
where r.tenant = sqlc.arg(tenant)
  and (r.kind not in ('succeeded', 'guest_succeeded') or sqlc.arg(succeeded)::boolean)
  and (r.status = sqlc.arg(status)::integer or sqlc.arg(status)::integer = 0)
  and (r.error = sqlc.arg(error)::text or sqlc.arg(error)::text = '')
  and starts_with(r.path, sqlc.arg(path)::text)
  and not (sqlc.arg(of_apis)::boolean and starts_with(r.path, '/console/')) and r.id > sqlc.arg(after)::uuid
order by r.tenant, r.id limit sqlc.arg(most);

-- name: LogAllRequests :one
-- In the tenant scope. See log_all_requests. Returns false if the sandbox is gone.
select (log_all_requests() is not null)::boolean;

-- name: PurgeRequests :execrows
delete from requests where tenant = sqlc.arg(tenant);
