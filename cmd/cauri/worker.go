package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/server/operators/sim"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

type workerOptions struct {
	databaseURL   string
	maxConns      int
	keyFile       string
	baseURL       string
	health        string
	concurrency   int
	allowLoopback bool
	deny          []string
}

func newWorkerCommand() *cobra.Command {
	var o workerOptions
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Settle payments, forward them to operators, and deliver webhooks",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runWorker(cmd.Context(), o) },
	}
	databaseURL(cmd, &o.databaseURL)
	flags := cmd.Flags()
	flags.IntVar(&o.maxConns, "database-max-conns", 0, "connections to the database at most; 0 means four a core")
	flags.StringVar(&o.keyFile, "encryption-key-file", "", "file with the keys that stored secrets are encrypted by, one a line in base64")
	flags.StringVar(&o.baseURL, "base-url", "http://localhost:8080", "URL at which the API is served, with the simulated operators below it")
	flags.StringVar(&o.health, "health-address", ":8081", "address to serve /healthz and /readyz on")
	flags.IntVar(&o.concurrency, "webhook-concurrency", 64, "webhook deliveries at one time")
	flags.BoolVar(&o.allowLoopback, "allow-loopback-webhooks", false, "let webhooks, and requests to operators that stores name, go to this machine itself; for development only")
	flags.StringSliceVar(&o.deny, "webhook-deny", nil, "networks (10.0.0.0/8) and addresses with or without a port (10.0.0.1:5432) that webhooks, and requests to operators that stores name, may not go to")
	return cmd
}

func runWorker(ctx context.Context, o workerOptions) error {
	if err := requireDatabaseURL(o.databaseURL); err != nil {
		return err
	}
	keys, err := loadKeyRing(o.keyFile)
	if err != nil {
		return err
	}
	guard := webhooks.Guard{AllowLoopback: o.allowLoopback}
	for _, text := range o.deny {
		rule, err := webhooks.ParseDenyRule(text)
		if err != nil {
			return fmt.Errorf("--webhook-deny: %w", err)
		}
		guard.Deny = append(guard.Deny, rule)
	}
	baseURL, err := parseBaseURL(o.baseURL)
	if err != nil {
		return err
	}
	db, err := store.Open(o.databaseURL, store.Options{KeyRing: keys, MaxConns: o.maxConns})
	if err != nil {
		return err
	}
	defer db.Close()
	w := worker.New(worker.Options{
		Store: db, Sender: webhooks.NewSender(guard, programVersion(), time.Now), Log: slog.Default(), Concurrency: o.concurrency,
		Operators: worker.NewOperatorAccess(guard, simulatedOperators(baseURL), time.Now),
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	err = serve(ctx, "worker's health", o.health, healthHandler(db))
	if err != nil && ctx.Err() == nil {
		return err // the health address could not be had; the process ends, and what is due stays due
	}
	select {
	case <-done:
	case <-time.After(shutdownTimeout):
		slog.Warn("deliveries are still on their way; their events will be sent again")
	}
	return nil
}

// simulatedOperators tells where the api serves the operators of a sandbox.
func simulatedOperators(api *url.URL) func(namespace, sandbox string, operator payments.Operator) string {
	return func(namespace, sandbox string, operator payments.Operator) string {
		return sim.BaseURL(api.String(), namespace, sandbox, operator)
	}
}

// healthHandler answers /healthz while the process runs, and /readyz while its database answers too.
func healthHandler(db *store.Store) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		if err := db.Ping(ctx); err != nil {
			http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}
