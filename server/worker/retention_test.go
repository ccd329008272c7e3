package worker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/worker"
)

// unended has a purge that never ends: somebody resets a sandbox faster than its rows are removed.
type unended struct {
	worker.Database
	removed chan struct{}
	once    *sync.Once
}

func (u unended) PurgeRetired(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (u unended) RemoveAgedChanges(ctx context.Context, age time.Duration) error {
	err := u.Database.RemoveAgedChanges(ctx, age)
	u.once.Do(func() { close(u.removed) })
	return err
}

// Whoever keeps the purge busy keeps no noted changes of other sandboxes.
func TestChangesAreRemovedWhilePurging(t *testing.T) {
	w := newFixture(t, nil)
	removed := make(chan struct{})
	w.run(func(o *worker.Options) { o.Database = unended{o.Database, removed, &sync.Once{}} })
	select {
	case <-removed:
	case <-time.After(time.Minute): // guards against hanging only
		t.Fatal("no changes were removed")
	}
}

func TestWorkerRemovesOldEventsIfItIsToldTo(t *testing.T) {
	w := newFixture(t, nil)
	w.pay("r1", payments.Success)
	stop := w.run() // which keeps them for ever
	w.until(ledger.EventDelivered, 1)
	stop()
	if n := read[int](w, "select count(*) from events"); n != 1 {
		t.Fatalf("%d events are left though they are kept for ever", n)
	}
	w.run(func(o *worker.Options) { o.EventRetention = time.Millisecond })
	eventually(t, func() string {
		if n := read[int](w, "select (select count(*) from events) + (select count(*) from delivery_attempts)"); n != 0 {
			return fmt.Sprintf("%d rows are left", n)
		}
		return ""
	})
	if n := read[int](w, "select count(*) from transactions"); n != 1 {
		t.Errorf("%d transactions are left", n)
	}
}
