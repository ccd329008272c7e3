// Package generator makes HTTP load on connections that are kept alive, as cheaply as it can: what it takes of the processors is
// missing to the server that is measured. In a closed loop each connection sends its next request when it has its answer, which
// finds how much a server can do. In an open loop requests come at a rate, and their times count from the moment at which each was
// to be sent, so that a server that stalls is not spared the requests that would have come meanwhile.
package generator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// answerWithin is how long an answer may take, longer than any that is held.
const answerWithin = 60 * time.Second

// Target is what is asked, and of whom.
type Target struct {
	Addresses []string // host:port; connections are spread over them evenly
	// Append appends the n-th request, head and body, to a buffer. It is called by several goroutines.
	Append func(buffer []byte, n int64) []byte
	Status int // of an answer that is a success
	// Next is the number of the next request, shared by all generators that are not to repeat each other's. Nil: each begins at 0.
	Next *atomic.Int64
}

// Generator is a number of connections to a target.
type Generator struct {
	target Target
	all    []*connection
}

// Result is what became of a run.
type Result struct {
	Accepted int64 // answered with the target's status
	Shed     int64 // answered with 503: the server had too much to do, and did nothing
	Refused  int64 // answered with another one
	Failed   int64 // not answered
	Took     time.Duration
	Latency  Histogram     // of the accepted, from the moment at which a request was to be sent to the whole answer
	Late     time.Duration // the latest that a request was sent after its moment although a connection was free: the generator's shortcoming
	Problem  error         // the first that was refused or failed
}

// Rate is how many requests were accepted in a second.
func (r Result) Rate() float64 { return float64(r.Accepted) / r.Took.Seconds() }

// ShedPercent is how many of a hundred requests the server was too busy for.
func (r Result) ShedPercent() float64 {
	return 100 * float64(r.Shed) / float64(max(1, r.Accepted+r.Shed+r.Refused+r.Failed))
}

// Err is an error if a request was refused or not answered. One that was shed is neither: it says how fast the server is, and not that
// it does wrong.
func (r Result) Err() error {
	if r.Refused+r.Failed == 0 {
		return nil
	}
	return fmt.Errorf(
		"%d requests were refused and %d had no answer, beside %d accepted; the first: %w",
		r.Refused,
		r.Failed,
		r.Accepted,
		r.Problem,
	)
}

// Dial opens so many connections. [Generator.Close] closes them.
func Dial(ctx context.Context, target Target, connections int) (*Generator, error) {
	g := &Generator{target: target}
	if g.target.Next == nil {
		g.target.Next = new(atomic.Int64)
	}
	for i := range connections {
		c := &connection{address: target.Addresses[i%len(target.Addresses)]}
		if err := c.dial(ctx); err != nil {
			g.Close()
			return nil, fmt.Errorf("connecting the load generator: %w", err)
		}
		g.all = append(g.all, c)
	}
	return g, nil
}

// Close closes the connections.
func (g *Generator) Close() {
	for _, c := range g.all {
		c.close()
	}
}

// Closed sends requests one after the other on each connection for a time, and returns when the last is answered. When ctx ends, what
// is under way is given up.
func (g *Generator) Closed(ctx context.Context, length time.Duration) Result {
	end := time.Now().Add(length)
	return g.run(ctx, length, func(c *connection, r *Result) {
		for ctx.Err() == nil {
			begun := time.Now()
			if !begun.Before(end) {
				return
			}
			g.send(ctx, c, g.target.Next.Add(1)-1, begun, end, r)
		}
	})
}

// Open sends requests at a rate, a second, for a time: the next connection that is free takes the next request, waits for its moment, and
// sends it. Where no connection is free at that moment, the request waits for one, and the wait counts.
func (g *Generator) Open(ctx context.Context, rate float64, length time.Duration) Result {
	begun, end := time.Now(), time.Now().Add(length)
	first := g.target.Next.Load()
	count := int64(rate * length.Seconds())
	every := float64(time.Second) / rate
	result := g.run(ctx, length, func(c *connection, r *Result) {
		for {
			n := g.target.Next.Add(1) - 1
			if n-first >= count {
				return
			}
			moment := begun.Add(time.Duration(float64(n-first) * every))
			if wait := time.Until(moment); wait > 0 {
				if !rest(ctx, wait) {
					return
				}
				r.Late = max(r.Late, time.Since(moment))
			}
			if ctx.Err() != nil {
				return
			}
			g.send(ctx, c, n, moment, end, r)
		}
	})
	result.Took = max(result.Took, length)
	return result
}

// run lets every connection work and adds up what they did.
func (g *Generator) run(ctx context.Context, length time.Duration, work func(*connection, *Result)) Result {
	begun := time.Now()
	stop := context.AfterFunc(ctx, func() {
		for _, c := range g.all {
			_ = c.until(begun) // one that is broken ends by itself
		}
	})
	defer stop()
	results := make([]Result, len(g.all))
	var working sync.WaitGroup
	for i, c := range g.all {
		_ = c.until(begun.Add(length + answerWithin)) // of one that is broken: the exchange tells
		working.Go(func() { work(c, &results[i]) })
	}
	working.Wait()
	total := Result{Took: time.Since(begun)}
	for i := range results {
		total.add(&results[i])
	}
	return total
}

func (r *Result) add(other *Result) {
	r.Accepted += other.Accepted
	r.Shed += other.Shed
	r.Refused += other.Refused
	r.Failed += other.Failed
	r.Latency.Merge(&other.Latency)
	r.Late = max(r.Late, other.Late)
	if r.Problem == nil {
		r.Problem = other.Problem
	}
}

// send makes one exchange, whose time counts from a moment.
func (g *Generator) send(ctx context.Context, c *connection, n int64, moment, end time.Time, r *Result) {
	status, err := g.exchange(ctx, c, n, end)
	switch {
	case err != nil:
		r.Failed++
		if r.Problem == nil {
			r.Problem = fmt.Errorf("no answer: %w", err)
		}
	case status == http.StatusServiceUnavailable && status != g.target.Status:
		r.Shed++
	case status != g.target.Status:
		r.Refused++
		if r.Problem == nil {
			r.Problem = fmt.Errorf("%d %s", status, c.body)
		}
	default:
		r.Accepted++
		r.Latency.Add(time.Since(moment))
	}
}

// exchange sends a request on a connection, which is opened again where it was closed.
func (g *Generator) exchange(ctx context.Context, c *connection, n int64, end time.Time) (int, error) {
	if c.conn == nil {
		rest(ctx, time.Millisecond) // a server that is away is not to be asked as fast as that is said
		if err := errors.Join(ctx.Err(), c.dial(ctx)); err != nil {
			return 0, err
		}
		if err := c.until(end.Add(answerWithin)); err != nil {
			return 0, err
		}
	}
	c.request = g.target.Append(c.request[:0], n)
	return c.exchange()
}

// rest waits; it returns false if ctx ends first.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
