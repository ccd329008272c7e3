// Command images builds Cauri's image with ko, and the files of a release. The image contains only one static program.
//
// Run it from the root of the checkout, as the Makefile does.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newRootCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "image",
		Short:         "Make, compare and publish Cauri's image and its releases",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newBuildCommand(), newCompareCommand(), newReleaseCommand(), newPublishCommand())
	return root
}
