// Package generator makes HTTP load on keep-alive connections. It uses little processor time, which the measured server
// needs. In a closed loop, each connection sends its next request after its answer, which measures the highest rate of
// the server. In an open loop, requests have planned times at a fixed rate, and latencies count from there. A stall of
// the server thus also counts for the requests that were planned during the stall.
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

// answerWithin is the timeout of an answer, longer than any delay of the api.
const answerWithin = 60 * time.Second

// Target is the server and its requests.
type Target struct {
	Addresses []string // host:port; connections are distributed evenly
	// Append appends the n-th request, head and body, to a buffer. It must be safe for concurrent calls.
	Append func(buffer []byte, n int64) []byte
	Status int // of a successful answer
	// Next is the number of the next request. Generators that must not repeat each other's requests share it. Nil: each
	// starts at 0.
	Next *atomic.Int64
}

// Generator is a number of connections to a target.
type Generator struct {
	target Target
	all    []*connection
}

// Result is the result of a run.
type Result struct {
	Accepted int64 // answered with the target's status
	Shed     int64 // answered with 503: the server was overloaded and did nothing
	Refused  int64 // answered with another status
	Failed   int64 // not answered
	Took     time.Duration
	Latency  Histogram     // latencies of accepted requests, from the planned time to the complete answer
	Late     time.Duration // largest delay of a request although a connection was free: an error of the generator
	Problem  error         // the first refusal or failure
}

// Rate is the number of accepted requests per second.
func (r Result) Rate() float64 { return float64(r.Accepted) / r.Took.Seconds() }

// ShedPercent is the percentage of requests that the server shed.
func (r Result) ShedPercent() float64 {
	return 100 * float64(r.Shed) / float64(max(1, r.Accepted+r.Shed+r.Refused+r.Failed))
}

// Err returns an error if a request was refused or not answered. Shed requests are no error: they show the speed of the
// server, not a fault.
func (r Result) Err() error {
	if r.Refused+r.Failed == 0 {
		return nil
	}
	return fmt.Errorf(
		"%d requests were refused, %d had no answer, %d were accepted; the first error: %w",
		r.Refused,
		r.Failed,
		r.Accepted,
		r.Problem,
	)
}

// Dial opens n connections. [Generator.Close] closes them.
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

// Closed sends requests one after the other on each connection for a duration, and returns after the last answer. If
// ctx ends, it cancels the requests in progress.
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

// Open sends requests at a rate per second for a duration. The next free connection takes the next request, waits for
// its planned time, and sends it. If no connection is free at that time, the latency includes the wait.
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

// run runs all connections and adds up their results.
func (g *Generator) run(ctx context.Context, length time.Duration, work func(*connection, *Result)) Result {
	begun := time.Now()
	stop := context.AfterFunc(ctx, func() {
		for _, c := range g.all {
			_ = c.until(begun) // a broken connection ends by itself
		}
	})
	defer stop()
	results := make([]Result, len(g.all))
	var working sync.WaitGroup
	for i, c := range g.all {
		_ = c.until(begun.Add(length + answerWithin)) // if it is broken, the exchange reports it
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

// send makes one exchange and measures its latency from the planned time.
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

// exchange sends a request on a connection and reopens the connection if it was closed.
func (g *Generator) exchange(ctx context.Context, c *connection, n int64, end time.Time) (int, error) {
	if c.conn == nil {
		rest(ctx, time.Millisecond) // do not flood an unavailable server with connections
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

// rest waits. It returns false if ctx ends first.
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
