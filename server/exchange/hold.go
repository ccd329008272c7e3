package exchange

import (
	"sync"

	"github.com/cauri-dev/cauri/server/telemetry"
)

// HeldBounds bound how many answers are held at a time, each of which costs about 33 KiB of memory. Beyond a bound
// answers go out at once. Zero is no bound.
type HeldBounds struct {
	Process int // of all sandboxes
	Sandbox int // of one sandbox, so that it does not take what is for all
}

// HeldAnswers count the answers that are held, and the requests that wait for something else than the time of their
// answer. It implements [service.Waiting], and is safe for concurrent use.
type HeldAnswers struct {
	bounds  HeldBounds
	metrics *telemetry.API

	mu  sync.Mutex
	all int
	of  map[string]int // by the sandbox's organization
}

// NewHeldAnswers counts none yet. Without metrics, which may be nil, it does not tell that a bound is reached.
func NewHeldAnswers(bounds HeldBounds, metrics *telemetry.API) *HeldAnswers {
	return &HeldAnswers{bounds: bounds, metrics: metrics, of: map[string]int{}}
}

// Count is how many answers of a sandbox are held.
func (h *HeldAnswers) Count(organization string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of[organization]
}

// Take counts one more until release is called, or returns false if a bound is reached.
func (h *HeldAnswers) Take(organization string) (release func(), ok bool) {
	if reached := h.take(organization); reached != "" {
		h.metrics.NotHeld(reached)
		return func() {}, false
	}
	return func() { h.giveBack(organization) }, true
}

// take counts one more, if no bound is reached; otherwise it names the bound.
func (h *HeldAnswers) take(organization string) (reached string) {
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

func (h *HeldAnswers) giveBack(organization string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all--
	if h.of[organization]--; h.of[organization] == 0 {
		delete(h.of, organization)
	}
}
