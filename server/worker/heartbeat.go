package worker

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// stuckAfter is the duration of a step after which the worker counts as stuck. All timeouts within a step are shorter,
// also those of the database. So a worker without a database is not stuck.
const stuckAfter = 2 * time.Minute

// watched are the sweeps that [Worker.Stuck] checks, because their steps are short. A step of the other sweeps may take
// long: it may include a pause, or remove any number of rows.
var watched = []string{"settlement", "delivery", "passthrough"}

// heartbeats record when each sweep began its last step.
type heartbeats struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func (h *heartbeats) beat(sweep string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		h.last = map[string]time.Time{}
	}
	h.last[sweep] = now
}

// stop forgets a sweep that has ended.
func (h *heartbeats) stop(sweep string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.last, sweep)
}

// Stuck returns an error that names a sweep whose step has run for longer than two minutes, or nil. Only a restart of
// the process helps.
func (w *Worker) Stuck() error {
	w.hearts.mu.Lock()
	defer w.hearts.mu.Unlock()
	for _, sweep := range slices.Sorted(maps.Keys(w.hearts.last)) {
		if age := w.now().Sub(w.hearts.last[sweep]); slices.Contains(watched, sweep) && age > stuckAfter {
			return fmt.Errorf("the sweep %s has been at one step for %s", sweep, age.Round(time.Second))
		}
	}
	return nil
}
