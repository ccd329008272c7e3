package sandboxes

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/postgres"
)

// activity is the set of tenants in which something happened that a resource's status shows, since it was written down last.
type activity struct {
	mu      sync.Mutex
	tenants map[int64]struct{}
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

// take returns what was remembered and forgets it.
func (a *activity) take() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	taken := slices.Collect(maps.Keys(a.tenants))
	a.tenants = nil
	return taken
}

const (
	// activityPeriod is how often what happened is written down: a status follows within seconds.
	activityPeriod = 2 * time.Second
	// activityTimeout bounds the writing.
	activityTimeout = 5 * time.Second
)

// RunActivity writes down, every two seconds and once more when ctx ends, which sandboxes this store recorded or settled
// something in, so that the status of their resources follows. What is lost with a process shows when the sandbox is looked at next.
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
		err := s.FlushActivity(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			slog.WarnContext(ctx, "activity cannot be written down; the status of resources stands still until it can", "error", err)
		}
		failing = err != nil
	}
}

// FlushActivity is one round of [Store.RunActivity].
func (s *Store) FlushActivity(ctx context.Context) error {
	tenants := s.active.take()
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
