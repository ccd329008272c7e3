package system

import (
	"context"
	"fmt"
	"time"
)

// pollEvery is the polling interval.
const pollEvery = 20 * time.Millisecond

// patience is how many times as long as its limit [Until] waits at most.
const patience = 10

// Until polls a condition until it returns nil. Otherwise the condition returns what is missing. As long as that changes, a slow
// machine makes progress, and the limit begins anew. The error of Until contains the description and the last missing part.
func Until(ctx context.Context, within time.Duration, what string, condition func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience*within)
	defer cancel()
	hangs := time.AfterFunc(within, cancel)
	defer hangs.Stop()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var missing error
	for {
		err := condition(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil { // an error because of the timeout says nothing
			if missing != nil && missing.Error() != err.Error() {
				hangs.Reset(within)
			}
			missing = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s not within %s: %w", what, within, missing)
		case <-ticker.C:
		}
	}
}

// Rest waits, for load at a fixed rate. It returns false if ctx ends first.
func Rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
