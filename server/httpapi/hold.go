package httpapi

import (
	"context"
	"time"
)

// hold waits until an answer is due. Nothing else is held meanwhile: no connection to the database, no lock; the transaction is
// committed. The middleware calls it outside of all handlers, where the stack is short: thousands of deep ones would need more
// memory than all else. It ends early when the client goes away or the process is told to stop.
func (s *Server) hold(ctx context.Context, until time.Time) {
	wait := until.Sub(s.now())
	if wait <= 0 {
		return
	}
	s.metrics.Hold()
	defer s.metrics.Release()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.draining:
	}
}
