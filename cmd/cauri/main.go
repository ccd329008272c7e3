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
	"golang.org/x/term"
)

// commandVariable names the command where none can be passed, as for the service containers of a pipeline.
const commandVariable = "CAURI_COMMAND"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	root := newRootCommand()
	if command := os.Getenv(commandVariable); command != "" && len(os.Args) == 1 {
		root.SetArgs([]string{command})
	}
	if err := root.ExecuteContext(ctx); err != nil {
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

Every flag can also be set by an environment variable: --listen-address by
CAURI_LISTEN_ADDRESS. The exceptions are DATABASE_URL for --database-url,
DATABASE_READ_URL for --database-read-url, CAURI_URI for --url,
CAURI_WEBHOOK_SECRET for --secret and CAURI_WEBHOOK_SECRET_FILE for --secret-file.
Without any argument, CAURI_COMMAND names the command, such as dev.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := flagsFromEnvironment(cmd); err != nil {
				return err
			}
			return setUpLogging(logFormat, logLevel)
		},
	}
	root.PersistentFlags().StringVar(&logFormat, "log-format", "auto", "text, json, or auto: text on a terminal, json elsewhere")
	root.PersistentFlags().StringVar(&logLevel, "log-level", "info", "debug, info, warn or error")
	root.AddCommand(newControllerCommand(), newAPICommand(), newWorkerCommand(), newMigrateCommand(), newBootstrapCommand(), newKeysCommand(),
		newDevCommand(), newListenCommand(), newTryCommand(), newPurgeRetainedCommand(), newVersionCommand())
	return root
}

func setUpLogging(format, level string) error {
	var at slog.Level
	// On levels below debug, the Kubernetes client logs the Secrets that it sends.
	if err := at.UnmarshalText([]byte(level)); err != nil || at < slog.LevelDebug {
		return fmt.Errorf("--log-level=%s: write debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: at}
	if format == "auto" {
		format = formatFor(os.Stderr)
	}
	switch format {
	case "text":
		slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, options)))
	case "json":
		slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, options)))
	default:
		return fmt.Errorf("--log-format=%s: write text, json or auto", format)
	}
	return nil
}

// formatFor is text on a terminal, and json for log collectors.
func formatFor(out *os.File) string {
	if term.IsTerminal(int(out.Fd())) {
		return "text"
	}
	return "json"
}
