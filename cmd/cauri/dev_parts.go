package main

import (
	"context"
	"log/slog"
	"net"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/controllers/localapi"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/secrets"
)

// dev is api, worker and controller in one process.
type dev struct {
	options   devOptions
	console   *devConsole
	baseURL   *url.URL
	url       string // URL of the database
	state     *devState
	resources *localapi.API
	roots     *devRoots
	api       *apiProcess
	worker    *process
	db        *postgres.DB // the controller's connections
	manager   ctrl.Manager
	stopped   chan error      // receives the result of each part
	running   int             // number of running parts
	judged    map[string]bool // runs of Expectations whose verdict was printed
	written   string          // content of the file with the Expectations
}

// devGuard allows receivers on this machine.
var devGuard = guardFlags{allowLoopback: true}

// open creates all parts. It migrates the database first.
func (d *dev) open(ctx context.Context) (err error) {
	if d.state, err = awaitDevState(ctx, d.url, d.options.wait, d.console.say); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			d.state.close()
		}
	}()
	d.roots.state = d.state
	keys, err := d.state.keyRing(ctx)
	if err != nil {
		return err
	}
	d.console.say("Bringing the tables up to date")
	if err := postgres.Migrate(ctx, d.url); err != nil {
		return err
	}
	settings := processOptions{databaseURL: d.url, maxConns: devConnections}
	forAPI := settings
	forAPI.queueWait = devQueueWait
	hosts, err := d.options.hosts(d.baseURL)
	if err != nil {
		return err
	}
	if d.api, err = newAPI(ctx, apiOptions{
		processOptions: forAPI, console: true, held: httpfront.HeldBounds{Process: 500},
		pinKey: d.state.pinKey, credentialKey: d.state.credentialKey, refusedHost: hosts.Refused, roots: d.roots,
	}); err != nil {
		return err
	}
	if d.worker, err = newWorker(ctx, workerOptions{
		processOptions: settings, concurrency: 64, perSandbox: 64, guardFlags: devGuard,
	}, keys); err != nil {
		return err
	}
	d.api.ends, d.worker.ends = devStopTimeout, devStopTimeout
	debug.SetGCPercent(devGarbagePercent)
	debug.SetMemoryLimit(devMemoryLimit)
	return d.openController(ctx, keys)
}

func (d *dev) openController(ctx context.Context, keys *secrets.KeyRing) (err error) {
	logger := logr.FromSlogHandler(slog.Default().Handler())
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	f := controllerFlags{
		guardFlags: devGuard, databaseURL: d.url, concurrency: 4, statusWritesPerSecond: 50, signingSecret: d.options.webhookSecret,
		operatorRoot:  d.roots.URL,
		callbackHosts: []string{"*"}, // the user of `cauri dev` may send requests to any host anyway
	}
	if d.db, err = f.openDatabase(); err != nil {
		return err
	}
	if d.resources, err = localapi.New(ctx, localapi.Options{State: localapi.InDatabase(d.state.pool), APIKey: d.options.key}); err != nil {
		return err
	}
	options := f.managerOptions()
	options.GracefulShutdownTimeout = new(devStopTimeout)
	if d.manager, err = d.resources.NewManager(options); err != nil {
		return err
	}
	_, err = f.setUp(d.manager, d.db, keys, d.baseURL)
	return err
}

// start starts worker and controller, and waits until all sandboxes are ready.
func (d *dev) start(ctx context.Context, manifests localapi.Manifests) error {
	d.run(func() error { return startWithin(ctx, d.manager.Start, devStopTimeout) })
	d.run(func() error { return d.worker.run(ctx, nil) })
	for _, line := range manifests.Ignored {
		d.console.say("%s", line)
	}
	d.console.say("Applying the resources")
	d.roots.place(manifests.Sandboxes())
	soon, cancel := context.WithTimeout(ctx, devReadyTimeout)
	defer cancel()
	if _, err := d.resources.Apply(soon, manifests); err != nil {
		return err
	}
	if err := d.awaitReady(soon); err != nil { // they refer to what no file has
		return cli.Usage(err)
	}
	return d.api.directory.Refresh(soon)
}

// awaitReady waits until all sandboxes are ready. It returns an error if no status changes for devProgress. In that
// case, a resource needs an object that no file has, such as a Secret.
func (d *dev) awaitReady(ctx context.Context) error {
	for last := ""; ; {
		soon, cancel := context.WithTimeout(ctx, devProgress)
		err := d.resources.WaitReady(soon)
		late := soon.Err() != nil
		cancel()
		if err == nil || !late || ctx.Err() != nil || err.Error() == last && !strings.Contains(last, localapi.NotReconciled) {
			return err
		}
		last = err.Error()
	}
}

// serve starts the api. Clients may have connected to listener before.
func (d *dev) serve(ctx context.Context, listener net.Listener) {
	d.api.serve(ctx, listener)
	d.roots.serve(ctx, d.api.handler)
	d.run(func() error { return d.api.run(ctx, nil) })
}

func (d *dev) run(part func() error) {
	d.running++
	go func() { d.stopped <- part() }()
}

// end stops all parts and waits for them. A part that does not finish in time is no error, because its due work stays
// due.
func (d *dev) end(stop func()) error {
	stop()
	timer := time.NewTimer(devStopTimeout + closeTimeout/2)
	defer timer.Stop()
	for ; d.running > 0; d.running-- {
		select {
		case err := <-d.stopped:
			if err != nil {
				slog.Info("a part did not end in order", "error", err)
			}
		case <-timer.C:
			return nil
		}
	}
	d.roots.close()
	d.db.Close()
	return nil
}

const (
	// devReadyTimeout bounds the time until the sandboxes are ready, after the start of the database.
	devReadyTimeout = time.Minute
	// devProgress is the time without a change of a status after which the command gives up waiting for ready
	// sandboxes.
	devProgress = 3 * time.Second
	// devStopTimeout bounds the time for each part to finish its work. Unfinished work, such as an attempt that hangs,
	// is done after the next start.
	devStopTimeout = 1200 * time.Millisecond
	// devConnections is the maximum number of database connections of each part.
	devConnections = 8
	// devQueueWait replaces maxQueueWait. It is longer, because compilers on the same machine can slow down the
	// database. It is shorter than [httpfront.AnswerTimeout].
	devQueueWait = 8 * time.Second
)

// Settings of the garbage collector for `cauri dev`, which needs little memory rather than little CPU time.
const (
	devGarbagePercent = 60
	devMemoryLimit    = 80 << 20
)
