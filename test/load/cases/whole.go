package cases

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/system"
)

// untuned are the Postgres settings of `make up` where those of the benchmark differ.
var untuned = []string{"shared_buffers=128MB", "max_wal_size=1GB", "checkpoint_timeout=5min", "autovacuum_naptime=1min"}

// installation is everything that `make up` runs: etcd, kube-apiserver, controller, api, worker and Postgres, with
// sandboxes that were made through Kubernetes.
type installation struct {
	*bench.Bench
	cluster    *cluster
	controller *system.Controller
	api        *system.API
	worker     *system.Worker
	sandboxes  []*system.Sandbox
}

// whole measures payments of the whole system beside the baseline, on a database that nobody has used, on one that was
// emptied, and on one with rows and statistics, and how much processor time each process takes for a payment.
func whole(ctx context.Context, b *bench.Bench) error {
	s := &installation{Bench: b}
	defer func() {
		if s.cluster != nil {
			s.cluster.stop()
		}
	}()
	if err := s.install(ctx, b.Settings.Size(100)); err != nil {
		return err
	}
	address, err := startBaseline(ctx, b)
	if err != nil {
		return err
	}
	ours := b.Writes("/v1/payments", 201, s.sandboxes, []string{system.Unregistered}, "success", s.api)
	theirs := b.BaselineCreates(address, uint64(len(s.sandboxes)))
	for _, state := range []struct {
		name    string
		prepare func(context.Context) error // before all rounds
		between func(context.Context) error // before each measurement
	}{
		{"new database", asItIs, asItIs},
		{"emptied database", s.empty, asItIs},
		{"analyzed database", asItIs, b.Rested},
	} {
		if err := state.prepare(ctx); err != nil {
			return fmt.Errorf("preparing the %s: %w", state.name, err)
		}
		if err := s.compare(ctx, state.name, state.between, ours, theirs, []int{8, 32}, 0.65, 1); err != nil {
			return err
		}
	}
	hotOurs := b.Writes("/v1/payments", 201, s.sandboxes[:1], []string{system.Unregistered}, "success", s.api)
	hotTheirs := b.BaselineCreates(address, 1)
	return s.compare(ctx, "one hot sandbox", b.Rested, hotOurs, hotTheirs, []int{32, 128}, 3.5, 6)
}

func asItIs(context.Context) error { return nil }

// install starts all processes and makes so many sandboxes.
func (s *installation) install(ctx context.Context, sandboxes int) (err error) {
	if s.cluster, err = startCluster(ctx); err != nil {
		return err
	}
	if s.controller, err = s.StartController(ctx, s.cluster.Kubeconfig, controllerStarts); err != nil {
		return err
	}
	apis, err := s.Apis(ctx, 1)
	if err != nil {
		return err
	}
	workers, err := s.Workers(ctx, 1)
	if err != nil {
		return err
	}
	s.api, s.worker = apis[0], workers[0]
	if err := s.cluster.namespace(ctx, system.Namespace); err != nil {
		return err
	}
	s.sandboxes = make([]*system.Sandbox, sandboxes)
	return bench.InParallel(ctx, len(s.sandboxes), makersAtOnce, func(ctx context.Context, i int) (err error) {
		s.sandboxes[i], err = s.newSandbox(ctx, fmt.Sprintf("s%d", i))
		return err
	})
}

// newSandbox makes a sandbox with two test clients, and waits until the api knows its key.
func (s *installation) newSandbox(ctx context.Context, name string) (*system.Sandbox, error) {
	made := &v1alpha1.SandboxEnvironment{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace, Name: name},
		Spec: v1alpha1.SandboxEnvironmentSpec{
			Environments:   []v1alpha1.Environment{{Operator: "mtn", Country: "RW"}},
			OpeningFloat:   []v1alpha1.Money{{Currency: "RWF", Amount: system.OpeningFloat}},
			Stores:         []v1alpha1.Store{{Slug: "shop"}},
			LatencyPercent: new(int32),
			API:            &v1alpha1.APIAccess{Reset: true},
		},
	}
	if err := s.cluster.Create(ctx, made); err != nil {
		return nil, err
	}
	for n := range simsPerSandbox {
		err := s.cluster.Create(ctx, &v1alpha1.TestClient{
			ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace, Name: fmt.Sprintf("%s-c%d", name, n)},
			Spec: v1alpha1.TestClientSpec{
				SandboxRef: v1alpha1.SandboxReference{Name: name}, MSISDN: fmt.Sprintf("+25078800000%d", n), Balance: 500_000,
			},
		})
		if err != nil {
			return nil, err
		}
	}
	secret := &corev1.Secret{}
	err := system.Until(ctx, controllerStarts, name+" is ready", func(ctx context.Context) error {
		if err := s.cluster.Get(ctx, client.ObjectKeyFromObject(made), made); err != nil {
			return err
		}
		if !isReady(made) {
			return fmt.Errorf("its conditions are %v", made.Status.Conditions)
		}
		return s.cluster.Get(ctx, client.ObjectKey{Namespace: system.Namespace, Name: name + "-credentials"}, secret)
	})
	if err != nil {
		return nil, err
	}
	config := sandboxes.Config{UID: string(made.UID), Namespace: system.Namespace, Name: name}
	sandbox, err := s.Adopt(ctx, config, string(secret.Data["api-key"]), string(secret.Data["webhook-signing-secret"]))
	if err == nil {
		err = bench.Known(ctx, []*system.Sandbox{sandbox}, s.api)
	}
	return sandbox, err
}

// empty resets all sandboxes, waits until their transactions are gone, and gives Postgres the statistics of empty tables.
func (s *installation) empty(ctx context.Context) error {
	for _, sandbox := range s.sandboxes {
		c, err := sandbox.Client(ctx, s.api)
		if err != nil {
			return err
		}
		answer, err := c.Post(ctx, "/reset", struct{}{})
		if err != nil {
			return err
		}
		if answer.Status != 200 {
			return fmt.Errorf("a reset was answered with %d %s", answer.Status, answer.Body)
		}
	}
	err := system.Until(ctx, 5*time.Minute, "the transactions are gone", func(ctx context.Context) error {
		left, err := s.Count(ctx, "select count(*) from transactions")
		if err == nil && left > 0 {
			err = fmt.Errorf("%d are left", left)
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, err := s.Baseline.Run(ctx, "schema"); err != nil {
		return err
	}
	return s.Rested(ctx)
}

// compare measures both sides with each number of connections, all in the same rounds, and wants a ratio for each number.
func (s *installation) compare(
	ctx context.Context,
	name string,
	between func(context.Context) error,
	ours, theirs bench.Subject,
	connections []int,
	wanted ...float64,
) error {
	var sides []bench.Side
	costs := make([]*bench.Costs, len(connections))
	for i, n := range connections {
		costs[i] = s.CostsOf(s.processes())
		measured := ours
		measured.Costs = costs[i]
		sides = append(sides, s.Closed(measured, n), s.Closed(theirs, n))
	}
	results, err := s.InTurnsAfter(ctx, between, sides...)
	if err != nil {
		return err
	}
	for i, n := range connections {
		mine, baseline := results[2*i], results[2*i+1]
		label := fmt.Sprintf("%s, %d connections", name, n)
		s.Against(label, "/s", mine.Rates(), baseline.Rates()).WantAtLeast(wanted[i])
		s.Against(label+", p99", "ms", mine.P99s(), baseline.P99s()).WantAtMost(1.5)
		costs[i].Tell(&s.Report, label+", processor time of a payment")
	}
	return nil
}

// processes are those that may take processor time for a payment, beside Postgres.
func (s *installation) processes() map[string]*system.Process {
	return map[string]*system.Process{
		"api": s.api.Process, "worker": s.worker.Process, s.controller.Name: s.controller.Process,
		s.cluster.APIServer.Name: s.cluster.APIServer, s.cluster.Etcd.Name: s.cluster.Etcd,
	}
}

// processTimes are the times that all processes have used so far, in microseconds.
func (s *installation) processTimes() (map[string]float64, error) {
	times, err := processTimes(s.Postgres, s.controller.Process, s.cluster.APIServer, s.cluster.Etcd)
	if err != nil {
		return nil, err
	}
	for name, p := range map[string]*system.Process{"api": s.api.Process, "worker": s.worker.Process} {
		cpu, err := p.CPU()
		if err != nil {
			return nil, err
		}
		times[name] = float64(cpu.Microseconds())
	}
	return times, nil
}

// processTimes are the times that Postgres and these processes have used so far, in microseconds.
func processTimes(postgres *system.Postgres, processes ...*system.Process) (map[string]float64, error) {
	cpu, err := postgres.CPU()
	if err != nil {
		return nil, err
	}
	times := map[string]float64{"Postgres": float64(cpu.Microseconds())}
	for _, p := range processes {
		if cpu, err = p.CPU(); err != nil {
			return nil, err
		}
		times[p.Name] = float64(cpu.Microseconds())
	}
	return times, nil
}
