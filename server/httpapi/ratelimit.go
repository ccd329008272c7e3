package httpapi

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/store"
)

const (
	// rateShare is the part of a limit that a replica takes from the common count at once: 2 %, so that what it holds unused
	// keeps several replicas together within a tenth of the limit.
	rateShare = 50
	// rateKept is how long a replica may keep what it took.
	rateKept = 5 * time.Second
	// ratePause is how long a refusal is repeated without asking again.
	ratePause = 200 * time.Millisecond
)

// limiter keeps sandboxes to their requests in any minute, over all replicas of the api: the count is in the database, and each
// replica takes small shares of it.
type limiter struct {
	store *store.Store
	now   func() time.Time

	mu     sync.Mutex
	shares map[int64]*share
}

// share is what a replica holds of one sandbox's limit.
type share struct {
	mu    sync.Mutex
	left  int
	until time.Time // of what is left, or of a refusal
	grant store.Grant
}

// allowance is the answer to one request.
type allowance struct {
	granted   bool
	remaining int
	reset     time.Duration
}

// take asks for one request of a tenant.
func (l *limiter) take(ctx context.Context, tenant int64, limit int) (allowance, error) {
	s := l.share(tenant)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := l.now()
	if now.After(s.until) {
		grant, err := l.store.TakeRequests(ctx, tenant, limit, max(1, limit/rateShare))
		if err != nil {
			return allowance{}, err
		}
		s.grant, s.left, s.until = grant, grant.Requests, now.Add(rateKept)
		if grant.Requests == 0 {
			s.until = now.Add(ratePause)
		}
	}
	if s.left == 0 {
		return allowance{reset: s.grant.Reset}, nil
	}
	s.left--
	if s.left == 0 {
		s.until = time.Time{} // the next request asks again
	}
	return allowance{granted: true, remaining: s.grant.Remaining + s.left, reset: s.grant.Reset}, nil
}

func (l *limiter) share(tenant int64) *share {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shares[tenant]
	if s == nil {
		s = &share{}
		l.shares[tenant] = s
	}
	return s
}

// limitRate refuses requests beyond the sandbox's rate limit, and tells every caller how much of it is left.
func (s *Server) limitRate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sandbox := sessionOf(r).sandbox
		if sandbox.RateLimit == 0 {
			next.ServeHTTP(w, r)
			return
		}
		a, err := s.limiter.take(r.Context(), sandbox.Tenant, sandbox.RateLimit)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		reset := strconv.Itoa(int(math.Ceil(a.reset.Seconds())))
		w.Header().Set("X-RateLimit-Limit", strconv.Itoa(sandbox.RateLimit))
		w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(a.remaining))
		w.Header().Set("X-RateLimit-Reset", reset)
		if !a.granted {
			w.Header().Set("Retry-After", reset)
			s.fail(w, r, &Error{Status: http.StatusTooManyRequests, Code: "rate_limited",
				Message: fmt.Sprintf("This sandbox takes %d requests a minute. Try again in %s seconds.", sandbox.RateLimit, reset)})
			return
		}
		next.ServeHTTP(w, r)
	})
}
