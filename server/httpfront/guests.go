package httpfront

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/cauri-dev/cauri/server/postgres"
)

// Guest is somebody who uses a sandbox without its API key and without all rights: the holder of a link to one phone, a
// viewer, or the payer of an order. Requests of guests do not count against the rate limit of the sandbox. They use
// only a small share of the connections to its database.
type Guest struct {
	ID        string     // names the session or the order
	PerSecond rate.Limit // average number of requests per second
	Burst     int        // maximum number of requests at once
}

// guestsAtOnce is how many requests of all guests of a sandbox are carried out at a time. The others wait.
const guestsAtOnce = 4

// guestsKnown is the number of known guests from which on a process forgets those who have sent nothing for a long
// time.
const guestsKnown = 10_000

// guests limits the requests of guests in a process. It is safe for concurrent use.
type guests struct {
	mu    sync.Mutex
	rates map[string]*rate.Limiter
	turns map[string]turns // by organization
}

// turns has one element for each request of a sandbox's guests that is being carried out. Its capacity is guestsAtOnce.
type turns chan struct{}

// acquire waits for a turn. The caller calls end when its request is carried out.
func (t turns) acquire(ctx context.Context) (end func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, postgres.ErrOverloaded
	}
}

// AdmitGuest admits a request of a guest of an organization, and notes that a guest sent it. The caller calls end when the
// request is carried out. AdmitGuest returns [ErrRateLimited] if the guest has sent too many, and [postgres.ErrOverloaded]
// if the request waits for those of other guests for too long.
func (x *Pipeline) AdmitGuest(r *http.Request, organization string, g Guest) (end func(), err error) {
	c := callOf(r)
	c.guest = true
	a, t := x.guests.count(organization, g, x.now())
	if !a.Granted {
		return nil, ErrRateLimited{a}
	}
	c.turns = t
	return t.acquire(r.Context())
}

// count counts a request of a guest.
func (g *guests) count(organization string, from Guest, now time.Time) (Allowance, turns) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own, of := g.rates[from.ID], g.turns[organization]
	if own == nil {
		g.forget(now)
		own = rate.NewLimiter(from.PerSecond, from.Burst)
		g.rates[from.ID] = own
	}
	if of == nil {
		of = make(turns, guestsAtOnce)
		g.turns[organization] = of
	}
	a := Allowance{Granted: own.AllowN(now, 1), Limit: int(from.PerSecond * 60), remaining: int(own.TokensAt(now))}
	if !a.Granted {
		a.reset = time.Duration((1 - own.TokensAt(now)) / float64(from.PerSecond) * float64(time.Second))
	}
	return a, of
}

// forget removes the guests who may again send Burst requests at once. It does nothing while fewer than guestsKnown
// guests are known.
func (g *guests) forget(now time.Time) {
	if len(g.rates) < guestsKnown {
		return
	}
	for id, own := range g.rates {
		if own.TokensAt(now) >= float64(own.Burst()) {
			delete(g.rates, id)
		}
	}
}
