package sandboxes

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/postgres"
)

// activity is the set of tenants that were active since they were last recorded as active. The status of their
// resources is out of date.
type activity struct {
	mu      sync.Mutex
	tenants map[int64]struct{}
	written map[int64]time.Time // when each tenant was recorded last
}

// note adds tenants to the set.
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

// take removes the tenants to record from the set and returns them. A tenant that was taken less than a pause ago stays
// in the set.
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
	// activityPeriod is the time until activity in a quiet sandbox is recorded, so that its status follows within two
	// seconds.
	activityPeriod = 500 * time.Millisecond
	// activityPause is the shortest time between two records of activity in one sandbox.
	activityPause = 2 * time.Second
	// activityTimeout bounds one statement that records activity.
	activityTimeout = 5 * time.Second
)

// RunActivity records in the database which sandboxes are active, so that the controller updates the status of their
// resources: each sandbox at most every two seconds, and all of them once more when ctx ends. If a process dies before
// that, the status follows when the controller next reconciles the sandbox.
func (s *Registry) RunActivity(ctx context.Context) {
	ticker := time.NewTicker(activityPeriod)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			_ = s.FlushActivity(context.WithoutCancel(ctx)) // nobody tries again
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

// FlushActivity records all active sandboxes now, see [Registry.RunActivity].
func (s *Registry) FlushActivity(ctx context.Context) error { return s.writeActivity(ctx, 0) }

// writeActivity records the active sandboxes that were not recorded during the last pause.
func (s *Registry) writeActivity(ctx context.Context, pause time.Duration) error {
	tenants := s.active.take(time.Now(), pause)
	if len(tenants) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, activityTimeout)
	defer cancel()
	err := s.unscoped().NoteActivity(ctx, tenants)
	if err != nil {
		s.active.note(tenants...)
	}
	return postgres.Classify(err, "writing down activity")
}

// NoteActivity notes that the status of the resources of these sandboxes is out of date, see [Registry.RunActivity]. Every
// payment calls it, so it sends no statement.
func (s *Registry) NoteActivity(tenants ...int64) { s.active.note(tenants...) }
