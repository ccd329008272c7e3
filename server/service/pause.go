package service

import (
	"context"
	"time"
)

// pause waits for d. It returns false early if the process was told to stop, or ctx ended.
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
