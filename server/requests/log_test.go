package requests_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/requests"
)

// dropped counts what is not logged.
type dropped map[string]int

func (d dropped) count(reason string, n int) { d[reason] += n }

// newLog is the log of an api, and the fixture of its database.
func newLog(t *testing.T) (*ledgertest.Fixture, *requests.Log, dropped) {
	w := ledgertest.NewFixture(t)
	d := dropped{}
	return w, requests.New(ledgertest.OpenAs(t, w.URL, ledgertest.API).DB, requests.Options{Dropped: d.count}), d
}

func entry(tenant int64, kind requests.Kind, path string) requests.Entry {
	return requests.Entry{Tenant: tenant, Kind: kind, Method: "GET", Path: path, Status: 404}
}

func flush(t *testing.T, l *requests.Log) {
	t.Helper()
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestNewestOfEachKindAreKept(t *testing.T) {
	w, l, _ := newLog(t)
	other := w.Beside("other")
	for n := range 3 {
		for _, kind := range []requests.Kind{requests.Failed, requests.Succeeded} {
			for range 200 {
				l.Add(entry(w.Sandbox.Tenant, kind, fmt.Sprint("/", n)))
			}
		}
		l.Add(entry(other.Sandbox.Tenant, requests.Failed, "/other"))
		flush(t, l)
	}
	guests := func(kind requests.Kind, status, n int) {
		e := entry(w.Sandbox.Tenant, kind, "/guest")
		e.Guest, e.Status = true, status
		for range n {
			l.Add(e)
		}
		flush(t, l)
	}
	guests(requests.Failed, 404, 150)
	guests(requests.Succeeded, 303, 150)
	guests(requests.Failed, 429, 50) // of which one is logged in a round
	for range 25 {
		l.Add(entry(w.Sandbox.Tenant, requests.Unauthenticated, "/stranger"))
		l.Add(entry(w.Sandbox.Tenant, requests.Unauthenticated, "/another"))
		flush(t, l)
	}
	for where, want := range map[string]int{
		"kind = 'failed' and path <> '/other'": 500, "kind = 'succeeded'": 500, "kind = 'failed' and path = '/0'": 100,
		"kind = 'succeeded' and path = '/0'": 100, "path = '/stranger'": 20, "kind = 'guest_failed'": 100,
		"kind = 'guest_succeeded'": 100, "status = 429": 1, "path = '/another'": 0, "path = '/other'": 3,
	} {
		if n := w.Count("select count(*) from requests where " + where); n != want {
			t.Errorf("%s: %d are kept, want %d", where, n, want)
		}
	}
}

// Several processes log for the same sandbox at the same time.
func TestManyProcessesLogForOneSandbox(t *testing.T) {
	w, _, _ := newLog(t)
	var all sync.WaitGroup
	for range 4 {
		l := requests.New(ledgertest.OpenAs(t, w.URL, ledgertest.API).DB, requests.Options{})
		all.Go(func() {
			for range 5 {
				for range 100 {
					l.Add(entry(w.Sandbox.Tenant, requests.Failed, "/"))
				}
				if err := l.Flush(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := w.Count("select count(*) from requests"); n != requests.MostKept {
		t.Errorf("%d are kept, want %d", n, requests.MostKept)
	}
}

func TestWhatWaitsIsBounded(t *testing.T) {
	w, l, d := newLog(t)
	other := w.Beside("other")
	l.Bound(10_000, 4_000)
	long := entry(w.Sandbox.Tenant, requests.Failed, "/"+strings.Repeat("x", 743)) // 1 KB in memory
	long.Method, long.Status = "", 0
	for range 10 {
		l.Add(long)
	}
	if d[requests.DroppedFull] != 6 || l.Waiting() != 4_000 {
		t.Errorf("dropped %v of ten, and %d bytes wait", d, l.Waiting())
	}
	long.Tenant = other.Sandbox.Tenant
	l.Add(long) // there is room for others
	if d[requests.DroppedFull] != 6 {
		t.Errorf("the request of another sandbox was dropped: %v", d)
	}
	flush(t, l)
	if n := w.Count("select count(*) from requests"); n != 5 || l.Waiting() != 0 {
		t.Errorf("%d are kept, and %d bytes wait", n, l.Waiting())
	}
}

// While the database is unavailable requests wait, as long as there is room.
func TestRequestsWaitForTheDatabase(t *testing.T) {
	w, l, d := newLog(t)
	l.Add(entry(w.Sandbox.Tenant, requests.Failed, "/first"))
	over, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if err := l.Flush(over); !errors.Is(err, postgres.ErrUnavailable) {
		t.Fatalf("when the time is over: %v", err)
	}
	l.Add(entry(w.Sandbox.Tenant, requests.Failed, "/second"))
	flush(t, l)
	if n := w.Count("select count(*) from requests"); n != 2 || len(d) > 0 || l.Waiting() != 0 {
		t.Errorf("%d are kept, %v dropped, %d bytes wait", n, d, l.Waiting())
	}
}

// What the database will never take does not keep the others from being written.
func TestWhatTheDatabaseRefusesIsDropped(t *testing.T) {
	w, l, d := newLog(t)
	bad := entry(w.Sandbox.Tenant, requests.Failed, "/")
	bad.RequestBody = []byte("{")
	l.Add(bad)
	if err := l.Flush(t.Context()); err == nil || errors.Is(err, postgres.ErrUnavailable) {
		t.Fatalf("what is no JSON was written: %v", err)
	}
	l.Add(entry(w.Sandbox.Tenant, requests.Failed, "/"))
	flush(t, l)
	if n := w.Count("select count(*) from requests"); n != 1 || d[requests.DroppedRefused] != 1 || l.Waiting() != 0 {
		t.Errorf("%d are kept, %v dropped, %d bytes wait", n, d, l.Waiting())
	}
}

// What comes after the sandbox was deleted, or retained, is nobody's.
func TestNothingIsLoggedForWhatIsGone(t *testing.T) {
	w, l, _ := newLog(t)
	other := w.Beside("other")
	l.Add(entry(w.Sandbox.Tenant, requests.Failed, "/"))
	l.Add(entry(other.Sandbox.Tenant, requests.Failed, "/other"))
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	flush(t, l)
	if n := w.Count("select count(*) from requests where path = '/'"); n != 0 {
		t.Errorf("%d are kept of the deleted one", n)
	}
	if n := w.Count("select count(*) from requests"); n != 1 {
		t.Errorf("%d are kept of the other", n)
	}
	if err := l.LogAll(t.Context(), w.Sandbox.Tenant); !errors.Is(err, postgres.ErrConfigChanged) {
		t.Errorf("watching it: %v", err)
	}
}

// A log that is not there records nothing.
func TestNoLog(t *testing.T) {
	t.Parallel()
	var none *requests.Log
	none.Add(requests.Entry{})
}
