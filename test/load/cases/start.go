package cases

import (
	"context"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// start measures the time from exec to the first answer of an api.
func start(ctx context.Context, b *bench.Bench) error {
	apis, err := b.Apis(ctx, 1) // so that its address is known
	if err != nil {
		return err
	}
	if _, err := b.AddSandboxes(ctx, 100, ""); err != nil {
		return err
	}
	var times []float64
	for range b.Settings.Size(20) {
		apis[0].Kill()
		took, again, err := startOnce(ctx, b, apis[0])
		if err != nil {
			return err
		}
		apis[0], times = again, append(times, report.Milliseconds(took))
	}
	value := report.SampleOf(times...)
	limit := 300.0
	b.Add(report.Figure{Name: "executed to the first answer, 100 sandboxes", Unit: "ms", Value: value, AtMost: &limit})
	return nil
}

// startOnce starts an api at the address of a stopped one and polls it every millisecond.
func startOnce(ctx context.Context, b *bench.Bench, before *system.API) (took time.Duration, api *system.API, err error) {
	asking, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	begun := time.Now()
	served := make(chan time.Duration, 1)
	go func() {
		for system.Rest(asking, time.Millisecond) {
			if system.Answers(asking, before.URL+"/v1/health", http.StatusOK) == nil {
				served <- time.Since(begun)
				return
			}
		}
	}()
	if api, err = b.StartAPI(ctx, before.Name); err != nil {
		return 0, nil, err
	}
	select {
	case took = <-served:
		return took, api, nil
	case <-asking.Done():
		return 0, nil, asking.Err()
	}
}
