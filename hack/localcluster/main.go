// Command localcluster runs Cauri on one machine without containers. It starts a Postgres, a Kubernetes control plane
// (etcd, API server, controller manager) and the roles of the cauri program. These processes continue after the end of
// the command.
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

	"github.com/cauri-dev/cauri/hack/localcluster/image"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/node"
	"github.com/cauri-dev/cauri/hack/localcluster/postgres"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/hack/localcluster/up"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal starts a graceful shutdown. A second signal ends the program at once.
	context.AfterFunc(ctx, stop)

	err := newRootCommand().ExecuteContext(ctx)
	var status process.ExitStatus
	switch {
	case err == nil:
	case errors.As(err, &status):
		os.Exit(int(status))
	default:
		fmt.Fprintf(os.Stderr, "\nerror: %v\n", err)
		os.Exit(1)
	}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "localcluster",
		Short: "Run Cauri on this machine, without containers",
		Long: `localcluster runs everything that Cauri needs as ordinary processes of this machine: Postgres, a Kubernetes control plane
and the roles of the cauri program. It starts no system service and keeps all state in one folder.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		up.NewUpCommand(),
		up.NewDownCommand(),
		up.NewStatusCommand(),
		kube.NewAssetsCommand(),
		postgres.NewCommand(),
		image.NewCommand(),
		image.NewImagesCommand(),
		node.NewCommand(),
		node.NewInitCommand(),
		node.NewInsideCommand(),
	)
	root.AddCommand(postgres.NewTestToolCommands()...)
	return root
}
