package main

import (
	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

func newDevCommand() *cobra.Command {
	var o devOptions
	cmd := &cobra.Command{
		Use:   devName,
		Short: "Run everything in one process on this machine, without Kubernetes",
		Long: `Run everything in one process on this machine, without Kubernetes.

The command reads the same YAML as kubectl apply, and starts a Postgres if none is
given. It prints the address and the key of each sandbox, and the addresses and
credentials of the operators' own APIs. Then it prints a line for each transaction,
event and attempt to deliver an event, like cauri tail. Press s to see the state of the sandboxes, o to open the console in a
browser, and Ctrl-C to stop.

Without --file there is a sample: every operator in each of its countries, and two
phones that approve, in Côte d'Ivoire and in Rwanda. With --country, your own country
comes first, and the phone is one of it. --print-sample prints the sample, to edit it.

The database is --database-url (CAURI_DATABASE_URL, never DATABASE_URL), else a
Postgres that the command starts and removes again; --data keeps its data.`,
		Example: `  cauri dev --country=CI
  cauri dev --print-sample > sandbox.yaml
  cauri dev -f sandbox.yaml --watch --webhook-url=http://localhost:3000/webhooks --env-file=.env.cauri`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := quietLog(cmd); err != nil {
				return err
			}
			if o.printSample {
				return o.writeSample(cmd.OutOrStdout())
			}
			return runDev(cmd.Context(), o, newDevConsole(cmd.OutOrStdout(), cmd.InOrStdin()))
		},
	}
	o.flags(cmd)
	return cmd
}

// quietLog sets the log level to warning, unless the user sets another level.
func quietLog(cmd *cobra.Command) error {
	format, level := cmd.Flag("log-format").Value.String(), cmd.Flag("log-level")
	if format == "auto" {
		format = "text"
	}
	if level.Changed {
		return setUpLogging(format, level.Value.String())
	}
	return setUpLogging(format, "warn")
}
