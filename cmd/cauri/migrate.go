package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/textfile"
)

// databasePoll is the pause between two attempts to reach the database.
const databasePoll = time.Second

type migrateOptions struct {
	databaseURL   string
	wait          time.Duration
	userPasswords string
	roles         string
}

func newMigrateCommand() *cobra.Command {
	var o migrateOptions
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Update the database schema",
		Long: `Update the database schema to the one of this program.

It is safe to run at any time, and from several places at once: a lock lets one
migrate at a time. The previous release continues to work on the new schema. An
older program changes nothing.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runMigrate(cmd.Context(), o) },
	}
	databaseURL(cmd, &o.databaseURL)
	cmd.Flags().DurationVar(&o.wait, "wait", 0, "how long to wait for a database that does not answer; 0 does not wait")
	cmd.Flags().StringVar(&o.userPasswords, "user-passwords", "",
		"folder with the files api-password, worker-password and controller-password: creates the users cauri_api_user, "+
			"cauri_worker_user and cauri_controller_user with these passwords, or those of the names of --roles")
	cmd.Flags().StringVar(&o.roles, "roles", "",
		"how the names of the database's roles begin, when their tables are created; empty: cauri in a database of this name, "+
			"cauri_NAME in another, because roles belong to the whole server")
	return cmd
}

func runMigrate(ctx context.Context, o migrateOptions) error {
	if err := requireDatabaseURL(o.databaseURL); err != nil {
		return err
	}
	users, err := readUsers(o.userPasswords)
	if err != nil {
		return err
	}
	waits := retry{within: o.wait, interval: databasePoll, message: "waiting for the database", transient: func(err error) bool {
		return errors.Is(err, postgres.ErrUnavailable)
	}}
	if err := waits.run(ctx, func() error { return postgres.MigrateAs(ctx, o.databaseURL, o.roles) }); err != nil {
		return err
	}
	slog.Info("the database schema is up to date", "version", postgres.NewestSchema())
	if len(users) == 0 {
		return nil
	}
	if err := postgres.EnsureUsers(ctx, o.databaseURL, users); err != nil {
		return err
	}
	slog.Info("the database users of the processes have their passwords")
	return nil
}

// readUsers returns the database users of the processes, with passwords from the files of a folder. It returns none for
// an empty folder name.
func readUsers(folder string) ([]postgres.User, error) {
	if folder == "" {
		return nil, nil
	}
	var users []postgres.User
	for _, process := range []string{"api", "worker", "controller"} {
		password, err := textfile.Read(filepath.Join(folder, process+"-password"))
		if err != nil {
			return nil, fmt.Errorf("--user-passwords: %w", err)
		}
		users = append(users, postgres.User{Process: process, Password: strings.TrimRight(string(password), "\r\n")})
	}
	return users, nil
}
