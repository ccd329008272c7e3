package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// outage is the duration of the outage.
const outage = 10 * time.Second

// watch records the answers that clients get during outages.
type watch struct {
	mu          sync.Mutex
	wrong       []string
	unavailable int
	slowest     time.Duration
}

// see gets every answer. During an outage it must be 503 with Retry-After. No request may stay without an answer, and
// no other error is allowed.
func (o *watch) see(a system.Answer, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.slowest = max(o.slowest, a.Took)
	switch {
	case err != nil:
		o.wrong = append(o.wrong, "no answer: "+err.Error())
	case a.Status == http.StatusServiceUnavailable:
		o.unavailable++
		var body struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(a.Body, &body) != nil || body.Error != "unavailable" || a.Header.Get("Retry-After") == "" {
			o.wrong = append(o.wrong, fmt.Sprintf("503 %s with Retry-After %q", a.Body, a.Header.Get("Retry-After")))
		}
	case a.Status/100 != 2:
		o.wrong = append(o.wrong, fmt.Sprintf("%d %s", a.Status, a.Body))
	}
}

// take returns the records since the last call.
func (o *watch) take() (unavailable int, slowest time.Duration, wrong []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	unavailable, slowest, wrong = o.unavailable, o.slowest, o.wrong
	o.unavailable, o.slowest, o.wrong = 0, 0, nil
	return unavailable, slowest, wrong
}

func TestPostgresStoppedUnderLoad(t *testing.T) {
	w := newFixtureWithPostgres(t)
	api := w.api("api")
	workers := []*system.Worker{w.worker("worker-0"), w.worker("worker-1")}
	m := w.merchant("enduring", api, system.Acknowledge)
	var seen watch
	m.Client.Observe = seen.see
	progress, stop := w.shopping(m, 4)
	defer stop()
	for _, how := range []syscall.Signal{system.Fast, system.Immediate} {
		w.progresses(progress, 20)
		_, _, wrong := seen.take()
		w.report(wrong)
		w.must(w.Postgres.Stop(how))
		w.refuses(api, workers)
		system.Rest(t.Context(), outage)
		w.must(w.Postgres.Start(t.Context()))
		started := time.Now()
		w.progresses(progress, 1)
		unavailable, slowest, wrong := seen.take()
		t.Logf("%s: %d requests answered 503, the slowest answer took %s; the first purchase was complete %s after the start",
			how, unavailable, slowest.Round(time.Millisecond), time.Since(started).Round(time.Millisecond))
		w.report(wrong)
		if unavailable == 0 {
			t.Errorf("%s: nobody was answered 503", how)
		}
		if limit := time.Minute; slowest > limit { // the api's own is 10 s
			t.Errorf("%s: a client waited %s for its answer, longer than %s", how, slowest, limit)
		}
		for _, worker := range workers {
			w.until(time.Minute, worker.Name+" is ready again", worker.Ready)
		}
	}
	w.progresses(progress, 20)
	w.booked(m, stop())
	w.drained(m)
	for _, p := range []*system.Process{api.Process, workers[0].Process, workers[1].Process} {
		if !p.Running() {
			t.Errorf("%s ended because the database was unavailable", p.Name)
		}
	}
}

// refuses checks that all processes report that they are alive but not ready.
func (w *fixture) refuses(api *system.API, workers []*system.Worker) {
	w.t.Helper()
	is := func(url string, status int) {
		w.t.Helper()
		w.until(time.Minute, fmt.Sprintf("%s answers %d", url, status), func(ctx context.Context) error {
			return system.Answers(ctx, url, status)
		})
	}
	is(api.URL+"/v1/health", http.StatusServiceUnavailable)
	for _, worker := range workers {
		is(worker.HealthURL+"/readyz", http.StatusServiceUnavailable)
		is(worker.HealthURL+"/healthz", http.StatusOK)
	}
}
