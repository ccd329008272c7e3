package httpapi

import (
	"context"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/telemetry"
)

// HeldAnswers bounds how many answers are held at a time, each of which costs about 33 KiB of memory. Beyond a bound answers go out at
// once. Zero is no bound.
type HeldAnswers struct {
	Process int // of all sandboxes
	Sandbox int // of one sandbox, so that it does not take what is for all
}

// heldAnswers counts the answers that are held. It is safe for concurrent use.
type heldAnswers struct {
	bounds HeldAnswers

	mu  sync.Mutex
	all int
	of  map[string]int // by the sandbox's organization
}

// count is how many answers of a sandbox are held.
func (h *heldAnswers) count(organization string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of[organization]
}

// take counts one more, if no bound is reached; otherwise it names the bound.
func (h *heldAnswers) take(organization string) (reached string) {
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

func (h *heldAnswers) giveBack(organization string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all--
	if h.of[organization]--; h.of[organization] == 0 {
		delete(h.of, organization)
	}
}

// waiting counts requests that wait for something else than their answer's time among the answers that are held.
type waiting struct{ server *Server }

// Take implements [service.Waiting].
func (w waiting) Take(organization string) (release func(), ok bool) {
	held := w.server.held
	if reached := held.take(organization); reached != "" {
		w.server.metrics.NotHeld(reached)
		return func() {}, false
	}
	return func() { held.giveBack(organization) }, true
}

// Count implements [service.Waiting].
func (w waiting) Count(organization string) int { return w.server.held.count(organization) }

// hold waits until an answer is due, and the event that is to be sent before it was sent. Nothing else is held meanwhile: no connection
// to the database, no lock; the transaction is committed. The middleware calls it outside of all handlers, where the stack is short:
// thousands of deep ones would need more memory than all else. It ends early when the client goes away or the process is told to stop,
// and does not wait at all beyond the bounds of [HeldAnswers].
func (s *Server) hold(ctx context.Context, a *answer) {
	wait := a.due.Sub(s.now())
	if wait <= 0 && a.event == nil {
		return
	}
	if reached := s.held.take(a.organization); reached != "" {
		s.metrics.NotHeld(reached)
		return
	}
	defer s.held.giveBack(a.organization)
	s.metrics.Hold()
	defer s.metrics.Release()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	case <-s.draining:
		return
	}
	if a.event != nil {
		a.event.Wait(ctx)
	}
}
