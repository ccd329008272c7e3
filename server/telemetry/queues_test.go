package telemetry

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func found(s QueueStatistics) func(context.Context) (QueueStatistics, error) {
	return func(context.Context) (QueueStatistics, error) { return s, nil }
}

// Statistics that cannot be refreshed are not reported for ever: they would hide that nobody knows how much waits.
func TestOldStatisticsAreNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		var refreshes atomic.Int32
		var away atomic.Bool
		s := NewQueueMonitor(registry, func(context.Context) (QueueStatistics, error) {
			refreshes.Add(1)
			if away.Load() {
				return QueueStatistics{}, errors.New("unavailable")
			}
			return QueueStatistics{Queues: []Queue{{Name: "events", Due: 1}}}, nil
		})
		series := func() int {
			n, err := testutil.GatherAndCount(registry)
			if err != nil {
				t.Error(err)
			}
			return n
		}
		if n := series(); n != 0 {
			t.Errorf("%d series before the first refresh", n)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()
		time.Sleep(time.Minute + time.Second)
		if n := series(); n != 7 || refreshes.Load() != 7 {
			t.Errorf("%d series after %d refreshes in a minute, want 7 after 7", n, refreshes.Load())
		}
		away.Store(true)
		time.Sleep(statisticsValidFor - 2*refreshInterval)
		if n := series(); n != 7 {
			t.Errorf("%d series while the last statistics are recent enough", n)
		}
		time.Sleep(2*refreshInterval + time.Second)
		if n := series(); n != 0 {
			t.Errorf("%d series of statistics that are too old", n)
		}
		stop()
		<-done
	})
}
