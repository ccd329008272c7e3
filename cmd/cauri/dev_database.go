package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/localpostgres"
)

// devDatabase is the database of `cauri dev`.
type devDatabase struct {
	url    string
	home   *localpostgres.Home   // nil: the user named the database
	server *localpostgres.Server // nil: the user named the database
}

// databaseAdvice is the advice for the user if no Postgres can be started.
const databaseAdvice = "install Postgres 15 or newer (its server programs), or name a database: CAURI_DATABASE_URL=postgres://..."

// openDevDatabase returns the database that the user named, or starts a Postgres.
func openDevDatabase(ctx context.Context, o devOptions, say func(string, ...any)) (*devDatabase, error) {
	if o.databaseURL != "" {
		return &devDatabase{url: o.databaseURL}, nil
	}
	home, err := openHome(ctx, o.data)
	if err != nil {
		return nil, err
	}
	say("Starting Postgres")
	source := localpostgres.Source{URL: o.postgresURL, Say: say}
	server, err := localpostgres.Start(ctx, localpostgres.Options{Home: home, Programs: source.Programs})
	if err != nil {
		err = errors.Join(err, home.Close())
		if errors.Is(err, localpostgres.ErrNoPrograms) {
			err = fmt.Errorf("%w: %s", err, databaseAdvice)
		}
		return nil, err
	}
	return &devDatabase{url: server.URL(), home: home, server: server}, nil
}

func openHome(ctx context.Context, folder string) (*localpostgres.Home, error) {
	if folder == "" {
		return localpostgres.TemporaryHome(ctx)
	}
	home, err := localpostgres.KeptHome(folder)
	if errors.Is(err, localpostgres.ErrLocked) {
		return nil, cli.Refused(fmt.Errorf("another `cauri dev` uses --data=%s: stop it, or choose another folder", folder))
	}
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--data: %w", err))
	}
	return home, nil
}

// ended returns a channel that is closed if the Postgres that this process started ends unexpectedly.
func (d *devDatabase) ended() <-chan struct{} {
	if d.server == nil {
		return nil
	}
	return d.server.Ended()
}

// close stops the Postgres that this process started. If kept is false, it does so immediately, without a clean
// shutdown.
func (d *devDatabase) close(kept bool) error {
	if d.server == nil {
		return nil
	}
	var within time.Duration
	if kept {
		within = 500 * time.Millisecond
	}
	return errors.Join(d.server.Stop(within), d.home.Close())
}
