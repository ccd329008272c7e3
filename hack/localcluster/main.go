// Command localcluster runs Cauri on one machine without containers: a Postgres, a Kubernetes control plane (etcd, API
// server, controller manager) and the roles of the cauri program, as child processes that outlive the command.
//
// Run it from the root of the checkout; the Makefile does so.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end. From then on a second one ends the program as it would any other.
	context.AfterFunc(ctx, stop)

	err := newRootCommand().ExecuteContext(ctx)
	var status exitStatus
	switch {
	case err == nil:
	case errors.As(err, &status):
		os.Exit(int(status))
	default:
		fmt.Fprintf(os.Stderr, "\nerror: %v\n", err)
		os.Exit(1)
	}
}

// exitStatus is the exit code of a command that was run for the user and that has said itself what was wrong.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "localcluster",
		Short: "Run Cauri on this machine, without containers",
		Long: `localcluster runs all that Cauri needs as ordinary processes of this machine: a Postgres, a Kubernetes control plane
and the roles of the cauri program. Nothing is started as a system service, and all state is in one folder.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newUpCommand(), newDownCommand(), newStatusCommand(), newAssetsCommand(), newPostgresCommand(), newPgBouncerCommand(),
		newImageCommand(), newImagesCommand(), newNodeCommand(), newNodeInitCommand(), newNodeInsideCommand())
	return root
}

// addStateFlag adds the flag that every command about a running set of processes has.
func addStateFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", ".cauri", "the folder that holds logs, certificates, data and what is running")
}
