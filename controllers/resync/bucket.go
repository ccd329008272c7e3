package resync

import "time"

// bucket is a token bucket. Its methods take the current time, which must be monotonic. It is not safe for concurrent
// use.
type bucket struct {
	burst     float64 // maximum number of tokens
	perSecond float64
	tokens    float64 // may be negative after spend
	filledAt  time.Time
}

// newBucket returns a full bucket.
func newBucket(perSecond, burst float64, now time.Time) *bucket {
	return &bucket{burst: burst, perSecond: perSecond, tokens: burst, filledAt: now}
}

// allow takes a token. It returns false if there is less than one.
func (b *bucket) allow(now time.Time) bool {
	b.refill(now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// spend takes a token even if there is none. The number of tokens may become negative, at least -burst.
func (b *bucket) spend(now time.Time) {
	b.refill(now)
	b.tokens = max(b.tokens-1, -b.burst)
}

// putBack adds a token that was taken but not used.
func (b *bucket) putBack() { b.tokens = min(b.tokens+1, b.burst) }

// wait returns the time until there is a whole token; 0 if there is one.
func (b *bucket) wait(now time.Time) time.Duration {
	b.refill(now)
	if b.tokens >= 1 {
		return 0
	}
	// A microsecond is added for the rounding errors of the division.
	return time.Duration((1-b.tokens)/b.perSecond*float64(time.Second)) + time.Microsecond
}

func (b *bucket) refill(now time.Time) {
	b.tokens = min(b.tokens+now.Sub(b.filledAt).Seconds()*b.perSecond, b.burst)
	b.filledAt = now
}
