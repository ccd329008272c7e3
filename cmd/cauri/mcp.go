package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/cmd/cauri/mcp"
)

// newMCPCommand returns the command that serves the Model Context Protocol.
func newMCPCommand(o cli.Options) *cobra.Command {
	var readOnly, startsDev bool
	var d devOptions
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools of a sandbox to an agent, by the Model Context Protocol",
		Long: `Serve the tools of a sandbox to an agent, by the Model Context Protocol on the standard
input and output. The client of an agent starts this command; docs/agents.md has the
configuration. The sandbox is found as by every command, at the first call and again
when it is not there any more.

With --dev, the command starts a sandbox in this process, as cauri dev does, if the one
of .env.cauri does not answer, and writes .env.cauri. That sandbox ends with the command.`,
	}
	if o.Plugin {
		cmd.Long, _, _ = cutLong(cmd.Long)
	}
	finder := cli.NewFinder(cmd, o)
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "offer only the tools that change nothing")
	cmd.Example = "  kubectl cauri -n team-payments mcp checkout --read-only"
	if !o.Plugin {
		cmd.Example = "  cauri mcp --dev\n  cauri mcp --sandbox=team-payments/checkout --read-only"
		cmd.Flags().BoolVar(&startsDev, "dev", false, "start a sandbox in this process if none is there; port 8080, or a free one")
		d.mcpFlags(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := d.checkMCP(startsDev); err != nil {
			return cli.Usage(err)
		}
		if err := quietLog(cmd); err != nil {
			return err
		}
		options := mcp.Options{
			Version: o.Version, ReadOnly: readOnly,
			Find: func(ctx context.Context) (*cli.Found, error) { return finder.Find(ctx, args) },
		}
		return serveMCP(cmd.Context(), options, d, startsDev)
	}
	return cmd
}

// serveMCP serves the client on the standard input and output. The standard output belongs to the protocol, so that all
// else goes to the standard error.
func serveMCP(ctx context.Context, o mcp.Options, d devOptions, startsDev bool) error {
	out := os.Stdout
	os.Stdout = os.Stderr
	if !startsDev {
		return mcp.New(o).Run(ctx, os.Stdin, out)
	}
	own := newOwnDev(ctx, d)
	o.Start = own.start
	return errors.Join(mcp.New(o).Run(ctx, os.Stdin, out), own.end())
}
