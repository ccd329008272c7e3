// Command cauri is every part of Cauri: the controller, the api and the worker, one process each, and the tools around them.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := newRootCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "cauri:", err)
		os.Exit(1)
	}
}

func newRootCommand() *cobra.Command {
	var logFormat, logLevel string
	root := &cobra.Command{
		Use:   "cauri",
		Short: "Mobile-money sandboxes for Kubernetes",
		Long: `Mobile-money sandboxes for Kubernetes.

Every flag can also be given as an environment variable: --listen-address is
CAURI_LISTEN_ADDRESS. --database-url is DATABASE_URL.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := flagsFromEnvironment(cmd); err != nil {
				return err
			}
			return setUpLogging(logFormat, logLevel)
		},
	}
	root.PersistentFlags().StringVar(&logFormat, "log-format", "text", "text or json")
	root.PersistentFlags().StringVar(&logLevel, "log-level", "info", "debug, info, warn or error")
	root.AddCommand(newControllerCommand(), newAPICommand(), newWorkerCommand(), newMigrateCommand(), newListenCommand(),
		newVersionCommand())
	return root
}

func setUpLogging(format, level string) error {
	var at slog.Level
	if err := at.UnmarshalText([]byte(level)); err != nil {
		return fmt.Errorf("--log-level=%s: write debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: at}
	switch format {
	case "text":
		slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, options)))
	case "json":
		slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, options)))
	default:
		return fmt.Errorf("--log-format=%s: write text or json", format)
	}
	return nil
}
