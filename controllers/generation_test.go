package controllers_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// frozenDatabase belongs to a controller that stops in the moment before it writes a certain generation, and goes on when it is told
// to: as a process that was frozen, or a leader that was cut off, and did not notice that another one works on.
type frozenDatabase struct {
	reconciler.Database
	generation int64
	reached    chan struct{} // closed when it stops
	wake       chan struct{}
	woken      chan error // what the frozen call came to
	once       *sync.Once
}

func newFrozenDatabase(database reconciler.Database, generation int64) frozenDatabase {
	return frozenDatabase{
		Database: database, generation: generation, reached: make(chan struct{}), wake: make(chan struct{}),
		woken: make(chan error, 1), once: &sync.Once{},
	}
}

func (d frozenDatabase) freeze(generation int64) (frozen bool) {
	if generation == d.generation {
		d.once.Do(func() {
			frozen = true
			close(d.reached)
			<-d.wake
		})
	}
	return frozen
}

func (d frozenDatabase) ApplySandbox(ctx context.Context, config sandboxes.Config) (sandboxes.SandboxState, error) {
	frozen := d.freeze(config.Generation)
	state, err := d.Database.ApplySandbox(ctx, config)
	if frozen {
		d.woken <- err
	}
	return state, err
}

// frozenRegistry is frozenDatabase for TestClients.
type frozenRegistry struct{ frozenDatabase }

func (d frozenRegistry) ApplySandbox(ctx context.Context, config sandboxes.Config) (sandboxes.SandboxState, error) {
	return d.Database.ApplySandbox(ctx, config)
}

func (d frozenRegistry) ApplyTestClient(
	ctx context.Context,
	uid string,
	config sandboxes.TestClientConfig,
) (sandboxes.TestClientState, error) {
	frozen := d.freeze(config.Generation)
	state, err := d.Database.ApplyTestClient(ctx, uid, config)
	if frozen {
		d.woken <- err
	}
	return state, err
}

func TestAFrozenControllerEmptiesNoSandboxAgain(t *testing.T) {
	c := newCluster(t)
	frozen := newFrozenDatabase(c.database, 2)
	c.start(func(o *controllers.Options) { o.Database = frozen })
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Reset, s.Spec.OpeningFloat[0].Amount = "run-1", 5000 })
	<-frozen.reached
	c.start()
	c.sandboxReady(sandbox)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Reset, s.Spec.OpeningFloat[0].Amount = "run-2", 7000 })
	c.sandboxReady(sandbox)
	c.row("update floats set balance = 6500 where balance = 7000 returning 1", nil, new(int))

	close(frozen.wake)
	if err := <-frozen.woken; err == nil {
		t.Error("what a controller had read before the last change was applied")
	}
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.LatencyPercent = new(int32(0)) }) // both look at it
	c.sandboxReady(sandbox)
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff([]v1alpha1.Balance{{Currency: "RWF", Amount: 6500}}, sandbox.Status.Balances)
	})
	if n := c.count("select count(*) from retired_tenants"); n != 2 || sandbox.Status.ObservedReset != "run-2" {
		t.Errorf("it was emptied %d times, observed reset %q", n, sandbox.Status.ObservedReset)
	}
}

// A controller that wakes up with a resource that was deleted and made again must not take the name from the new one.
func TestAFrozenControllerTakesNoNameAway(t *testing.T) {
	c := newCluster(t)
	frozen := newFrozenDatabase(c.database, 2)
	c.start(func(o *controllers.Options) { o.Database = frozen })
	first := c.newSandbox()
	c.create(first)
	c.sandboxReady(first)
	edit(c, first, func(s *v1alpha1.SandboxEnvironment) { s.Spec.OpeningFloat[0].Amount = 5000 })
	<-frozen.reached
	c.start()
	c.delete(first)
	second := c.newSandbox()
	c.create(second)
	c.sandboxReady(second)

	close(frozen.wake)
	if err := <-frozen.woken; err == nil {
		t.Error("a resource that is gone was applied")
	}
	edit(c, second, func(s *v1alpha1.SandboxEnvironment) { s.Spec.LatencyPercent = new(int32(0)) }) // both look at it
	c.sandboxReady(second)
	var held []string
	c.row("select array_agg(resource_uid::text) from organizations where retained_at is null", nil, &held)
	if diff := cmp.Diff([]string{string(second.UID)}, held); diff != "" || c.count("select count(*) from organizations") != 1 {
		t.Errorf("organizations (-want +got):\n%s", diff)
	}
}

// The end of a sandbox whose finalizer was taken away was not seen: its rows may be what was to be retained.
func TestTheRowsOfAVanishedSandboxAreRetained(t *testing.T) {
	c := newCluster(t)
	c.start()
	first := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Spec.DeletionPolicy = "Retain" })
	c.create(first)
	c.sandboxReady(first)
	c.stop()
	edit(c, first, func(s *v1alpha1.SandboxEnvironment) { s.Finalizers = nil })
	c.delete(first)
	if err := c.Delete(t.Context(), c.secret("checkout-credentials")); err != nil { // there is no garbage collector here
		t.Fatal(err)
	}
	second := c.newSandbox()
	c.create(second)
	c.start()
	c.sandboxReady(second)
	var retained string
	c.row("select resource_uid::text from organizations where retained_at is not null", nil, &retained)
	if retained != string(first.UID) || first.Status.OrganizationID == second.Status.OrganizationID {
		t.Errorf("the rows of %s are retained; the second sandbox has the organization %s", retained, second.Status.OrganizationID)
	}
	if n := c.count("select count(*) from floats"); n != 2 {
		t.Errorf("%d floats are there, want those of both", n)
	}
}

func TestAFrozenControllerSetsNoBalanceBack(t *testing.T) {
	c := newCluster(t)
	frozen := newFrozenDatabase(c.database, 2)
	c.start(func(o *controllers.Options) { o.Database = frozenRegistry{frozen} })
	sandbox, alice := c.newSandbox(), c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(alice)
	c.testClientReady(alice)
	edit(c, alice, func(a *v1alpha1.TestClient) { a.Spec.Balance = 600 })
	<-frozen.reached
	c.start()
	c.testClientReady(alice)
	edit(c, alice, func(a *v1alpha1.TestClient) { a.Spec.Balance = 700 })
	c.testClientReady(alice)

	close(frozen.wake)
	if err := <-frozen.woken; err == nil {
		t.Error("what a controller had read before the last change was applied")
	}
	edit(c, alice, func(a *v1alpha1.TestClient) { a.Spec.Behavior = "Ignore" })
	c.testClientReady(alice)
	if balance := c.count("select balance from sims"); balance != 700 {
		t.Errorf("the SIM has %d", balance)
	}
}

// staleClient shows a sandbox as it was, for as long as it is told to.
type staleClient struct {
	client.Client
	shown *atomic.Pointer[v1alpha1.SandboxEnvironment] // nil: as it is
	times *atomic.Int32                                // that it was shown
}

func (s staleClient) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if sandbox, is := into.(*v1alpha1.SandboxEnvironment); is {
		if shown := s.shown.Load(); shown != nil {
			shown.DeepCopyInto(sandbox)
			s.times.Add(1)
			return nil
		}
	}
	return s.Client.Get(ctx, key, into, options...)
}

// A deletionPolicy that is changed while the deletion waits holds, also for a controller that has not heard of it.
func TestADeletionGoesByThePresentPolicy(t *testing.T) {
	c := newCluster(t)
	stale := staleClient{shown: &atomic.Pointer[v1alpha1.SandboxEnvironment]{}, times: &atomic.Int32{}}
	options := controllers.ManagerOptions(c.namespace)
	options.NewClient = func(config *rest.Config, o client.Options) (made client.Client, err error) {
		stale.Client, err = client.New(config, o)
		return stale, err
	}
	c.startWith(options)
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	c.database.setUnavailable(true)
	if err := c.Delete(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	c.refresh(sandbox)
	stale.shown.Store(sandbox.DeepCopy())
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.DeletionPolicy = "Retain" })
	readAgain := func(times int32) {
		before := stale.times.Load()
		c.until(func(context.Context) string {
			if n := stale.times.Load() - before; n < times {
				return fmt.Sprintf("it was read %d times", n)
			}
			return ""
		})
	}
	readAgain(1) // so that no deletion goes on that has looked at the policy before
	c.database.setUnavailable(false)
	readAgain(3)
	if n := c.count("select count(*) from organizations where retained_at is null"); n != 1 {
		t.Errorf("its rows were deleted: there are %d organizations", n)
	}
	stale.shown.Store(nil)
	c.gone(sandbox)
	if n := c.count("select count(*) from organizations where retained_at is not null"); n != 1 {
		t.Errorf("%d organizations are retained", n)
	}
}

// An API server that was restored from a backup counts generations again that were applied already: it decides, all the same.
func TestARestoredAPIServerIsFollowed(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox, alice := c.newSandbox(), c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(alice)
	c.sandboxReady(sandbox)
	c.testClientReady(alice)
	c.row("update organizations set generation = 40, latency_percent = 7 returning 1", nil, new(int))
	c.row("update sims set generation = 30, behavior = 'Ignore' returning 1", nil, new(int))

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.OpeningFloat[0].Amount = 5000 })
	edit(c, alice, func(a *v1alpha1.TestClient) { a.Spec.Balance = 600 })
	c.sandboxReady(sandbox)
	c.testClientReady(alice)
	var got []int64
	c.row(`select array[o.generation, o.latency_percent, f.balance, s.generation, s.balance] from organizations o, floats f, sims s
		where s.behavior = 'Approve'`, nil, &got)
	if diff := cmp.Diff([]int64{2, 100, 5000, 2, 600}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
