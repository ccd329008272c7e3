package httpapi_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// wait is a call that waits for a worker, of which there is none.
type wait struct {
	method, path string
	body         object
	least        time.Duration // that it waits, as documented
	status       int           // of the answer when the wait is over
}

// waits are the calls that wait for a worker.
func (f *fixture) waits() []wait {
	target := f.call("POST", "/v1/clock/advance", object{"by": "1h", "wait": "0s"}).body["target"]
	return []wait{
		{"POST", "/v1/clock/advance", object{"to": target}, 30 * time.Second, http.StatusAccepted},
		{"POST", "/v1/clock/advance", object{"to": target, "wait": "60s"}, time.Minute, http.StatusAccepted},
		{"GET", "/v1/ledger?verify=full", nil, 25 * time.Second, http.StatusServiceUnavailable},
	}
}

// A call that waits for a worker counts as a held answer, and holds neither a connection to the database nor a lock. Beyond the bound it is
// answered at once, and when the process is told to stop too.
func TestWaitsForAWorkerAreHeld(t *testing.T) {
	f := newFixture(t)
	registry := prometheus.NewRegistry()
	f = f.serve(func(o *fronts.Options) {
		o.Held, o.Metrics = httpfront.HeldBounds{Sandbox: 3}, telemetry.NewAPI(registry)
	})
	waits := f.waits()
	answers := make(chan string, len(waits))
	for i, w := range waits {
		go func() {
			got := f.call(w.method, w.path, w.body)
			answers <- fmt.Sprint(w.path, got.status == w.status)
		}()
		f.counts(registry, "cauri_api_held_answers", fmt.Sprint(i+1))
	}
	soon(t, "no connection is busy", func() bool {
		return read[int](f, "select count(*) from pg_stat_activity where datname = current_database() and state <> 'idle' "+
			"and pid <> pg_backend_pid()") == 0
	})
	soon(t, "no lock is held", func() bool {
		return read[int](f, "select count(*) from pg_locks l join pg_stat_activity a using (pid) where a.datname = current_database() "+
			"and pid <> pg_backend_pid()") == 0
	})
	for _, w := range waits {
		if got := f.call(w.method, w.path, w.body); got.status != w.status {
			t.Errorf("%s is answered %d %s beyond the bound, want %d", w.path, got.status, got.raw, w.status)
		}
	}
	f.counts(registry, "cauri_api_held_answers", "3")
	close(f.release)
	for range waits {
		if got := <-answers; got[len(got)-4:] != "true" {
			t.Errorf("the end of the process: %s", got)
		}
	}
	f.counts(registry, "cauri_api_held_answers", "0")
}

// Without a worker, a call waits as long as the documents say. With CAURI_TEST_WHOLE only, since it takes that long.
func TestWaitsAreAsLongAsDocumented(t *testing.T) {
	if os.Getenv("CAURI_TEST_WHOLE") == "" {
		t.Skip("set CAURI_TEST_WHOLE=1: it takes a minute")
	}
	f := newFixture(t)
	done := make(chan string)
	waits := f.waits()
	for _, w := range waits {
		go func() {
			began := time.Now()
			got := f.call(w.method, w.path, w.body)
			problem := ""
			if took := time.Since(began); took < w.least || got.status != w.status {
				problem = fmt.Sprintf("%s is answered %d %s after %s, want %d after %s", w.path, got.status, got.raw, took, w.status, w.least)
			}
			done <- problem
		}()
	}
	for range waits {
		if problem := <-done; problem != "" {
			t.Error(problem)
		}
	}
}
