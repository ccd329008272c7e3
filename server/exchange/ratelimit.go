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
	// rateShare is the part of a limit that a replica takes from the common count at once: 2 %, so that what it holds
	// unused keeps several replicas together within a tenth of the limit.
	rateShare = 50
	// rateKept is how long a replica may use what it took. The rest of it goes back when the replica takes again.
	rateKept = time.Second
	// ratePause is how long a refusal, or the database's absence, is repeated without asking again.
	ratePause = 200 * time.Millisecond
	// rateWaiting bounds the requests that wait for such answers, and so the memory that waiting takes.
	rateWaiting = 1000
	// rateTimeout bounds the asking. It goes on when the client goes away: others wait for the same answer.
	rateTimeout = 5 * time.Second
)

// limiter keeps sandboxes to their requests in any minute, over all replicas of the api: the count is in the database,
// and each replica takes small shares of it.
type limiter struct {
	sandboxes *sandboxes.Store
	now       func() time.Time

	mu      sync.Mutex
	shares  map[int64]*share
	waiting atomic.Int64 // requests that wait for the use of a share
}

// share is what a replica holds of one sandbox's limit.
type share struct {
	use   chan struct{}   // holds one while somebody uses the share
	grant sandboxes.Grant // its Requests are what is left of it
	err   error           // instead of a grant
	until time.Time       // of the grant, of its refusal, or of the error
}

// Allowance is what the rate limit of a sandbox allows when a request is counted.
type Allowance struct {
	Granted   bool
	Limit     int           // requests in a minute; 0: there is none
	remaining int           // requests
	reset     time.Duration // until some of it is given back
}

// Reset is in how many seconds some of it is given back, as headers say it.
func (a Allowance) Reset() string { return strconv.Itoa(int(math.Ceil(a.reset.Seconds()))) }

// describe says in headers how much of a limit is left, and when to try again if nothing is.
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

// take asks for one request of a tenant.
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

// enter waits for the use of a share.
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

// refill gets a share's next grant.
func (l *limiter) refill(ctx context.Context, s *share, tenant int64, limit int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rateTimeout)
	defer cancel()
	begun := l.now() // before the database's clock says in which second it was granted
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
