package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// Stream is a workload at a fixed rate, regardless of the answers. For plain HTTP requests, use the generator, which
// needs less processor time.
type Stream struct {
	Rate   int // per second
	Length time.Duration
	Send   func(ctx context.Context, i int) error
}

// sent is the result of a stream.
type sent struct {
	Requests int
	latest   time.Duration // how late a request was sent: an error of the stream itself
	took     []time.Duration
	failures []string
}

// Run sends the stream and returns when all requests are answered. The planned times of the requests do not depend on
// the answers.
func (s Stream) Run(ctx context.Context) sent {
	result := sent{Requests: s.Rate * int(s.Length/time.Second)}
	var mu sync.Mutex
	var group sync.WaitGroup
	begun := time.Now()
	for i := range result.Requests {
		moment := begun.Add(time.Duration(i) * time.Second / time.Duration(s.Rate))
		if wait := time.Until(moment); wait > 0 && !system.Rest(ctx, wait) {
			result.Requests = i
			break
		}
		late := time.Since(moment)
		group.Go(func() {
			err := s.Send(ctx, i)
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

// Long is the duration of a stream. A smoke run uses a tenth of it.
func Long(s report.Settings, length time.Duration) time.Duration {
	if s.Small {
		return max(time.Second, (length / 10).Round(time.Second))
	}
	return length
}

// Pay makes a payment and expects a booking.
func Pay(ctx context.Context, m *system.Merchant, p system.Payment) error {
	answer, err := m.Client.Post(ctx, "/payments", p)
	if err == nil && answer.Status != http.StatusCreated {
		err = fmt.Errorf("answered %d %s", answer.Status, answer.Body)
	}
	return err
}

// Sent adds the result of a stream to the report.
func (b *Bench) Sent(s sent) {
	b.Figure("requests", float64(s.Requests), "")
	b.Figure("latest request after its time", report.Milliseconds(s.latest), "ms")
	if len(s.took) > 0 {
		slices.Sort(s.took)
		b.Figure("answer after its request's time, p50", report.Milliseconds(report.Percentile(s.took, 50)), "ms")
		b.Figure("answer after its request's time, p99", report.Milliseconds(report.Percentile(s.took, 99)), "ms")
	}
	if len(s.failures) > 0 {
		b.Problem("%d requests had no result, the first: %s", len(s.failures), s.failures[0])
	}
}

// Arrived reports the delays of the merchants' events and checks their number.
func (b *Bench) Arrived(ctx context.Context, want int, merchants []*system.Merchant) error {
	var delays []time.Duration
	for _, m := range merchants {
		own, err := m.Delays(ctx, m.Receiver)
		if err != nil {
			return err
		}
		delays = append(delays, own...)
	}
	b.Figure("events that arrived", float64(len(delays)), "")
	if len(delays) != want {
		b.Problem("%d events arrived, not %d", len(delays), want)
	}
	b.Delays("all", delays, 1000, 0)
	return nil
}

// Delivered audits the deliveries of merchants after all their events have arrived.
func (b *Bench) Delivered(ctx context.Context, merchants ...*system.Merchant) error {
	for _, m := range merchants {
		problems, err := m.AuditDeliveries(ctx, m.Receiver)
		if err != nil {
			return err
		}
		if len(problems) > 5 {
			problems = append(problems[:5], fmt.Sprintf("and %d more in %s", len(problems)-5, m.Config.Name))
		}
		b.Report.Problems = append(b.Report.Problems, problems...)
	}
	return nil
}
