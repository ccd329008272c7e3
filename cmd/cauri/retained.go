package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

type retainedOptions struct {
	databaseURL string
	olderThan   time.Duration
	dryRun      bool
	output      cli.Output
}

// purged is a retained sandbox in output for programs.
type purged struct {
	Organization string `json:"organization"`
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	RetainedAt   string `json:"retainedAt"`
	Removed      bool   `json:"removed"` // false with --dry-run
}

func newPurgeRetainedCommand() *cobra.Command {
	var o retainedOptions
	cmd := &cobra.Command{
		Use:   "purge-retained",
		Short: "Remove the data of deleted sandboxes that deletionPolicy: Retain kept",
		Long: `Remove the data of deleted sandboxes that deletionPolicy: Retain kept.

The command lists the sandboxes that were deleted longer ago than --older-than, and
removes all their data. It never touches a sandbox whose resource exists.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return purgeRetained(cmd.Context(), cmd.OutOrStdout(), o) },
	}
	databaseURL(cmd, &o.databaseURL)
	cmd.Flags().DurationVar(&o.olderThan, "older-than", 0, "minimum time since a sandbox was deleted, for example 720h; required")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "list what would be removed, and remove nothing")
	o.output.Add(cmd)
	return cmd
}

func purgeRetained(ctx context.Context, out io.Writer, o retainedOptions) (err error) {
	if err := cmp.Or(o.output.Check(), requireDatabaseURL(o.databaseURL)); err != nil {
		return err
	}
	if o.olderThan <= 0 {
		return cli.Usage(errors.New("--older-than is missing: write the minimum time since the deletion, for example --older-than=720h"))
	}
	db, err := postgres.Open(o.databaseURL, postgres.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	configured := sandboxes.New(db, sandboxes.Options{})
	retained, err := configured.RetainedSandboxes(ctx, o.olderThan)
	if err != nil {
		return err
	}
	done := "removed"
	if o.dryRun {
		done = "would be removed"
	}
	table, names, all := out, []string{}, []purged{}
	if !o.output.People() {
		table = io.Discard
		defer func() { err = errors.Join(err, cli.PrintList(&o.output, out, all, names, nil)) }()
	}
	for _, sandbox := range retained {
		if !o.dryRun {
			if err := deleteWhole(ctx, configured, sandbox.UID); err != nil {
				return err
			}
		}
		retainedAt := cli.MachineTime(sandbox.RetainedAt.Truncate(time.Second))
		one := purged{sandbox.OrganizationID, sandbox.Namespace, sandbox.Name, retainedAt, !o.dryRun}
		all, names = append(all, one), append(names, one.Namespace+"/"+one.Name)
		cli.Fprintf(table, "%s %s/%s, retained at %s: %s\n", one.Organization, one.Namespace, one.Name, one.RetainedAt, done)
	}
	cli.Fprintf(table, "%s %s\n", english.Plural(len(retained), "retained sandbox", "retained sandboxes"), done)
	return nil
}

// deleteWhole calls DeleteSandbox until all rows of a sandbox are deleted. A call ends after some
// seconds, even if rows are left.
func deleteWhole(ctx context.Context, db interface {
	DeleteSandbox(ctx context.Context, sandboxUID string) error
}, uid string) error {
	for {
		if err := db.DeleteSandbox(ctx, uid); !errors.Is(err, sandboxes.ErrDeletionUnfinished) {
			return err
		}
	}
}
