package cases

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// ceiling measures the load generator with a server that does nothing: its highest rate, and its processor time for
// each request.
func ceiling(ctx context.Context, b *bench.Bench) error {
	if err := b.OpenBaseline(ctx); err != nil {
		return err
	}
	address, err := b.Baseline.Serve(ctx, "noop")
	if err != nil {
		return err
	}
	requests := b.Writes(
		"/v1/payments",
		200,
		[]*system.Sandbox{{Key: "cauri_sk_test_00000000000000000000000000000000"}},
		[]string{system.Unregistered},
		"success",
	)
	requests.Name, requests.Target.Addresses, requests.Booked = "a server that does nothing", []string{address}, nil
	for _, connections := range []int{8, 32, 128} {
		var costs []float64
		load := b.Loaded(requests, connections, func(ctx context.Context, g *generator.Generator) generator.Result {
			before := processorTime()
			result := g.Closed(ctx, time.Duration(b.Settings.Length))
			costs = append(costs, float64((processorTime()-before).Microseconds())/float64(result.Accepted))
			return result
		})
		results, err := b.InTurns(ctx, load)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%d connections", connections)
		b.Add(report.Figure{Name: name + ", nothing done", Unit: "/s", Value: results[0].Rates()}).Show()
		b.Add(report.Figure{Name: name + ", processor time a request", Unit: "µs", Value: report.SampleOf(costs...)})
	}
	return nil
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
