package main

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/server/httpapi"
	"github.com/cauri-dev/cauri/server/store"
)

// configPoll is how often the api looks for a change of configuration: a revoked key works no longer than this.
const configPoll = 250 * time.Millisecond

type apiOptions struct {
	databaseURL string
	maxConns    int
	listen      string
}

func newAPICommand() *cobra.Command {
	var o apiOptions
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Serve the /v1 API to merchants",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runAPI(cmd, o) },
	}
	databaseURL(cmd, &o.databaseURL)
	cmd.Flags().IntVar(&o.maxConns, "database-max-conns", 0, "connections to the database at most; 0 means four a core")
	cmd.Flags().StringVar(&o.listen, "listen-address", ":8080", "address to serve the API on")
	return cmd
}

func runAPI(cmd *cobra.Command, o apiOptions) error {
	if err := requireDatabaseURL(o.databaseURL); err != nil {
		return err
	}
	ctx := cmd.Context()
	db, err := store.Open(o.databaseURL, store.Options{MaxConns: o.maxConns})
	if err != nil {
		return err
	}
	defer db.Close()
	directory := store.NewDirectory(db)
	go directory.Run(ctx, configPoll)
	return serve(ctx, "API", o.listen, httpapi.New(httpapi.Options{
		Store: db, Directory: directory, Version: programVersion(), Now: time.Now, Draw: mathrand.Int64N,
		Random: rand.Reader, Draining: ctx.Done(),
	}))
}
