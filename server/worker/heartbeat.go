package worker

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// stuckAfter is how long a step of a sweep may take before the worker counts as stuck. All that a step waits for, the database above
// all, has a shorter limit of its own: a worker whose database is away is not stuck.
const stuckAfter = 2 * time.Minute

// watched are the sweeps whose steps are short. The others rest within a step, or remove rows for as long as there are some.
var watched = []string{"settlement", "delivery", "passthrough"}

// heartbeats tell when each sweep began its last step.
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

// Stuck returns an error that names a sweep which has been at the same step for so long that only a new process helps.
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
