package cases

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// Sizes of the controller case.
const (
	perNamespace     = 100 // sandboxes
	simsPerSandbox   = 2
	alone            = 100 // sandboxes that are created one after the other
	quietFor         = time.Minute
	makersAtOnce     = 16
	controllerStarts = 2 * time.Minute // until the controller's caches are filled
)

// scale is one run with many resources.
type scale struct {
	*bench.Bench
	cluster      *cluster
	controller   *system.Controller
	sandboxes    int
	rate         float64 // sandboxes that became ready, per second
	baselineRate float64 // of a minimal client, per second
}

// controller measures the controller with many resources: existing at its start, created one by one, after a restart,
// and idle.
func controller(ctx context.Context, b *bench.Bench) (err error) {
	s := &scale{Bench: b, sandboxes: b.Settings.Sandboxes}
	if s.cluster, err = startCluster(ctx); err != nil {
		return err
	}
	defer s.cluster.stop()
	b.Figure("sandboxes", float64(s.sandboxes), "")
	b.Figure("test clients", float64(s.sandboxes*simsPerSandbox), "")
	for _, part := range []func(context.Context) error{s.make, s.start, s.singly, s.restart, s.rest, s.one, s.compare} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// make creates all resources before the controller starts.
func (s *scale) make(ctx context.Context) error {
	begun := time.Now()
	for n := range (s.sandboxes + perNamespace - 1) / perNamespace {
		if err := s.cluster.namespace(ctx, namespaceOf(n*perNamespace)); err != nil {
			return err
		}
	}
	err := bench.InParallel(ctx, s.sandboxes, makersAtOnce, func(ctx context.Context, i int) error {
		if err := s.cluster.Create(ctx, newSandbox(namespaceOf(i), fmt.Sprintf("s%d", i))); err != nil {
			return err
		}
		for n := range simsPerSandbox {
			if err := s.cluster.Create(ctx, newTestClient(i, n)); err != nil {
				return err
			}
		}
		return nil
	})
	s.Figure("creating the resources", time.Since(begun).Seconds(), "s")
	return err
}

// start starts the controller and waits until everything is ready.
func (s *scale) start(ctx context.Context) (err error) {
	before, err := processTimes(s.Postgres, s.cluster.APIServer, s.cluster.Etcd)
	if err != nil {
		return err
	}
	begun := time.Now()
	if s.controller, err = s.StartController(ctx, s.cluster.Kubeconfig, controllerStarts); err != nil {
		return err
	}
	s.Figure("start: caches filled", time.Since(begun).Seconds(), "s")
	if err := s.allReady(ctx, "SandboxEnvironment", s.sandboxes); err != nil {
		return err
	}
	took := time.Since(begun).Seconds()
	s.Figure("all sandboxes ready", took, "s")
	s.Target("time for a sandbox", 1000*took/float64(s.sandboxes), "ms", 20)
	s.rate = float64(s.sandboxes) / took
	s.Figure("sandboxes ready", s.rate, "/s")
	if err := s.allReady(ctx, "TestClient", s.sandboxes*simsPerSandbox); err != nil {
		return err
	}
	s.Figure("all test clients ready", time.Since(begun).Seconds(), "s")
	if err := s.quiet(ctx); err != nil {
		return err
	}
	if err := s.tellWork(ctx, "start"); err != nil {
		return err
	}
	after, err := processTimes(s.Postgres, s.cluster.APIServer, s.cluster.Etcd, s.controller.Process)
	s.tellTimes("start", before, after, s.sandboxes)
	return err
}

// tellTimes reports the processor time that each process took for a sandbox with its test clients.
func (s *scale) tellTimes(part string, before, after map[string]float64, sandboxes int) {
	for _, name := range slices.Sorted(maps.Keys(after)) {
		s.Figure(part+": processor time of a sandbox: "+name, (after[name]-before[name])/1000/float64(sandboxes), "ms")
	}
}

// tellWork reports the reconciliations and requests of a phase.
func (s *scale) tellWork(ctx context.Context, part string) error {
	metrics, err := s.metrics(ctx)
	if err != nil {
		return err
	}
	each := float64(s.sandboxes)
	s.Figure(part+": reconciliations of a sandbox", metrics.sum("controller_runtime_reconcile_total", "sandboxenvironment")/each, "")
	s.Figure(
		part+": reconciliations of a test client",
		metrics.sum("controller_runtime_reconcile_total", `"testclient"`)/each/simsPerSandbox,
		"",
	)
	s.Figure(part+": writes to the API", metrics.writes(), "")
	s.Figure(part+": reads from the API", metrics.sum("rest_client_requests_total", `method="GET"`), "")
	cpu, err := s.controller.CPU()
	s.Figure(part+": processor time of the controller", cpu.Seconds(), "s")
	return err
}

// singly creates sandboxes one after the other and measures the time from apply to Ready.
func (s *scale) singly(ctx context.Context) error {
	if err := s.cluster.namespace(ctx, "singly"); err != nil {
		return err
	}
	var times []time.Duration
	for n := range alone {
		took, err := s.makeOne(ctx, "singly", fmt.Sprintf("one%d", n))
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	s.Target("one sandbox alone: p50", float64(report.Percentile(times, 50).Microseconds())/1000, "ms", 200)
	s.Figure("one sandbox alone: p99", float64(report.Percentile(times, 99).Microseconds())/1000, "ms")
	return nil
}

// makeOne creates a sandbox and returns the time until it is ready.
func (s *scale) makeOne(ctx context.Context, namespace, name string) (time.Duration, error) {
	sandbox := newSandbox(namespace, name)
	watch, err := s.cluster.Watch(
		ctx,
		&v1alpha1.SandboxEnvironmentList{},
		client.InNamespace(namespace),
		client.MatchingFields{"metadata.name": name},
	)
	if err != nil {
		return 0, err
	}
	defer watch.Stop()
	begun := time.Now()
	if err := s.cluster.Create(ctx, sandbox); err != nil {
		return 0, err
	}
	limit := time.After(time.Minute)
	for {
		select {
		case event := <-watch.ResultChan():
			if seen, ok := event.Object.(*v1alpha1.SandboxEnvironment); ok && isReady(seen) {
				return time.Since(begun), nil
			}
		case <-limit:
			return 0, fmt.Errorf("the sandbox %s was not ready within a minute", name)
		}
	}
}

// restart restarts the controller. The new controller must write nothing.
func (s *scale) restart(ctx context.Context) (err error) {
	if err := s.quiet(ctx); err != nil {
		return err
	}
	if peak, err := s.controller.PeakMemory(); err == nil {
		s.Target("controller that made them: peak memory", float64(peak>>20), "MiB", 512)
	}
	before, err := s.cluster.versions(ctx)
	if err != nil {
		return err
	}
	stopped, err := s.controller.Terminate(time.Minute)
	if err != nil {
		return err
	}
	s.Figure("stop", stopped.Seconds(), "s")
	begun := time.Now()
	if s.controller, err = s.StartController(ctx, s.cluster.Kubeconfig, controllerStarts); err != nil {
		return err
	}
	s.Figure("restart: caches filled", time.Since(begun).Seconds(), "s")
	if err := s.quiet(ctx); err != nil {
		return err
	}
	s.Target("restart: all resources looked at", time.Since(begun).Seconds(), "s", 60)
	if err := s.tellWork(ctx, "restart"); err != nil {
		return err
	}
	return s.unwritten(ctx, "restart", before)
}

// rest measures the idle controller.
func (s *scale) rest(ctx context.Context) error {
	before, err := s.cluster.versions(ctx)
	if err != nil {
		return err
	}
	cpuBefore, err := s.controller.CPU()
	if err != nil {
		return err
	}
	begun := time.Now()
	if !system.Rest(ctx, quietFor) {
		return ctx.Err()
	}
	cpu, err := s.controller.CPU()
	if err != nil {
		return err
	}
	s.Target("at rest: processor time of the controller", 100*(cpu-cpuBefore).Seconds()/time.Since(begun).Seconds(), "% of a core", 3)
	return s.unwritten(ctx, "at rest", before)
}

// unwritten checks that no object changed and that the controller wrote nothing.
func (s *scale) unwritten(ctx context.Context, part string, before map[string]string) error {
	after, err := s.cluster.versions(ctx)
	if err != nil {
		return err
	}
	written := 0
	for name, version := range after {
		if before[name] != version {
			written++
		}
	}
	s.Target(part+": objects written", float64(written+max(0, len(before)-len(after))), "", 0)
	metrics, err := s.metrics(ctx)
	if err != nil {
		return err
	}
	s.Target(part+": writes to the API so far", metrics.writes(), "", 0)
	return nil
}

// one creates one sandbox next to all others.
func (s *scale) one(ctx context.Context) error {
	took, err := s.makeOne(ctx, namespaceOf(0), "among-them")
	s.Target("one sandbox among all: ready", took.Seconds(), "s", 2)
	return err
}

// compare compares the rate with what the API server accepts from a minimal client.
func (s *scale) compare(ctx context.Context) error {
	peak, err := s.controller.PeakMemory()
	if err == nil { // not every system reports it
		s.Target("controller: peak memory", float64(peak>>20), "MiB", 512)
	}
	if _, err := s.controller.Terminate(time.Minute); err != nil {
		return err
	}
	if err := s.baseline(ctx); err != nil {
		return err
	}
	s.Figure("sandboxes ready, to the baseline", s.rate/s.baselineRate, "")
	return nil
}

// quiet waits until the controller's queues are empty and it has been idle for a moment.
func (s *scale) quiet(ctx context.Context) error {
	return calm(ctx, s.controller.MetricsURL, s.sandboxes*(1+simsPerSandbox), time.Second)
}

// calm waits until a controller has reconciled so many resources and has then had nothing to do for a while.
func calm(ctx context.Context, metricsURL string, resources int, while time.Duration) error {
	var since time.Time
	done := -1.0
	return system.Until(ctx, 10*time.Minute, "the controller has nothing to do", func(ctx context.Context) error {
		if !system.Rest(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
		metrics, err := metricsOf(ctx, metricsURL)
		if err != nil {
			return err
		}
		waiting := metrics.sum("workqueue_depth", "") + metrics.sum("controller_runtime_active_workers", "")
		looked := metrics.sum("controller_runtime_reconcile_total", "")
		if waiting > 0 || looked != done || looked < float64(resources) {
			done, since = looked, time.Now()
			return fmt.Errorf("%.0f resources wait, %.0f times one was looked at", waiting, looked)
		}
		if time.Since(since) < while {
			return fmt.Errorf("it came to rest a moment ago")
		}
		return nil
	})
}

// allReady waits until n resources of a kind are ready. It reads the controller's metrics, because a list of all
// resources would load the API server more than creating them.
func (s *scale) allReady(ctx context.Context, kind string, want int) error {
	return system.Until(ctx, 30*time.Minute, "all are ready", func(ctx context.Context) error {
		metrics, err := s.metrics(ctx)
		if err != nil {
			return err
		}
		ready := metrics.sum("cauri_resources", fmt.Sprintf("kind=%q,ready=\"True\"", kind))
		if ready < float64(want) {
			system.Rest(ctx, 200*time.Millisecond)
			return fmt.Errorf("%.0f of %d are ready", ready, want)
		}
		return nil
	})
}

func namespaceOf(sandbox int) string { return "team-" + strconv.Itoa(sandbox/perNamespace) }

// newSandbox is a typical sandbox: two operators, a webhook.
func newSandbox(namespace, name string) *v1alpha1.SandboxEnvironment {
	return &v1alpha1.SandboxEnvironment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.SandboxEnvironmentSpec{
			Environments: []v1alpha1.Environment{{Operator: "mtn", Country: "RW"}, {Operator: "orange", Country: "CI"}},
			OpeningFloat: []v1alpha1.Money{{Currency: "RWF", Amount: 1_000_000}},
			Webhook:      &v1alpha1.Webhook{URL: "http://shop.team.svc/webhooks"},
		},
	}
}

func newTestClient(sandbox, n int) *v1alpha1.TestClient {
	return &v1alpha1.TestClient{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(sandbox), Name: fmt.Sprintf("s%d-c%d", sandbox, n)},
		Spec: v1alpha1.TestClientSpec{
			SandboxRef: v1alpha1.SandboxReference{Name: fmt.Sprintf("s%d", sandbox)},
			MSISDN:     fmt.Sprintf("+25078800000%d", n),
			Balance:    500_000,
		},
	}
}
