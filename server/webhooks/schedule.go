package webhooks

import (
	"math"
	"net/http"
	"time"
)

// Schedule says when an event that was not acknowledged is sent again: the n-th retry follows the attempt before it after
// InitialDelay * Factor^(n-1), at most MaxDelay, with jitter.
type Schedule struct {
	MaxRetries   int
	InitialDelay time.Duration
	Factor       float64
	MaxDelay     time.Duration
}

// jitterShare is how much of a delay is left to chance, to either side, so that what failed together is not retried together.
const jitterShare = 0.1

// Next is the time from an attempt to the one after it; again is false when there is none. attempts counts those made so far,
// with the one that r is the result of. The function chance returns a number in [0, 1).
func (s Schedule) Next(attempts int, r Result, chance func() float64) (delay time.Duration, again bool) {
	if r.Status == http.StatusGone || attempts > s.MaxRetries {
		return 0, false
	}
	// The power may be infinite, and is kept from being multiplied by a first delay of nothing.
	growth := math.Min(math.Pow(s.Factor, float64(attempts-1)), math.MaxFloat64)
	seconds := math.Min(s.InitialDelay.Seconds()*growth, s.MaxDelay.Seconds())
	delay = min(s.MaxDelay, time.Duration(seconds*float64(time.Second)))
	delay += time.Duration((2*chance() - 1) * jitterShare * float64(delay))
	if r.RetryAfter > 0 { // the receiver knows better, within the cap
		delay = max(delay, min(r.RetryAfter, s.MaxDelay))
	}
	return delay, true
}

// AfterProbe is how long an event waits at least after it was sent, without effect, to see whether an endpoint works again.
func (s Schedule) AfterProbe(r Result) time.Duration { return min(r.RetryAfter, s.MaxDelay) }
