package httpfront

import (
	"sync"

	"github.com/cauri-dev/cauri/server/telemetry"
)

// HeldBounds bound the number of answers that are held at a time. A held answer takes about 33 KiB of memory. When a
// bound is reached, further answers are sent at once. Zero means no bound.
type HeldBounds struct {
	Process int // maximum over all sandboxes
	Sandbox int // maximum of one sandbox, so that it does not use all of Process
}

// HeldAnswers counts held answers, and requests that wait for the reply to a callback. It implements [service.Waiting],
// and is safe for concurrent use.
type HeldAnswers struct {
	bounds  HeldBounds
	metrics *telemetry.API

	mu  sync.Mutex
	all int
	of  map[string]int // keys: organizations of sandboxes
}

// NewHeldAnswers returns a counter at zero. The parameter metrics counts the answers that are not held because of a
// bound; it may be nil.
func NewHeldAnswers(bounds HeldBounds, metrics *telemetry.API) *HeldAnswers {
	return &HeldAnswers{bounds: bounds, metrics: metrics, of: map[string]int{}}
}

// Count returns the number of held answers and waiting requests of an organization.
func (h *HeldAnswers) Count(organization string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of[organization]
}

// Acquire counts one more answer of an organization until release is called. It returns false if a bound is reached.
func (h *HeldAnswers) Acquire(organization string) (release func(), ok bool) {
	if reached := h.reserve(organization); reached != "" {
		h.metrics.NotHeld(reached)
		return func() {}, false
	}
	return func() { h.release(organization) }, true
}

// reserve counts one more answer. If a bound is reached, it counts nothing and returns the name of the bound.
func (h *HeldAnswers) reserve(organization string) (reached string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.bounds.Sandbox > 0 && h.of[organization] >= h.bounds.Sandbox:
		return telemetry.BoundSandbox
	case h.bounds.Process > 0 && h.all >= h.bounds.Process:
		return telemetry.BoundProcess
	}
	h.all++
	h.of[organization]++
	return ""
}

func (h *HeldAnswers) release(organization string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all--
	if h.of[organization]--; h.of[organization] == 0 {
		delete(h.of, organization)
	}
}
