-- +goose Up

-- Attempts to hand a collection to its operator, each written down before its request leaves: that the operator has the payment already is
-- one's own doing only after an earlier one. Null is none.
alter table transactions add column forward_attempts integer;
grant update (forward_attempts) on transactions to cauri_worker;

-- +goose Down
alter table transactions drop column forward_attempts;
