package exchange

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// A replica takes a part of a limit from the common count at once: 1/rateShare. So the unused parts of five replicas
	// are a tenth of the limit at most.
	rateShare = 50
	// rateKept is how long a replica may use a share. The unused rest goes back when the replica takes the next share.
	rateKept = time.Second
	// ratePause is how long a refusal, or an error of the database, is repeated without another query.
	ratePause = 200 * time.Millisecond
	// rateWaiting bounds the requests that wait for a share, and so the memory for them.
	rateWaiting = 1000
	// rateTimeout bounds the query for a share. The query goes on when the client disconnects, since others wait for
	// it.
	rateTimeout = 5 * time.Second
)

// limiter limits the requests of a sandbox in a minute, over all replicas of the api. The count is in the database, and
// each replica takes small shares of it.
type limiter struct {
	sandboxes *sandboxes.Store
	now       func() time.Time

	mu      sync.Mutex
	shares  map[int64]*share
	waiting atomic.Int64 // requests that wait for their turn at a share
}

// share is the part of a sandbox's limit that a replica holds.
type share struct {
	use   chan struct{}   // full while a request uses the share
	grant sandboxes.Grant // Requests counts down to 0
	err   error           // why there is no grant
	until time.Time       // when the grant, the refusal or the error expires
}

// Allowance is the answer of the rate limit to one request.
type Allowance struct {
	Granted   bool
	Limit     int           // requests in a minute; 0: no limit
	remaining int           // requests
	reset     time.Duration // until more requests are allowed
}

// Reset returns in how many seconds more requests are allowed, as a header has it.
func (a Allowance) Reset() string { return strconv.Itoa(int(math.Ceil(a.reset.Seconds()))) }

// describe sets the headers that say how much of a limit is left, and when to try again if nothing is.
func (a Allowance) describe(header http.Header) {
	header.Set("X-RateLimit-Limit", strconv.Itoa(a.Limit))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(a.remaining))
	header.Set("X-RateLimit-Reset", a.Reset())
	if !a.Granted {
		header.Set("Retry-After", a.Reset())
	}
}

// ErrRateLimited is returned for a request beyond the rate limit of its sandbox.
type ErrRateLimited struct{ Allowance }

func (e ErrRateLimited) Error() string {
	return fmt.Sprintf("the limit of %d requests a minute is reached", e.Limit)
}

// take counts one request of a tenant against its limit.
func (l *limiter) take(ctx context.Context, tenant int64, limit int) (Allowance, error) {
	s := l.share(tenant)
	if err := l.enter(ctx, s); err != nil {
		return Allowance{}, err
	}
	defer func() { <-s.use }()
	if l.now().After(s.until) {
		l.refill(ctx, s, tenant, limit)
	}
	if s.err != nil {
		return Allowance{}, s.err
	}
	a := Allowance{Limit: limit, remaining: s.grant.Remaining, reset: s.grant.Reset}
	if s.grant.Requests == 0 {
		return a, nil
	}
	s.grant.Requests--
	if s.grant.Requests == 0 {
		s.until = time.Time{} // the next request asks again
	}
	a.Granted, a.remaining = true, a.remaining+s.grant.Requests
	return a, nil
}

// enter waits for the turn to use a share; the caller receives from s.use to leave. It returns [postgres.ErrOverloaded]
// if too many requests wait, and [postgres.ErrUnavailable] when ctx ends.
func (l *limiter) enter(ctx context.Context, s *share) error {
	select {
	case s.use <- struct{}{}:
		return nil
	default:
	}
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > rateWaiting {
		return postgres.ErrOverloaded
	}
	select {
	case s.use <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: waiting for the count of requests: %w", postgres.ErrUnavailable, ctx.Err())
	}
}

// refill takes the next grant of a share from the database.
func (l *limiter) refill(ctx context.Context, s *share, tenant int64, limit int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rateTimeout)
	defer cancel()
	begun := l.now() // before the query, so that the share does not outlast the second that it was granted in
	s.grant, s.err = l.sandboxes.TakeRequests(ctx, tenant, limit, max(1, limit/rateShare), s.grant)
	if s.until = begun.Add(rateKept); s.grant.Requests == 0 {
		s.until = l.now().Add(ratePause)
	}
}

func (l *limiter) share(tenant int64) *share {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shares[tenant]
	if s == nil {
		s = &share{use: make(chan struct{}, 1)}
		l.shares[tenant] = s
	}
	return s
}
