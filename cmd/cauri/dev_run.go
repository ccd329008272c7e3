package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/controllers/localapi"
	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

const (
	// devReadyTimeout bounds the start of the sandboxes, from a database that is there.
	devReadyTimeout = time.Minute
	// devProgress is how long a sandbox that is not ready may stay as it is before the command gives up.
	devProgress = 3 * time.Second
	// devStopTimeout is how long each part may finish what it has begun. What it leaves, such as an attempt that hangs, is done again at the
	// next start.
	devStopTimeout = 1200 * time.Millisecond
	// devConnections is how many connections to the database each part may have.
	devConnections = 8
)

// The garbage collector of `cauri dev` prefers little memory to little work.
const (
	devGarbagePercent = 60
	devMemoryLimit    = 80 << 20
)

//go:embed dev-sample.yaml
var devSample []byte

// runDev runs until ctx ends, or something fails.
func runDev(ctx context.Context, o devOptions, console *devConsole) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	begun := time.Now()
	manifests, err := o.manifests(ctx)
	if err != nil {
		return err
	}
	if err := removeFile(o.readyFile); err != nil { // of a process that was killed
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(o.listen, strconv.Itoa(o.port)))
	if err != nil {
		return fmt.Errorf("%w: choose another port with --port, or a free one with --port=0", err)
	}
	defer func() { _ = listener.Close() }()
	database, err := openDevDatabase(ctx, o, console.say)
	if err != nil {
		return ignoreEnd(ctx, err)
	}
	defer func() { err = errors.Join(err, database.close(o.data != "")) }()
	d := &dev{options: o, console: console, baseURL: o.publicURL(listener), url: database.url, stopped: make(chan error, 3)}
	if err := d.open(ctx); err != nil {
		return ignoreEnd(ctx, err)
	}
	defer d.state.close()
	running, stop := context.WithCancel(ctx)
	defer func() { err = errors.Join(err, d.end(stop)) }()
	if err := d.start(running, manifests); err != nil {
		return ignoreEnd(ctx, err)
	}
	d.serve(running, listener)
	restore := console.onKey(running, func() { console.status(d.present(running, localURL(listener))) })
	defer restore()
	follow, notes := d.follow(running, localURL(listener))
	if err := d.announce(time.Since(begun), notes); err != nil {
		return err
	}
	defer func() { _ = removeFile(o.readyFile) }()
	go follow()
	if o.watch {
		go manifests.Watch(running, func() { d.applyAgain(running) })
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-d.stopped:
		d.running--
		return err
	case <-database.ended():
		return errors.New("the Postgres that was started has ended")
	}
}

// ignoreEnd returns no error for a start that the user interrupted.
func ignoreEnd(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}

func removeFile(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// manifests reads the files, or the sample, and returns everything that is wrong with them.
func (o devOptions) manifests(ctx context.Context) (manifests localapi.Manifests, err error) {
	if len(o.files) == 0 {
		manifests, err = localapi.Parse("the sample", devSample)
	} else {
		manifests, err = localapi.Read(o.files...)
	}
	if err != nil {
		return manifests, cli.Usage(err)
	}
	manifests.SetDefaults(o.defaults())
	api, err := localapi.New(ctx, localapi.Options{APIKey: o.key})
	if err != nil {
		return manifests, err
	}
	return manifests, api.Check(manifests)
}

// defaults are the fields of a sandbox that are others than in a cluster where its file leaves them out: nobody else uses it, and its user
// has no kubectl.
func (o devOptions) defaults() map[string]any {
	fields := map[string]any{
		"testNumbers": string(payments.StandardTestNumbers),
		"api":         map[string]any{"testClients": true, "reset": true},
	}
	if o.webhookURL != "" {
		fields["webhook"] = map[string]any{"url": o.webhookURL}
	}
	return fields
}

// dev is api, worker and controller in one process.
type dev struct {
	options   devOptions
	console   *devConsole
	baseURL   *url.URL
	url       string // of the database
	state     *devState
	resources *localapi.API
	api       *apiProcess
	worker    *process
	db        *postgres.DB // of the controller
	manager   ctrl.Manager
	stopped   chan error // gets the result of each part
	running   int        // parts
}

// open makes all parts, on a database with the current schema.
func (d *dev) open(ctx context.Context) (err error) {
	if d.state, err = awaitDevState(ctx, d.url, d.options.wait, d.console.say); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			d.state.close()
		}
	}()
	keys, err := d.state.keyRing(ctx)
	if err != nil {
		return err
	}
	d.console.say("Bringing the tables up to date")
	if err := d.state.migrate(ctx, d.url); err != nil {
		return err
	}
	settings := processOptions{databaseURL: d.url, maxConns: devConnections}
	if d.api, err = newAPI(ctx, apiOptions{processOptions: settings, held: exchange.HeldBounds{Process: 500}}); err != nil {
		return err
	}
	if d.worker, err = newWorker(ctx, workerOptions{
		processOptions: settings, concurrency: 64, perSandbox: 64, allowLoopback: true,
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
	f := controllerFlags{databaseURL: d.url, concurrency: 4, statusWritesPerSecond: 50, signingSecret: d.options.webhookSecret,
		callbackHosts: []string{"*"}, // who runs it has the machine already
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

// start starts worker and controller, and returns when all sandboxes are ready.
func (d *dev) start(ctx context.Context, manifests localapi.Manifests) error {
	d.run(func() error { return startWithin(ctx, d.manager.Start, devStopTimeout) })
	d.run(func() error { return d.worker.run(ctx, nil) })
	for _, line := range manifests.Ignored {
		d.console.say("%s", line)
	}
	d.console.say("Applying the resources")
	soon, cancel := context.WithTimeout(ctx, devReadyTimeout)
	defer cancel()
	if _, err := d.resources.Apply(soon, manifests); err != nil {
		return err
	}
	if err := d.awaitReady(soon); err != nil {
		return err
	}
	return d.api.directory.Refresh(soon)
}

// awaitReady returns when all sandboxes are ready. It gives up where nothing has changed for a while: what a resource waits for, such as a
// Secret, is in no file.
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

// serve starts the api. Who has connected before is answered now.
func (d *dev) serve(ctx context.Context, listener net.Listener) {
	d.api.serve(ctx, listener)
	d.run(func() error { return d.api.run(ctx, nil) })
}

func (d *dev) run(part func() error) {
	d.running++
	go func() { d.stopped <- part() }()
}

// end stops all parts and waits for them. A part that does not finish in time is no error: what is due stays due.
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
	d.db.Close()
	return nil
}

// sandboxes are those that are there, with their credentials.
func (d *dev) sandboxes() []devSandbox {
	var all []devSandbox
	clients := d.resources.TestClients()
	found := d.resources.Sandboxes()
	for i := range found {
		s := devSandbox{SandboxEnvironment: &found[i]}
		secret := d.resources.Secret(types.NamespacedName{Namespace: s.Namespace, Name: s.CredentialsSecretName()})
		s.uri, s.key, s.secret = secret["uri"], secret["api-key"], secret["webhook-signing-secret"]
		s.native = nativeVariables(secret)
		for j := range clients {
			t := &clients[j]
			if s.payer == nil && t.Namespace == s.Namespace && t.Spec.SandboxRef.Name == s.Name && t.Spec.State == v1alpha1.TestClientActive &&
				t.Spec.Behavior == "Approve" {
				s.payer = t
			}
		}
		all = append(all, s)
	}
	return all
}

// present are the sandboxes and their test clients as they are at this moment. The status of the resources follows some seconds later.
func (d *dev) present(ctx context.Context, api *url.URL) ([]v1alpha1.SandboxEnvironment, []v1alpha1.TestClient) {
	ctx, cancel := context.WithTimeout(ctx, presentTimeout)
	defer cancel()
	store := sandboxes.New(d.db, sandboxes.Options{})
	all, clients := d.resources.Sandboxes(), d.resources.TestClients()
	for _, s := range d.sandboxes() {
		i := slices.IndexFunc(all, func(one v1alpha1.SandboxEnvironment) bool { return one.UID == s.UID })
		counts, health, err := store.Counts(ctx, string(s.UID))
		var accounts wire.LedgerAccountList
		if err == nil {
			accounts, err = sandboxAPI(api, s).Ledger(ctx, math.MaxInt)
		}
		if i < 0 || err != nil { // it is being removed, or suspended: what is known is shown
			continue
		}
		status := &all[i].Status
		status.Transactions = &v1alpha1.TransactionCounts{Total: counts.Total, Pending: counts.Pending}
		status.Webhook = &v1alpha1.WebhookStatus{Delivered: health.Delivered, Failed: health.Failed}
		status.Balances = nil
		for _, a := range accounts.Data {
			if a.MSISDN == nil {
				status.Balances = append(status.Balances, v1alpha1.Balance{Currency: v1alpha1.Currency(a.Currency), Amount: a.Balance})
				continue
			}
			for j := range clients {
				if clients[j].Namespace == s.Namespace && clients[j].Spec.SandboxRef.Name == s.Name && clients[j].Spec.MSISDN == *a.MSISDN {
					clients[j].Status.Balance = &a.Balance
				}
			}
		}
	}
	return all, clients
}

// presentTimeout bounds how long a key waits for the state.
const presentTimeout = 2 * time.Second

// announce prints the sandboxes, and writes the files.
func (d *dev) announce(after time.Duration, notes map[string]string) error {
	all := d.sandboxes()
	for i := range all {
		all[i].note = notes[all[i].String()]
	}
	if file := d.options.envFile; file != "" {
		if len(all) != 1 {
			return fmt.Errorf("--env-file is for one sandbox, and there are %d: leave it out and take what is printed", len(all))
		}
		if err := writePrivately(file, all[0].variables()); err != nil {
			return fmt.Errorf("--env-file: %w", err)
		}
	}
	d.console.banner(d.baseURL.String(), all, after)
	if file := d.options.readyFile; file != "" {
		if err := writePrivately(file, d.baseURL.String()+"\n"); err != nil {
			return fmt.Errorf("--ready-file: %w", err)
		}
	}
	return nil
}

// sayGone says which sandboxes have ended by themselves.
func (d *dev) sayGone(before, now []devSandbox) {
	left := map[string]bool{}
	for _, s := range now {
		left[s.String()] = true
	}
	for _, s := range before {
		if !left[s.String()] && s.Spec.TTL != "" && s.Status.ExpiresAt != nil && !time.Now().Before(s.Status.ExpiresAt.Time) {
			d.console.say("The sandbox %s was removed: its ttl of %s has ended.", s, s.Spec.TTL)
		}
	}
}
