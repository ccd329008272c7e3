package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
	"github.com/cauri-dev/cauri/server/telemetry"
)

const (
	// shutdownTimeout bounds the time for a process to finish its work after it was told to stop. The grace period of
	// the pod, 30 s, also has to include shutdownDelayLimit.
	shutdownTimeout = 5 * time.Second
	// shutdownDelayLimit is the maximum of --shutdown-delay. An api accepts requests for this delay after it was told
	// to stop.
	shutdownDelayLimit = 15 * time.Second
	// closeTimeout is the part of shutdownTimeout for closing connections and sending the last traces.
	closeTimeout = time.Second
)

// processOptions are the settings that the api and the worker share.
type processOptions struct {
	databaseURL string
	replicaURL  string // URL of a read replica; only for the api
	maxConns    int
	queueWait   time.Duration // maximum wait of requests for the database; 0: no limit
	health      string
	profile     string // address of the profiles; empty: none
	clockOffset time.Duration
	memory      int64 // memory limit of the container in bytes; 0: unknown
}

func (o *processOptions) flags(cmd *cobra.Command) {
	databaseURL(cmd, &o.databaseURL)
	flags := cmd.Flags()
	flags.IntVar(&o.maxConns, "database-max-conns", 0, "maximum number of connections to the database; 0 means four for each CPU core")
	flags.StringVar(&o.health, "health-address", ":8081",
		"address that serves /healthz, /readyz and /metrics; keep it inside the cluster")
	flags.StringVar(&o.profile, "profile-address", "",
		"loopback address, such as 127.0.0.1:6060, that serves profiles of the process (Go's pprof); empty turns them off")
	clockOffset(cmd, &o.clockOffset)
	containerMemory(cmd, &o.memory)
}

// clockOffset declares a flag for tests of clock skew.
func clockOffset(cmd *cobra.Command, offset *time.Duration) {
	const name = "test-clock-offset"
	cmd.Flags().DurationVar(offset, name, 0, "how far the clock of this process is ahead of the machine's; for tests only")
	_ = cmd.Flags().MarkHidden(name) // fails only for an unknown flag
}

// clock returns the clock of a process, which all its parts use.
func clock(offset time.Duration) func() time.Time {
	if offset == 0 {
		return time.Now
	}
	return func() time.Time { return time.Now().Add(offset) }
}

// process is the common part of the api and the worker: the database, metrics, traces, probes, and graceful shutdown.
type process struct {
	role       string
	options    processOptions
	now        func() time.Time
	db         *postgres.DB
	sandboxes  *sandboxes.Registry
	registry   *prometheus.Registry
	worker     *telemetry.Worker // nil in the api
	tracing    *telemetry.Tracing
	ends       time.Duration // time limit of the shutdown
	live       []telemetry.Check
	ready      []telemetry.Check
	work       func(context.Context) error
	background []func(context.Context) // background functions, which end after the work
}

// newProcess returns a process. It opens no connection.
func newProcess(ctx context.Context, role string, o processOptions, keys *secrets.KeyRing) (*process, error) {
	tuneMemory(o.memory)
	tracing, err := telemetry.NewTracing(ctx, role, programVersion())
	if err != nil {
		return nil, err
	}
	p := &process{
		role: role, options: o, now: clock(o.clockOffset), tracing: tracing, registry: telemetry.NewRegistry(role, programVersion()),
		ends: shutdownTimeout,
	}
	p.db, err = postgres.Open(o.databaseURL, postgres.Options{
		ReplicaURL: o.replicaURL, MaxConns: o.maxConns, MaxQueueWait: o.queueWait, Now: p.now, Tracer: tracing.Statements(),
	})
	if err != nil {
		return nil, err
	}
	p.sandboxes = sandboxes.New(p.db, sandboxes.Options{KeyRing: keys})
	p.ready = []telemetry.Check{stillRunning(ctx)}
	p.background = []func(context.Context){p.sandboxes.RunActivity}
	telemetry.RegisterPool(p.registry, p.db.PoolStat)
	return p, nil
}

// stillRunning returns a readiness check that fails after the process was told to stop, so that it gets no new traffic.
func stillRunning(ctx context.Context) telemetry.Check {
	return func(context.Context) error {
		if ctx.Err() != nil {
			return errors.New("the process is stopping")
		}
		return nil
	}
}

func databaseAnswers(db *postgres.DB) telemetry.Check {
	return func(ctx context.Context) error {
		if db.Ping(ctx) != nil { // the error may contain the address and the user of the database
			return errors.New("the database does not answer")
		}
		return nil
	}
}

// serveProbes calls run, and serves probes and metrics until run returns.
func (p *process) serveProbes(ctx context.Context) error {
	listener, err := bind(p.role+"'s probes and metrics", p.options.health)
	if err != nil {
		return err
	}
	stopProfiles, err := serveProfiles(p.options.profile)
	if err != nil {
		_ = listener.Close()
		return err
	}
	defer stopProfiles()
	probing, stopProbes := context.WithCancel(context.WithoutCancel(ctx))
	defer stopProbes()
	failed := make(chan error, 1)
	go func() { failed <- serve(probing, "probes and metrics", listener, p.probes()) }()
	return p.run(ctx, failed)
}

// run runs the work until ctx ends. Then it shuts down: readiness fails, the work finishes what it has started, and the
// database connections are closed. run returns the error of the work, or an error if the work does not finish within
// the time limit. It immediately returns an error that it receives from failed.
func (p *process) run(ctx context.Context, failed <-chan error) error {
	done := make(chan error, 1)
	go func() { done <- p.workWithBackground(ctx) }()
	select {
	case err := <-done: // the work failed, or ended at the same time as ctx
		p.close(context.WithoutCancel(ctx), shutdownTimeout)
		return err
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return p.end(context.WithoutCancel(ctx), done)
}

// workWithBackground runs the work and the background functions. The background functions end after the work, because
// they may record the results of the work.
func (p *process) workWithBackground(ctx context.Context) error {
	until, stop := context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	for _, run := range p.background {
		background.Go(func() { run(until) })
	}
	err := p.work(ctx)
	stop()
	background.Wait()
	return err
}

// end waits for the work, and then calls close.
func (p *process) end(ctx context.Context, done <-chan error) error {
	slog.InfoContext(ctx, "stopping", "within", p.ends)
	begun := time.Now()
	timer := time.NewTimer(p.ends - closeTimeout)
	defer timer.Stop()
	var err error
	select {
	case err = <-done:
	case <-timer.C:
		err = fmt.Errorf("the %s did not finish within %s after it was told to stop; what is due stays due", p.role, p.ends-closeTimeout)
	}
	p.close(ctx, min(shutdownTimeout, p.ends-time.Since(begun)))
	if err == nil {
		slog.InfoContext(ctx, "stopped", "after", time.Since(begun))
	}
	return err
}

// close sends the last traces and closes the database connections. It does not wait for a connection that hangs.
func (p *process) close(ctx context.Context, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		p.db.Close()
	}()
	if err := p.tracing.Close(ctx); err != nil {
		slog.WarnContext(ctx, "cannot send the last traces", "error", err)
	}
	select {
	case <-closed:
	case <-ctx.Done():
	}
}

func (p *process) probes() http.Handler {
	return telemetry.Probes{Live: p.live, Ready: p.ready, Metrics: telemetry.MetricsHandler(p.registry)}.Handler()
}
