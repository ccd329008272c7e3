package up

import (
	"context"
	"fmt"

	"github.com/cauri-dev/cauri/hack/localcluster/postgres"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

func (u *up) startPostgres(ctx context.Context) error {
	u.databaseURL = u.options.databaseURL
	if !u.ownPostgres() {
		return nil
	}
	known, err := postgres.EnsureState(u.state)
	if err != nil {
		return err
	}
	s, err := u.preparePostgres(ctx, known)
	if err != nil {
		return err
	}
	if err := u.supervisor.Ensure(ctx, s.Component()); err != nil {
		return err
	}
	u.postgres = &s
	u.databaseURL = s.URL(postgres.OwnerRole, known.OwnerPassword, postgres.OwnerDatabase)
	return postgres.EnsureOwner(ctx, s.AdminURL(), known.OwnerPassword)
}

// preparePostgres finds or installs the programs and creates the data folder.
func (u *up) preparePostgres(ctx context.Context, known postgres.State) (postgres.Server, error) {
	major, err := postgres.DataMajor(known.Data())
	if err != nil {
		return postgres.Server{}, err
	}
	programs, err := postgres.Require(ctx, u.out, major)
	if err != nil {
		return postgres.Server{}, err
	}
	as, err := postgres.FindAccount() // after the installation, which may have created the user
	if err != nil {
		return postgres.Server{}, err
	}
	if err := postgres.MakeHome(u.state, as); err != nil {
		return postgres.Server{}, err
	}
	s := postgres.Server{
		Programs: programs,
		Account:  as,
		Data:     known.Data(),
		Password: known.SuperuserPassword,
		Port:     u.ports[process.PostgresName],
	}
	if major == 0 {
		step := u.supervisor.Progress.Begin("new database")
		if err := s.Initialise(ctx); err != nil {
			step.Failed()
			return postgres.Server{}, err
		}
		step.Done(fmt.Sprintf("Postgres %d", programs.Major))
		return s, nil
	}
	running, err := u.state.Process(process.PostgresName)
	if err != nil || running.Running() {
		return s, err
	}
	return s, s.RecoverFromKill(ctx)
}
