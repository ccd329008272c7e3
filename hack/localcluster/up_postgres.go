package main

import (
	"context"
	"fmt"
)

func (u *up) startPostgres(ctx context.Context) error {
	u.databaseURL = u.options.databaseURL
	if !u.ownPostgres() {
		return nil
	}
	known, err := u.state.ensurePostgresState()
	if err != nil {
		return err
	}
	s, err := u.preparePostgres(ctx, known)
	if err != nil {
		return err
	}
	if err := u.supervisor.ensure(ctx, s.component()); err != nil {
		return err
	}
	u.postgres = &s
	u.databaseURL = s.url(ownerRole, known.OwnerPassword, ownerDatabase)
	return ensureOwner(ctx, s.adminURL(), known.OwnerPassword)
}

// preparePostgres finds or installs the programs and makes the data folder.
func (u *up) preparePostgres(ctx context.Context, known postgresState) (server, error) {
	major, err := dataMajor(known.data())
	if err != nil {
		return server{}, err
	}
	programs, err := requirePostgres(ctx, u.out, major)
	if err != nil {
		return server{}, err
	}
	as, err := postgresAccount() // asked now: an installation may have made it
	if err != nil {
		return server{}, err
	}
	if err := u.state.makePostgresHome(as); err != nil {
		return server{}, err
	}
	s := server{programs: programs, account: as, data: known.data(), password: known.SuperuserPassword, port: u.ports[postgresName]}
	if major == 0 {
		step := u.supervisor.progress.begin("new database")
		if err := s.initialise(ctx); err != nil {
			step.failed()
			return server{}, err
		}
		step.done(fmt.Sprintf("Postgres %d", programs.major))
		return s, nil
	}
	running, err := u.state.process(postgresName)
	if err != nil || running.running() {
		return s, err
	}
	return s, s.recoverFromKill(ctx)
}
