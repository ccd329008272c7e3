-- +goose Up

-- The fault that disturbs the callback of a request, from the decision on: whoever takes the callback after another worker goes on with it.
alter table native_requests add column fault text;
-- How often the callback was sent in the present attempt, by a fault that duplicates it.
alter table native_requests add column times_sent integer not null default 0;

grant select (times_sent) on native_requests to cauri_tenant;
grant select (fault, times_sent), update (fault, times_sent) on native_requests to cauri_worker;
grant insert (faults) on callback_attempts to cauri_worker;
