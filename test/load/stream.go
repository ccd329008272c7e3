package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// stream is work that comes at a rate, whether or not what came before is done with. Requests by HTTP alone are better made by the
// generator, which takes less of the machine.
type stream struct {
	rate   int // a second
	length time.Duration
	send   func(ctx context.Context, i int) error
}

// sent is what became of a stream.
type sent struct {
	requests int
	latest   time.Duration // that a request was sent after its time: the stream's own shortcoming
	took     []time.Duration
	failures []string
}

// run sends the stream and returns when all is answered. Each request has a moment that does not depend on the others.
func (s stream) run(ctx context.Context) sent {
	result := sent{requests: s.rate * int(s.length/time.Second)}
	var mu sync.Mutex
	var group sync.WaitGroup
	begun := time.Now()
	for i := range result.requests {
		moment := begun.Add(time.Duration(i) * time.Second / time.Duration(s.rate))
		if wait := time.Until(moment); wait > 0 && !system.Rest(ctx, wait) {
			result.requests = i
			break
		}
		late := time.Since(moment)
		group.Go(func() {
			err := s.send(ctx, i)
			mu.Lock()
			defer mu.Unlock()
			result.latest = max(result.latest, late)
			result.took = append(result.took, time.Since(moment))
			if err != nil {
				result.failures = append(result.failures, err.Error())
			}
		})
	}
	group.Wait()
	return result
}

// long is how long a stream runs, a tenth of it where little is measured.
func (s settings) long(length time.Duration) time.Duration {
	if s.Small {
		return max(time.Second, (length / 10).Round(time.Second))
	}
	return length
}

// pay makes a payment and expects that it is booked.
func pay(ctx context.Context, m *system.Merchant, p system.Payment) error {
	answer, err := m.Client.Post(ctx, "/payments", p)
	if err == nil && answer.Status != http.StatusCreated {
		err = fmt.Errorf("answered %d %s", answer.Status, answer.Body)
	}
	return err
}

// sent adds what became of a stream to the report.
func (b *bench) sent(s sent) {
	b.figure("requests", float64(s.requests), "")
	b.figure("latest request after its time", milliseconds(s.latest), "ms")
	if len(s.took) > 0 {
		slices.Sort(s.took)
		b.figure("answer after its request's time, p50", milliseconds(percentile(s.took, 50)), "ms")
		b.figure("answer after its request's time, p99", milliseconds(percentile(s.took, 99)), "ms")
	}
	if len(s.failures) > 0 {
		b.problem("%d requests had no result, the first: %s", len(s.failures), s.failures[0])
	}
}

// arrived adds how soon the events of merchants arrived, and checks how many did.
func (b *bench) arrived(ctx context.Context, want int, merchants []*system.Merchant) error {
	var delays []time.Duration
	for _, m := range merchants {
		own, err := m.Delays(ctx, m.Receiver)
		if err != nil {
			return err
		}
		delays = append(delays, own...)
	}
	b.figure("events that arrived", float64(len(delays)), "")
	if len(delays) != want {
		b.problem("%d events arrived, not %d", len(delays), want)
	}
	b.delays("all", delays, 1000, 0)
	return nil
}

// delivered audits the deliveries of merchants whose events have all arrived.
func (b *bench) delivered(ctx context.Context, merchants ...*system.Merchant) error {
	for _, m := range merchants {
		problems, err := m.AuditDeliveries(ctx, m.Receiver)
		if err != nil {
			return err
		}
		if len(problems) > 5 {
			problems = append(problems[:5], fmt.Sprintf("and %d more in %s", len(problems)-5, m.Config.Name))
		}
		b.report.Problems = append(b.report.Problems, problems...)
	}
	return nil
}
