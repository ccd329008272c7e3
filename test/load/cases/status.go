package cases

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/system"
)

// Times of the status case. The load is longer than a balance may be old.
const (
	statusLoad        = 150 * time.Second
	statusWarmUp      = 30 * time.Second // until the full bucket of the beginning is used up
	statusQuiet       = 10               // sandboxes that get one payment each
	statusConnections = 32
)

// status measures how the status of resources follows while as many payments as possible are made in 100 sandboxes: how
// often it is written, how old a balance is, and how soon a sandbox that was quiet shows its payment.
func status(ctx context.Context, b *bench.Bench) error {
	s := &installation{Bench: b}
	defer func() {
		if s.cluster != nil {
			s.cluster.stop()
		}
	}()
	if err := s.install(ctx, b.Settings.Size(100)); err != nil {
		return err
	}
	var quiet []*system.Sandbox
	for n := range statusQuiet {
		sandbox, err := s.newSandbox(ctx, fmt.Sprintf("quiet%d", n))
		if err != nil {
			return err
		}
		quiet = append(quiet, sandbox)
	}
	watch, err := s.watchStatus(ctx)
	if err != nil {
		return err
	}
	defer watch.stop()

	load := b.Writes("/v1/payments", 201, s.sandboxes, payerNumbers(), "", s.api)
	g, err := generator.Dial(ctx, load.Target, statusConnections)
	if err != nil {
		return err
	}
	defer g.Close()
	loaded := make(chan generator.Result, 1)
	watch.begin(time.Now())
	go func() { loaded <- g.Closed(ctx, statusLoad) }()
	if err := s.writesOfAMinute(ctx); err != nil {
		return err
	}
	if err := s.payQuietly(ctx, watch, quiet); err != nil {
		return err
	}
	result := <-loaded
	if err := result.Err(); err != nil {
		b.Problem("the load: %v", err)
	}
	b.Figure("payments of the load", result.Rate(), "/s")
	b.Target("oldest status of a busy resource", watch.oldest(time.Now()).Seconds(), "s", 120)
	return nil
}

// payerNumbers are the numbers of the test clients of each sandbox.
func payerNumbers() (numbers []string) {
	for n := range simsPerSandbox {
		numbers = append(numbers, fmt.Sprintf("+25078800000%d", n))
	}
	return numbers
}

// writesOfAMinute counts the controller's writes of one minute under load.
func (s *installation) writesOfAMinute(ctx context.Context) error {
	if !system.Rest(ctx, statusWarmUp) {
		return ctx.Err()
	}
	before, err := metricsOf(ctx, s.controller.MetricsURL)
	if err != nil {
		return err
	}
	cpuBefore, err := s.processTimes()
	if err != nil {
		return err
	}
	if !system.Rest(ctx, time.Minute) {
		return ctx.Err()
	}
	after, err := metricsOf(ctx, s.controller.MetricsURL)
	if err != nil {
		return err
	}
	cpu, err := s.processTimes()
	if err != nil {
		return err
	}
	s.Target("writes to the API in a minute of load", after.writes()-before.writes(), "", 300)
	const reconciled = "controller_runtime_reconcile_total"
	s.Figure("reconciliations in a minute of load", after.sum(reconciled, "")-before.sum(reconciled, ""), "")
	for _, p := range []*system.Process{s.controller.Process, s.cluster.APIServer} {
		s.Figure(p.Name+": processor time under load", (cpu[p.Name]-cpuBefore[p.Name])/1e6/60*100, "% of a core")
	}
	return nil
}

// payQuietly makes a payment in each quiet sandbox, and measures how soon its status has it.
func (s *installation) payQuietly(ctx context.Context, watch *statusWatch, quiet []*system.Sandbox) error {
	var slowest time.Duration
	for _, sandbox := range quiet {
		c, err := sandbox.Client(ctx, s.api)
		if err != nil {
			return err
		}
		answer, err := c.Post(ctx, "/payments", system.NewPayment("quiet", payerNumbers()[0], ""))
		if err != nil {
			return err
		}
		if answer.Status != http.StatusCreated {
			return fmt.Errorf("a payment was answered with %d %s", answer.Status, answer.Body)
		}
		booked := time.Now()
		name := sandbox.Config.Name
		err = system.Until(ctx, time.Minute, "the status of "+name+" has its payment", func(context.Context) error {
			return watch.shown(name, booked)
		})
		if err != nil {
			return err
		}
		slowest = max(slowest, watch.written(resourceKey{name: name}).Sub(booked))
		if !system.Rest(ctx, 2*time.Second) {
			return ctx.Err()
		}
	}
	s.Target("payment in a quiet sandbox, until its status has it, slowest", slowest.Seconds(), "s", 2)
	return nil
}

// resourceKey names a resource of the namespace.
type resourceKey struct {
	name         string
	isTestClient bool
}

// statusWatch follows the writes of all resources.
type statusWatch struct {
	stop context.CancelFunc

	mutex    sync.Mutex
	last     map[resourceKey]time.Time
	longest  time.Duration // between two writes of a resource under load
	payments map[string]int64
}

func (s *installation) watchStatus(ctx context.Context) (*statusWatch, error) {
	ctx, stop := context.WithCancel(ctx)
	w := &statusWatch{stop: stop, last: map[resourceKey]time.Time{}, payments: map[string]int64{}}
	for _, list := range []client.ObjectList{&v1alpha1.SandboxEnvironmentList{}, &v1alpha1.TestClientList{}} {
		watch, err := s.cluster.Watch(ctx, list, client.InNamespace(system.Namespace))
		if err != nil {
			stop()
			return nil, err
		}
		go func() {
			defer watch.Stop()
			for {
				select {
				case event, open := <-watch.ResultChan():
					if !open {
						return
					}
					w.see(event.Object)
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return w, nil
}

// begin says that the load begins: from now on every resource of a busy sandbox changes.
func (w *statusWatch) begin(now time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.longest = 0
	for key := range w.last {
		w.last[key] = now
	}
}

func (w *statusWatch) see(object any) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now := time.Now()
	var key resourceKey
	switch o := object.(type) {
	case *v1alpha1.SandboxEnvironment:
		key = resourceKey{name: o.Name}
		if o.Status.Transactions != nil {
			w.payments[o.Name] = o.Status.Transactions.Total
		}
	case *v1alpha1.TestClient:
		key = resourceKey{name: o.Name, isTestClient: true}
	default:
		return
	}
	if last, ok := w.last[key]; ok && isBusy(key.name) {
		w.longest = max(w.longest, now.Sub(last))
	}
	w.last[key] = now
}

// isBusy reports whether a resource belongs to a sandbox with load.
func isBusy(name string) bool { return name[0] == 's' }

// shown returns nil if a sandbox's status has a payment.
func (w *statusWatch) shown(sandbox string, booked time.Time) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.payments[sandbox] == 0 {
		return fmt.Errorf("%.1f s after the payment it has none", time.Since(booked).Seconds())
	}
	return nil
}

// written is when a resource was written last.
func (w *statusWatch) written(key resourceKey) time.Time {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.last[key]
}

// oldest is how long a busy resource was not written at most.
func (w *statusWatch) oldest(now time.Time) time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	oldest := w.longest
	for key, last := range w.last {
		if isBusy(key.name) {
			oldest = max(oldest, now.Sub(last))
		}
	}
	return oldest
}
