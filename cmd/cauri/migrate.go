package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/server/store"
)

func newMigrateCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema up to date",
		Long: `Bring the database's schema up to date.

Safe to run at any time and from several places at once: one at a time works,
under a lock.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireDatabaseURL(url); err != nil {
				return err
			}
			if err := store.Migrate(cmd.Context(), url); err != nil {
				return err
			}
			slog.Info("the database's schema is up to date")
			return nil
		},
	}
	databaseURL(cmd, &url)
	return cmd
}
