package httpfront

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
	// rateShare divides a limit into shares. A replica reserves one share at a time in the database. With five
	// replicas, the reserved and unused requests are at most a tenth of the limit.
	rateShare = 50
	// rateKept is how long a replica may use a share. The replica returns the unused rest with its next query.
	rateKept = time.Second
	// ratePause is how long a replica answers with the last refusal or database error, without another query.
	ratePause = 200 * time.Millisecond
	// rateWaiting bounds the number of requests that wait for a share.
	rateWaiting = 1000
	// rateTimeout bounds the query for a share. The query continues when the client disconnects, because other requests
	// wait for it.
	rateTimeout = 5 * time.Second
)

// limiter limits the requests of a sandbox in a minute, over all replicas of the api. The database has the common
// count. Each replica reserves small shares of the limit.
type limiter struct {
	sandboxes *sandboxes.Registry
	now       func() time.Time

	mu      sync.Mutex
	shares  map[int64]*share
	waiting atomic.Int64 // number of requests that wait in enter
}

// share is the part of a sandbox's limit that a replica has reserved.
type share struct {
	use   chan struct{}   // mutex: full while a request uses the share
	grant sandboxes.Grant // Requests is the number of requests that are left
	err   error           // error of the last query
	until time.Time       // expiry of grant or err
}

// Allowance is the result of the rate limit for one request.
type Allowance struct {
	Granted   bool
	Limit     int           // maximum of requests in a minute; 0: no limit
	remaining int           // requests left in this minute
	reset     time.Duration // time until the count starts again
}

// Reset returns the number of seconds until more requests are allowed, rounded up.
func (a Allowance) Reset() string { return strconv.Itoa(int(math.Ceil(a.reset.Seconds()))) }

// describe sets the rate limit headers, and Retry-After if the request is refused.
func (a Allowance) describe(header http.Header) {
	header.Set("X-RateLimit-Limit", strconv.Itoa(a.Limit))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(a.remaining))
	header.Set("X-RateLimit-Reset", a.Reset())
	if !a.Granted {
		header.Set("Retry-After", a.Reset())
	}
}

// ErrRateLimited is returned for a request beyond a rate limit: that of its sandbox, or that of a guest.
type ErrRateLimited struct{ Allowance }

func (e ErrRateLimited) Error() string {
	return fmt.Sprintf("the limit of %d requests a minute is reached", e.Limit)
}

// allow counts one request of a tenant against its limit.
func (l *limiter) allow(ctx context.Context, tenant int64, limit int) (Allowance, error) {
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
		s.until = time.Time{} // the next request refills
	}
	a.Granted, a.remaining = true, a.remaining+s.grant.Requests
	return a, nil
}

// enter locks a share; the caller receives from s.use to unlock it. It returns [postgres.ErrOverloaded] if too many
// requests wait, and [postgres.ErrUnavailable] when ctx ends.
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

// refill returns the unused rest of a share to the database, and reserves the next requests.
func (l *limiter) refill(ctx context.Context, s *share, tenant int64, limit int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rateTimeout)
	defer cancel()
	begun := l.now() // read before the query, so that the share expires at most a second after its reservation
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
