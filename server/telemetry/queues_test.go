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

func found(s Survey) func(context.Context) (Survey, error) {
	return func(context.Context) (Survey, error) { return s, nil }
}

// A survey that cannot be repeated is not told of for ever: it would hide that nobody knows how much waits.
func TestOldSurveysAreNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		var surveys atomic.Int32
		var away atomic.Bool
		s := NewSurveyor(registry, func(context.Context) (Survey, error) {
			surveys.Add(1)
			if away.Load() {
				return Survey{}, errors.New("away")
			}
			return Survey{Queues: []Queue{{Name: "events", Due: 1}}}, nil
		})
		series := func() int {
			n, err := testutil.GatherAndCount(registry)
			if err != nil {
				t.Error(err)
			}
			return n
		}
		if n := series(); n != 0 {
			t.Errorf("%d series before the first survey", n)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()
		time.Sleep(time.Minute + time.Second)
		if n := series(); n != 4 || surveys.Load() != 7 {
			t.Errorf("%d series after %d surveys in a minute, want 4 after 7", n, surveys.Load())
		}
		away.Store(true)
		time.Sleep(surveyKept - 2*surveyEvery)
		if n := series(); n != 4 {
			t.Errorf("%d series while the last survey is young enough", n)
		}
		time.Sleep(2*surveyEvery + time.Second)
		if n := series(); n != 0 {
			t.Errorf("%d series of a survey that is too old", n)
		}
		stop()
		<-done
	})
}
