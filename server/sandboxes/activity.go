package sandboxes

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/postgres"
)

// activity is the set of tenants in which something happened that a resource's status shows, since it was written down last.
type activity struct {
	mu      sync.Mutex
	tenants map[int64]struct{}
	written map[int64]time.Time // when tenants were written down last
}

// note remembers tenants.
func (a *activity) note(tenants ...int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tenants == nil {
		a.tenants = map[int64]struct{}{}
	}
	for _, tenant := range tenants {
		a.tenants[tenant] = struct{}{}
	}
}

// take returns the tenants to write down and forgets them. A tenant that was taken less than a pause ago stays.
func (a *activity) take(now time.Time, pause time.Duration) (taken []int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.written, func(_ int64, at time.Time) bool { return now.Sub(at) >= pause })
	for tenant := range a.tenants {
		if _, recently := a.written[tenant]; !recently {
			taken = append(taken, tenant)
		}
	}
	if len(taken) > 0 && a.written == nil {
		a.written = map[int64]time.Time{}
	}
	for _, tenant := range taken {
		delete(a.tenants, tenant)
		a.written[tenant] = now
	}
	return taken
}

const (
	// activityPeriod is how long it takes until something that happens in a quiet sandbox is written down: its status follows within
	// two seconds.
	activityPeriod = 500 * time.Millisecond
	// activityPause is how often what happens in one sandbox is written down at most.
	activityPause = 2 * time.Second
	// activityTimeout bounds the writing.
	activityTimeout = 5 * time.Second
)

// RunActivity writes down which sandboxes this store recorded or settled something in, so that the status of their resources
// follows: each at most every two seconds, and all once more when ctx ends. What is lost with a process shows when the sandbox is
// looked at next.
func (s *Store) RunActivity(ctx context.Context) {
	ticker := time.NewTicker(activityPeriod)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			_ = s.FlushActivity(context.WithoutCancel(ctx)) // there is nobody to try it again
			return
		case <-ticker.C:
		}
		err := s.writeActivity(ctx, activityPause)
		if err != nil && !failing && ctx.Err() == nil {
			slog.WarnContext(ctx, "activity cannot be written down; the status of resources stands still until it can", "error", err)
		}
		failing = err != nil
	}
}

// FlushActivity writes down all sandboxes now, see [Store.RunActivity].
func (s *Store) FlushActivity(ctx context.Context) error { return s.writeActivity(ctx, 0) }

// writeActivity writes down the sandboxes that were not written down during the last pause.
func (s *Store) writeActivity(ctx context.Context, pause time.Duration) error {
	tenants := s.active.take(time.Now(), pause)
	if len(tenants) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, activityTimeout)
	defer cancel()
	err := s.system().NoteActivity(ctx, tenants)
	if err != nil {
		s.active.note(tenants...)
	}
	return postgres.Classify(err, "writing down activity")
}

// NoteActivity remembers that something happened in some sandboxes that the status of their resources shows, see [Store.RunActivity].
// It is on the way of every payment, and asks the database nothing.
func (s *Store) NoteActivity(tenants ...int64) { s.active.note(tenants...) }
