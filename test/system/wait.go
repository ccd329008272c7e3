package system

import (
	"context"
	"fmt"
	"time"
)

// pollEvery is how often something that is waited for is looked at.
const pollEvery = 20 * time.Millisecond

// Until waits for a condition, which returns nil once it holds and otherwise says what is missing. Its error tells what was
// waited for and what was missing last.
func Until(ctx context.Context, within time.Duration, what string, condition func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var missing error
	for {
		err := condition(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil { // what fails because the time is over says nothing
			missing = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s not within %s: %w", what, within, missing)
		case <-ticker.C:
		}
	}
}

// Rest waits, for load that comes at a rate. It returns false if ctx ends first.
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
