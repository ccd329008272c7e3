-- +goose Up

-- Which generation of its resource a row was written for. What a controller has read before that does not change it any more.
alter table organizations add column generation bigint not null default 0; -- 0: written by a release that did not keep it
alter table sims add column generation bigint not null default 0;

grant insert (generation), update (generation) on organizations to cauri_controller;
grant update (generation) on sims to cauri_controller;

-- +goose Down
alter table sims drop column generation;
alter table organizations drop column generation;
