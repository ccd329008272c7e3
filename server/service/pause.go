package service

import (
	"context"
	"time"
)

// pause waits for d and returns true. If the process is told to stop or ctx ends, it returns false at once.
func (s *Service) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case <-s.draining:
		return false
	}
}
