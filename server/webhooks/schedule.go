package webhooks

import (
	"math"
	"net/http"
	"time"
)

// Schedule decides when an event that was not acknowledged is sent again: the n-th retry follows the previous attempt
// after InitialDelay * Factor^(n-1), at most MaxDelay, with jitter. Retries are not the only cause of a second sending:
// the comment of judge in server/worker/delivery.go lists all of them.
type Schedule struct {
	MaxRetries   int
	InitialDelay time.Duration
	Factor       float64
	MaxDelay     time.Duration
}

// jitterShare is the part of a delay that is random, in both directions, so that events that failed together are not retried together.
const jitterShare = 0.1

// Next returns the time until the next attempt; again is false if there is none. attempts is the number of attempts so
// far, including the one with the result r. The function chance returns a random number in [0, 1).
func (s Schedule) Next(attempts int, r Result, chance func() float64) (delay time.Duration, again bool) {
	if r.Status == http.StatusGone || attempts > s.MaxRetries {
		return 0, false
	}
	// The power may be infinite. It is bounded, because infinity times an initial delay of 0 is not a number.
	growth := math.Min(math.Pow(s.Factor, float64(attempts-1)), math.MaxFloat64)
	seconds := math.Min(s.InitialDelay.Seconds()*growth, s.MaxDelay.Seconds())
	delay = min(s.MaxDelay, time.Duration(seconds*float64(time.Second)))
	delay += time.Duration((2*chance() - 1) * jitterShare * float64(delay))
	if r.RetryAfter > 0 { // the receiver asked for it, up to the maximum
		delay = max(delay, min(r.RetryAfter, s.MaxDelay))
	}
	return delay, true
}

// AfterProbe returns the minimum wait of an event after an unsuccessful probe of its failing endpoint.
func (s Schedule) AfterProbe(r Result) time.Duration { return min(r.RetryAfter, s.MaxDelay) }
