package worker_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/worker"
)

// crowd has sandboxes with work that is due. The work of a heavy sandbox takes 2 s by the clock of the worker, or hangs,
// and never ends.
type crowd struct {
	changed chan struct{}

	mu    sync.Mutex
	due   []int64
	turns map[int64]int // ended
	hangs chan struct{} // nil: nothing hangs
	ahead time.Duration // of the clock of the worker
	at    int           // heavy sandboxes that are worked on
	most  int           // the largest value of at
}

// lightest is the number of the lightest heavy sandbox; those below it are light.
const light, lightest = 1, 2

func newCrowd() *crowd { return &crowd{turns: map[int64]int{}, changed: make(chan struct{}, 1)} }

func (c *crowd) with(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *crowd) now() (now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *crowd) listed() (all []queues.DueTenant, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sandbox := range c.due {
		all = append(all, queues.DueTenant{Tenant: sandbox})
	}
	return all, nil
}

// work does the work of a sandbox, and reports whether it has more.
func (c *crowd) work(ctx context.Context, sandbox int64) (more bool) {
	if sandbox < lightest {
		c.with(func() {
			c.turns[sandbox]++
			c.due = slices.DeleteFunc(c.due, func(other int64) bool { return other == sandbox })
		})
		return false
	}
	var hangs chan struct{}
	c.with(func() {
		hangs = c.hangs
		c.at++
		c.most = max(c.most, c.at)
	})
	if hangs != nil {
		select {
		case <-hangs:
		case <-ctx.Done():
		}
	}
	c.with(func() {
		c.turns[sandbox]++
		c.ahead += 2 * time.Second
		c.at--
	})
	return true
}

// until waits until a condition holds.
func (c *crowd) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for over := time.After(time.Minute); ; {
		c.mu.Lock()
		held := holds()
		c.mu.Unlock()
		if held {
			return
		}
		select {
		case <-c.changed:
		case <-over:
			t.Fatalf("after a minute, not so: %s", what)
		}
	}
}

type inUse struct{ *ledgertest.Store }

func (inUse) QueuesInUse(context.Context) (queues.InUse, error) {
	return queues.InUse{Expectations: true, Passes: true}, nil
}

type crowdedExpectations struct {
	inUse
	*crowd
}

func (c crowdedExpectations) TenantsToEvaluate(context.Context, int) ([]queues.DueTenant, error) {
	return c.listed()
}

func (c crowdedExpectations) EvaluateExpectation(ctx context.Context, sandbox int64) (expectations.Verdict, error) {
	if !c.work(ctx, sandbox) {
		return "", nil
	}
	return expectations.Open, nil
}

// An expectation of a light sandbox is evaluated while those of heavy sandboxes are, of which there is always another one.
func TestHeavyExpectationsDelayNoOthers(t *testing.T) {
	w, c := newFixture(t, nil), newCrowd()
	var heavy []int64
	for i := range int64(8) {
		heavy = append(heavy, lightest+i)
	}
	c.due = heavy
	w.run(func(o *worker.Options) {
		o.Database, o.Now = crowdedExpectations{inUse{o.Database.(*ledgertest.Store)}, c}, c.now
	})
	c.until(t, "each heavy sandbox had a turn", func() bool { return len(c.turns) == len(heavy) })
	hangs := make(chan struct{})
	defer close(hangs)
	c.with(func() { c.hangs = hangs })
	c.until(t, "a heavy sandbox hangs", func() bool { return c.at > 0 })
	c.with(func() { c.most, c.due = c.at, append(slices.Clone(heavy), light) })
	c.until(t, "the light sandbox had its turn", func() bool { return c.turns[light] == 1 })
	if c.most > 1 {
		t.Errorf("%d heavy sandboxes were evaluated at a time", c.most)
	}
}

type crowdedLedgers struct {
	inUse
	*crowd
}

func (c crowdedLedgers) TenantsToVerify(context.Context, int) ([]queues.DueTenant, error) {
	return c.listed()
}

func (c crowdedLedgers) Verify(ctx context.Context, sandbox int64) (*proof.VerifiedLedger, error) {
	c.work(ctx, sandbox)
	return nil, ctx.Err()
}

// A ledger is verified while the worker goes through large ones for minutes.
func TestLargeLedgersDelayNoOthers(t *testing.T) {
	w, c := newFixture(t, nil), newCrowd()
	c.due = []int64{light}
	w.run(func(o *worker.Options) { o.Database = crowdedLedgers{inUse{o.Database.(*ledgertest.Store)}, c} })
	c.until(t, "the ledger was verified", func() bool { return c.turns[light] == 1 })
	hangs := make(chan struct{})
	defer close(hangs)
	c.with(func() {
		c.hangs = hangs
		for i := range int64(8) {
			c.due = append(c.due, lightest+i)
		}
	})
	c.until(t, "large ledgers are verified", func() bool { return c.at > 1 })
	c.with(func() { c.due = append(c.due, light) })
	c.until(t, "the ledger was verified again", func() bool { return c.turns[light] == 2 })
	if c.most > 3 {
		t.Errorf("%d large ledgers were verified at a time", c.most)
	}
}
