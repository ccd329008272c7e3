{{/* Parts of several statements that record a transaction. See queries.go. */ -}}

{{/* Whether a sandbox has events of this type delivered, and its quota, unless the reference is taken. The
version check, or what replaces it, follows. */ -}}
{{define "sandbox"}}select
    (o.webhook_url is not null and '{{.}}' = any(o.webhook_types))::boolean as deliver,
    o.monthly_quota as quota
  from organizations o
  where o.tenant = sqlc.arg(tenant)
    and not exists (select from transactions_by_reference x
      where x.reference_key = sqlc.arg(tenant)::bigint::text || ' ' || sqlc.arg(reference)::text)
{{- end}}

{{/* The quota gate: counts a transaction against the quota, if there is one. It returns no row if there is no
quota, or if the quota is used up. The argument names the parts that must have a row. */ -}}
{{define "counted"}}counted as (
  insert into quota_usage as q (tenant, month, used)
  select sqlc.arg(tenant), date_trunc('month', {{recordingTime}} at time zone 'utc')::date, 1 from {{.}}
  where sandbox.quota is not null
  on conflict (tenant, month) do update set used = q.used + 1 where q.used < (select quota from sandbox)
  returning 1
){{end}}

{{define "within quota"}}(sandbox.quota is null or exists (select from counted)){{end}}

{{/* The columns that a request decides, and those that its outcome decides. */ -}}
{{define "request columns"}}tenant, id, type, {{requestColumns}}{{end}}
{{define "outcome columns"}}status, scenario, commission, net_amount, latency_ms, sim_id, completed_at,
    merchant_delta, sim_delta, merchant_balance_after, sim_balance_after, merchant_number, sim_number{{end}}

{{/* The values of the request columns in a statement for one request of this type. */ -}}
{{define "request"}}sqlc.arg(tenant), {{recordingID}}, '{{.}}', {{requestValues}}{{end}}

{{/* The event of a statement for one request. The argument is a from clause: its d says whether and when the
event is due. */ -}}
{{define "event"}}event as (
  insert into events (tenant, id, state, due_at, created_at)
  select sqlc.arg(tenant), {{recordingID}},
    case when d.deliver then 'queued' else 'recorded' end::event_state,
    case when d.deliver then {{recordingTime}} + make_interval(secs => d.after_ms / 1000) end,
    {{recordingTime}}
  {{.}}
){{end}}

{{/* What both statements of the group commit are given: arrays with an element for each request. */ -}}
{{define "requests"}}select generate_subscripts(sqlc.arg(ids)::uuid[], 1) as n,
    unnest(sqlc.arg(ids)::uuid[]) as id,
    unnest(sqlc.arg(config_versions)::bigint[]) as config_version,
    {{requestArrays}}{{end}}

{{/* The requests that are accepted, of those in the part asked: version check, references, quota. */ -}}
{{define "accepted of several"}}sandbox as materialized (
  select o.version, (o.webhook_url is not null and '{{.}}' = any(o.webhook_types))::boolean as deliver,
    o.monthly_quota as quota
  from organizations o where o.tenant = sqlc.arg(tenant)
), fresh as materialized (
  select distinct on (asked.reference) asked.*, sandbox.deliver
  from asked join sandbox on sandbox.version = asked.config_version
  where not exists (select from transactions_by_reference x
    where x.reference_key = sqlc.arg(tenant)::bigint::text || ' ' || asked.reference)
  order by asked.reference, asked.n
), counted as (
  insert into quota_usage as q (tenant, month, used)
  select sqlc.arg(tenant), date_trunc('month', now() at time zone 'utc')::date, (select count(*) from fresh)
  from sandbox where (select count(*) from fresh) between 1 and sandbox.quota
  on conflict (tenant, month) do update set used = q.used + excluded.used
  where q.used + excluded.used <= (select quota from sandbox)
  returning 1
), accepted as materialized (
  select fresh.* from fresh, sandbox where {{template "within quota"}}
){{end}}

{{/* The values of the request columns for the requests in d. */ -}}
{{define "each request"}}sqlc.arg(tenant), d.id, '{{.}}', {{arrayValues}}{{end}}

{{/* The values of what only an operator's own API knows of a request. */ -}}
{{define "native request"}}sqlc.arg(operation), sqlc.arg(sent), sqlc.narg(callback_urls)::text[],
    sqlc.narg(callback_kinds)::text[], sqlc.narg(callback_outcomes)::text[]{{end}}
