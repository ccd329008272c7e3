package worker

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/queues"
)

// countedPolls is a database that counts the looks for queues in use.
type countedPolls struct {
	Database
	found atomic.Pointer[queues.InUse]
	polls atomic.Int64
}

func (c *countedPolls) QueuesInUse(context.Context) (queues.InUse, error) {
	c.polls.Add(1)
	return *c.found.Load(), nil
}

// A quiet worker looks for rows less often, until it finds one.
func TestQuietWorkerLooksLessOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &countedPolls{}
		db.found.Store(&queues.InUse{})
		w := New(Options{Database: db})
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer stop()
		go w.sweep(ctx, "queues", w.findQueuesInUse)
		expect := func(when string, pause time.Duration) {
			t.Helper()
			synctest.Wait()
			before := db.polls.Load()
			time.Sleep(20 * pause)
			synctest.Wait()
			if polls := db.polls.Load() - before; polls != 20 {
				t.Errorf("%s: %d looks in %s, not 20", when, polls, 20*pause)
			}
		}
		db.found.Store(&queues.InUse{Settlements: true})
		expect("in use", idlePause)
		db.found.Store(&queues.InUse{})
		expect("empty a moment ago", idlePause)
		time.Sleep(quietAfter)
		expect("quiet", quietPause)
		db.found.Store(&queues.InUse{Events: true})
		time.Sleep(quietPause)
		expect("in use again", idlePause)
		db.found.Store(&queues.InUse{Expectations: true, Passes: true}) // which are looked at at their own pace
		time.Sleep(quietAfter)
		expect("quiet, with open expectations", quietPause)
	})
}
