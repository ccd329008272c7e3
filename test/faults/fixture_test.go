// Package faults injects faults into the environment of a running Cauri and checks whether anything was lost, doubled
// or miscounted. The programs are real processes on a real Postgres with durable commits.
package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

// binary is the program under test, built from the work tree.
var binary string

// shared is a Postgres for all tests that do not break it.
var shared struct {
	sync.Mutex
	postgres *system.Postgres
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "cauri-faults-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if binary, err = system.Build(context.Background(), folder); err != nil {
		return 0, err
	}
	defer func() {
		if shared.postgres != nil {
			err = errors.Join(err, shared.postgres.Close())
		}
	}()
	return m.Run(), nil
}

func sharedPostgres(t *testing.T) *system.Postgres {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.postgres == nil {
		postgres, err := system.StartPostgres(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		shared.postgres = postgres
	}
	return shared.postgres
}

// fixture is an installation of one test.
type fixture struct {
	*system.System
	t *testing.T
}

// newFixture opens an installation on its own database.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	return openFixture(t, sharedPostgres(t))
}

// newFixtureWithPostgres opens an installation on its own Postgres, which the test may stop.
func newFixtureWithPostgres(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	postgres, err := system.StartPostgres(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := postgres.Close(); err != nil {
			t.Error(err)
		}
	})
	return openFixture(t, postgres)
}

func openFixture(t *testing.T, postgres *system.Postgres) *fixture {
	t.Helper()
	s, err := system.Open(t.Context(), postgres, binary)
	if err != nil {
		t.Fatal(err)
	}
	return closing(t, s)
}

// closing is the fixture of an installation, which is closed when the test ends.
func closing(t *testing.T, s *system.System) *fixture {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			fmt.Printf("%s:\n%s\n", t.Name(), s.Logs(15)) // at once: the test's own messages come last
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{System: s, t: t}
}

func (w *fixture) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) api(name string, flags ...string) *system.API {
	w.t.Helper()
	api, err := w.StartAPI(w.t.Context(), name, flags...)
	w.must(err)
	return api
}

func (w *fixture) worker(name string, flags ...string) *system.Worker {
	w.t.Helper()
	worker, err := w.StartWorker(w.t.Context(), name, flags...)
	w.must(err)
	return worker
}

// merchant creates a sandbox, its endpoint with a behavior, and a client at an api.
func (w *fixture) merchant(
	name string,
	api *system.API,
	behave system.Behavior,
	change ...func(*sandboxes.Config),
) *system.Merchant {
	w.t.Helper()
	m, err := w.AddMerchant(w.t.Context(), name, api, behave, change...)
	w.must(err)
	return m
}

// pay makes a payment and waits for the answer without a timeout.
func (w *fixture) pay(m *system.Merchant, p system.Payment) system.Answer {
	w.t.Helper()
	answer, err := m.Client.Insist(w.t.Context(), "/payments", p)
	w.must(err)
	return answer
}

// until waits for a condition.
func (w *fixture) until(within time.Duration, what string, condition func(context.Context) error) {
	w.t.Helper()
	w.must(system.Until(w.t.Context(), within, what, condition))
}

// reaches waits until a query counts n.
func (w *fixture) reaches(n int64, what, query string, args ...any) {
	w.t.Helper()
	w.until(time.Minute, fmt.Sprintf("%d %s", n, what), func(ctx context.Context) error {
		count, err := w.Count(ctx, query, args...)
		if err == nil && count < n {
			err = fmt.Errorf("there are %d", count)
		}
		return err
	})
}

// arrived waits until n events of a merchant have arrived.
func (w *fixture) arrived(m *system.Merchant, n int) {
	w.t.Helper()
	w.until(time.Minute, fmt.Sprintf("%d events of %s arrive", n, m.Config.Name), func(context.Context) error {
		if arrived := m.Receiver.Events(); arrived < n {
			return fmt.Errorf("%d arrived", arrived)
		}
		return nil
	})
}

// stall is the longest time without progress: longer than the lease of a killed worker.
const stall = 2 * time.Minute

// drained waits until all merchants have all their outcomes and events, and checks them.
func (w *fixture) drained(merchants ...*system.Merchant) {
	w.t.Helper()
	var sandboxes []*system.Sandbox
	for _, m := range merchants {
		sandboxes = append(sandboxes, m.Sandbox)
	}
	w.must(w.Drained(w.t.Context(), stall, sandboxes...))
	w.audited()
	for _, m := range merchants {
		problems, err := m.AuditDeliveries(w.t.Context(), m.Receiver)
		w.must(err)
		w.report(problems)
	}
}

// audited checks the invariants that always hold.
func (w *fixture) audited() {
	w.t.Helper()
	problems, err := w.Audit(w.t.Context())
	w.must(err)
	w.report(problems)
}

func (w *fixture) report(problems []string) {
	w.t.Helper()
	for _, problem := range problems[:min(len(problems), 10)] {
		w.t.Error(problem)
	}
	if more := len(problems) - 10; more > 0 {
		w.t.Errorf("and %d more of these", more)
	}
}
