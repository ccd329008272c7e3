package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/httpserver"
)

// serveName is the name of the command whose subcommands run the processes of the service.
const serveName = "serve"

func newServeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   serveName + " PROCESS",
		Short: "Run the api, the worker or the controller",
		Long: `Run one of the three processes of the service: the api, the worker or the controller. They
share a database, and each may run on another machine.`,
		RunE: func(*cobra.Command, []string) error {
			return cli.Usage(errors.New("say which process: `cauri serve api`, `cauri serve worker` or `cauri serve controller`"))
		},
	}
	cmd.AddCommand(newAPICommand(), newWorkerCommand(), newControllerCommand())
	return cmd
}

// bind listens on an address. name is for messages.
func bind(name, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for the %s: %w", name, err)
	}
	slog.Info("listening", "for", name, "address", listener.Addr().String())
	return listener, nil
}

// serve serves HTTP until ctx ends.
func serve(ctx context.Context, name string, listener net.Listener, handler http.Handler) error {
	if err := httpserver.New(handler, httpserver.Default).Serve(ctx, listener); err != nil {
		return fmt.Errorf("serving the %s: %w", name, err)
	}
	return nil
}

// serveAt serves HTTP at an address until ctx ends. name is for messages.
func serveAt(ctx context.Context, name, address string, handler http.Handler) error {
	listener, err := bind(name, address)
	if err != nil {
		return err
	}
	return serve(ctx, name, listener, handler)
}
