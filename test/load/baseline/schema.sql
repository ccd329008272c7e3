-- The minimum that a durable payment that conserves money writes: a row with a unique reference for the merchant, a debit of the payer
-- without overdraft, a credit of the merchant, and a row of the outbox.

drop table if exists outbox, payments, payers, merchants cascade;

create table merchants (
  merchant bigint primary key,
  balance  bigint not null check (balance >= 0)
) with (fillfactor = 50);

create table payers (
  payer   bigint primary key,
  balance bigint not null check (balance >= 0)
) with (fillfactor = 50);

create table payments (
  id         bigint generated always as identity primary key,
  merchant   bigint not null,
  reference  text not null,
  payer      bigint not null,
  amount     bigint not null check (amount <> 0), -- below zero: paid to the payer
  status     text not null default 'SUCCESS',
  created_at timestamptz not null default now(),
  unique (merchant, reference)
);

create table outbox (
  id      bigint generated always as identity primary key,
  payment bigint not null,
  payload jsonb not null,
  sent    boolean not null default false,
  due_at  timestamptz not null default now()
);
create index outbox_due on outbox (due_at, id) where not sent;

insert into merchants select n, 1000000000000 from generate_series(1, 10000) n;
insert into payers select n, 1000000000000 from generate_series(1, 100000) n;

-- One payment in one call. It locks the merchant last, because it may be hot.
create or replace function pay(p_merchant bigint, p_reference text, p_payer bigint, p_amount bigint) returns bigint language plpgsql as $$
declare made bigint;
begin
  insert into payments (merchant, reference, payer, amount) values (p_merchant, p_reference, p_payer, p_amount)
    on conflict (merchant, reference) do nothing returning id into made;
  if made is null then -- the same request came before
    select id into strict made from payments where merchant = p_merchant and reference = p_reference;
    return made;
  end if;
  update payers set balance = balance - p_amount where payer = p_payer and balance >= p_amount;
  if not found then
    raise exception 'payer % has less than %', p_payer, p_amount;
  end if;
  insert into outbox (payment, payload) values (made, jsonb_build_object('id', made, 'amount', p_amount));
  update merchants set balance = balance + p_amount where merchant = p_merchant;
  return made;
end $$;

-- One payment to a payer, from a merchant that may be hot and must not become negative.
create or replace function pay_out(p_merchant bigint, p_reference text, p_payer bigint, p_amount bigint) returns bigint language plpgsql as $$
declare made bigint;
begin
  insert into payments (merchant, reference, payer, amount) values (p_merchant, p_reference, p_payer, -p_amount)
    on conflict (merchant, reference) do nothing returning id into made;
  if made is null then
    select id into strict made from payments where merchant = p_merchant and reference = p_reference;
    return made;
  end if;
  update payers set balance = balance + p_amount where payer = p_payer;
  insert into outbox (payment, payload) values (made, jsonb_build_object('id', made, 'amount', -p_amount));
  update merchants set balance = balance - p_amount where merchant = p_merchant and balance >= p_amount;
  if not found then
    raise exception 'merchant % has less than %', p_merchant, p_amount;
  end if;
  return made;
end $$;

-- Many payments to one merchant in one commit. It locks payers in the order of their numbers, so that two batches never deadlock.
create or replace function pay_batch(p_merchant bigint, p_references text[], p_payers bigint[], p_amount bigint) returns integer language plpgsql as $$
declare made integer;
begin
  with new_payments as (
    insert into payments (merchant, reference, payer, amount)
      select p_merchant, r.reference, r.payer, p_amount from unnest(p_references, p_payers) r (reference, payer)
      on conflict (merchant, reference) do nothing returning id, payer, amount
  ), owed as (
    select payer, sum(amount)::bigint as amount from new_payments group by payer
  ), locked as (
    select p.payer, o.amount from payers p join owed o using (payer) order by p.payer for update of p
  ), debited as (
    update payers p set balance = p.balance - l.amount from locked l where l.payer = p.payer
  ), told as (
    insert into outbox (payment, payload) select id, jsonb_build_object('id', id, 'amount', amount) from new_payments
  )
  select count(*) into made from new_payments;
  update merchants set balance = balance + made * p_amount where merchant = p_merchant;
  return made;
end $$;
