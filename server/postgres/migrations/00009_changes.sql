-- +goose Up

-- What changed in a sandbox while somebody listened, for GET /v1/stream: only which row it was, since the stream tells rows as they stand when
-- it reads them. Readers go by (xact, seq), as far as no database transaction before it runs any more, so that none of them passes one
-- that commits late. A row of kind start says that nothing is known of the time before it.
create table changes (
  tenant     bigint not null,
  xact       bigint not null default pg_current_xact_id()::text::bigint, -- the database transaction that made the change
  seq        bigint generated always as identity,
  kind       text not null, -- start, booking, transaction, event, attempt, callback, callback_attempt, clock, float or sim
  id         uuid, -- of the transaction, which is that of its event and its callback too; or of the SIM
  attempt    integer,
  currency   text, -- of the float
  created_at timestamptz not null default now(),
  primary key (tenant, xact, seq)
);
-- It is written at one end and removed at the other.
alter table changes set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

-- Until then changes are noted. Not watched_until of 00007: whoever follows the changes does not ask for all requests to be kept.
alter table organizations add column followed_until timestamptz;
-- Whether anybody listens at all is looked up with this.
create index organizations_followed on organizations (followed_until) where followed_until is not null;

-- Notes a change, if somebody listens. Who knows that nobody does sets cauri.watched to no, and this is not called: see
-- server/postgres/scope.go. Whatever looks at the mark has a transaction id before it looks: this is how a reader knows when all who have
-- not seen the mark are done.
-- +goose StatementBegin
create function note_change() returns trigger language plpgsql security definer as $$
declare
  kind text := tg_argv[0];
begin
  if current_setting('cauri.watched', true) = 'no' then
    return null; -- a row before this one of the same statement found it
  end if;
  if not exists (select from organizations where followed_until > now()) then
    perform set_config('cauri.watched', 'no', true);
    return null;
  end if;
  if not exists (select from organizations where tenant = new.tenant and followed_until > now()) then
    return null;
  end if;
  if kind = 'adjustment' then
    kind := case when new.currency is not null then 'float' else 'sim' end;
  elsif kind = 'booking' and tg_op = 'UPDATE' then
    if old.status = new.status then
      kind := 'transaction'; -- it neither ended nor moved a balance
    end if;
  end if;
  case kind
    when 'attempt' then
      insert into changes (tenant, kind, id, attempt) values (new.tenant, kind, new.event_id, new.attempt);
    when 'callback_attempt' then
      insert into changes (tenant, kind, id, attempt) values (new.tenant, kind, new.id, new.attempts);
    when 'float' then
      insert into changes (tenant, kind, currency) values (new.tenant, kind, new.currency);
    when 'sim' then
      insert into changes (tenant, kind, id) values (new.tenant, kind, new.sim_id);
    when 'clock' then
      insert into changes (tenant, kind) values (new.tenant, kind);
    else
      insert into changes (tenant, kind, id) values (new.tenant, kind, new.id);
  end case;
  return null;
end $$;
-- +goose StatementEnd

-- Triggers, so that nothing is missed whoever writes. Leases and times that nobody is shown are no changes. Each trigger on a table that a
-- payment writes costs it some microseconds, so there is one: a booking stands for the transaction, its event, and the balances that it moved.
create trigger noted_when_made after insert on transactions for each row
  when (current_setting('cauri.watched', true) is distinct from 'no')
  execute function note_change('booking');
create trigger noted_when_changed after update on transactions for each row
  when (current_setting('cauri.watched', true) is distinct from 'no'
    and (old.status <> new.status or old.refunded <> new.refunded or old.faults is distinct from new.faults
      or old.provider_tx_id is distinct from new.provider_tx_id or old.native_id is distinct from new.native_id))
  execute function note_change('booking');

create trigger noted_when_changed after update on events for each row
  when (current_setting('cauri.watched', true) is distinct from 'no'
    and (old.state <> new.state or old.attempts <> new.attempts or old.resent_after is distinct from new.resent_after
      or old.due_at is distinct from new.due_at and not old.leased and not new.leased))
  execute function note_change('event');

create trigger noted_when_made after insert on delivery_attempts for each row
  when (current_setting('cauri.watched', true) is distinct from 'no')
  execute function note_change('attempt');

create trigger noted_when_made after insert on native_requests for each row
  when (current_setting('cauri.watched', true) is distinct from 'no' and new.state is not null)
  execute function note_change('callback');
create trigger noted_when_changed after update on native_requests for each row
  when (current_setting('cauri.watched', true) is distinct from 'no'
    and (old.state is distinct from new.state or old.attempts <> new.attempts))
  execute function note_change('callback');
create trigger noted_when_tried after update on native_requests for each row
  when (current_setting('cauri.watched', true) is distinct from 'no' and old.attempts <> new.attempts)
  execute function note_change('callback_attempt');

create trigger noted_when_made after insert on clocks for each row
  when (current_setting('cauri.watched', true) is distinct from 'no')
  execute function note_change('clock');
create trigger noted_when_changed after update on clocks for each row
  when (current_setting('cauri.watched', true) is distinct from 'no'
    and (old.stands_at is distinct from new.stands_at or old.ahead <> new.ahead or old.target is distinct from new.target))
  execute function note_change('clock');

create trigger noted_when_made after insert on adjustments for each row
  when (current_setting('cauri.watched', true) is distinct from 'no')
  execute function note_change('adjustment');

-- As watch_sandbox of 00007, with the row that says from when on changes are known: where the mark had ended, or has less than a minute
-- left, which is longer than any statement that extends it takes; and for a tenant that has no changes yet.
-- +goose StatementBegin
create function follow_sandbox() returns timestamptz language plpgsql security definer as $$
declare
  marked timestamptz;
begin
  select followed_until into marked from organizations where tenant = current_tenant() and retained_at is null for update;
  if not found then
    return null;
  end if;
  if marked is null or marked < clock_timestamp() + interval '1 minute' or not exists (select from changes where tenant = current_tenant()) then
    insert into changes (tenant, kind) values (current_tenant(), 'start');
  end if;
  if marked > now() + interval '5 minutes' then
    return marked;
  end if;
  marked := now() + interval '10 minutes';
  update config_version set version = version + 1;
  update organizations set followed_until = marked, version = (select version from config_version) where tenant = current_tenant();
  return marked;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
declare p text;
begin
  execute format('alter function note_change() set search_path = %I, pg_temp', current_schema());
  execute format('alter function follow_sandbox() set search_path = %I, pg_temp', current_schema());
  revoke execute on function note_change() from public;
  revoke execute on function follow_sandbox() from public;
  grant execute on function follow_sandbox() to cauri_tenant;

  alter table changes enable row level security;
  create policy tenant on changes to cauri_tenant using (tenant = current_tenant());
  create policy worker_reads on changes for select to cauri_worker using (true);
  create policy worker_deletes on changes for delete to cauri_worker using (true); -- old ones
  create policy controller_reads on changes for select to cauri_controller using (true);
  create policy controller_deletes on changes for delete to cauri_controller using (tenant in (select r.tenant from retired_tenants r));
end $$;
-- +goose StatementEnd

grant select on changes to cauri_tenant;
grant select (followed_until) on organizations to cauri_api;
grant select (created_at, seq, tenant, xact), delete on changes to cauri_worker;
grant select (seq, tenant, xact), delete on changes to cauri_controller;
