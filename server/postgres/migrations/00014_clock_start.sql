-- +goose Up

-- Where a manual clock began, to tell a start that waits for the next reset. Null: it began as a real one.
alter table clocks add column began_at timestamptz;

-- Those that are there are taken for having begun as their resource says.
update clocks c set began_at = coalesce(o.clock_start, c.stands_at) from organizations o where o.tenant = c.tenant and o.clock_mode = 'Manual';

-- +goose StatementBegin
create function note_beginning() returns trigger language plpgsql as $$
begin
  new.began_at := new.stands_at;
  return new;
end $$;
-- +goose StatementEnd
create trigger begins before insert on clocks for each row execute function note_beginning();

grant select (began_at) on clocks to cauri_controller;

-- The worker keeps what it needs, by columns: it does not read the new one.
-- +goose StatementBegin
do $$
begin
  revoke select on clocks from cauri_worker;
  grant select (tenant, stands_at, ahead, last_stamp, target, advance, fence, leased_until, settled, expired, delivered, failed_attempts, ended)
    on clocks to cauri_worker;
end $$;
-- +goose StatementEnd

-- How much of its quota a sandbox has used is a part of its status.
grant select (month, used) on quota_usage to cauri_controller;
