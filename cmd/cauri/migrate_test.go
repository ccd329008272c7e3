package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
)

func TestUsersFromAFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("api-password", "a\n")
	write("worker-password", "w")
	if _, err := readUsers(folder); err == nil || !strings.Contains(err.Error(), "controller-password") {
		t.Errorf("one is missing: %v", err)
	}
	write("controller-password", " c ")
	users, err := readUsers(folder)
	want := []postgres.User{
		{Process: "api", Password: "a"}, {Process: "worker", Password: "w"}, {Process: "controller", Password: " c "},
	}
	if diff := cmp.Diff(want, users); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if users, err := readUsers(""); len(users) > 0 || err != nil {
		t.Errorf("without a folder: %v, %v", users, err)
	}
}

// The job of an installation is there before the database is, and goes on once that answers.
func TestMigrateWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	database := ledgertest.Empty(t)
	proxy := newProxy(t, database)
	away := launch(t, strings.Replace(proxy.url, "127.0.0.1", "127.0.0.2", 1), "migrate", "--wait=0") // nobody listens there
	away.follow(make(chan [2]string, 1))
	away.wait()
	if away.err == nil {
		t.Error("without a database it ends without an error")
	}
	proxy.refuse.Store(true)
	waiting := launch(t, proxy.url, "migrate", "--wait=1m")
	waiting.follow(make(chan [2]string, 1))
	eventually(t, "it tried", func() bool { return proxy.refused.Load() > 0 })
	proxy.refuse.Store(false)
	waiting.wait()
	if waiting.err != nil || strings.Count(waiting.log.String(), "waiting for the database") != 1 ||
		!strings.Contains(waiting.log.String(), "up to date") {
		t.Errorf("it ended with %v and said\n%s", waiting.err, waiting.log.String())
	}
}

// An api and a worker that are there before the schema wait for it without a word a second, and are ready once it is there.
func TestProcessesWaitForTheSchema(t *testing.T) {
	t.Parallel()
	if err := postgres.MigrateAs(t.Context(), ledgertest.Empty(t), "cauri"); err != nil { // makes the roles, which belong to the server
		t.Fatal(err)
	}
	database := ledgertest.Empty(t)
	api := start(t, ledgertest.URLAs(t, database, ledgertest.API), 2, "serve", "api", "--listen-address=127.0.0.1:0", "--health-address=127.0.0.1:0")
	worker := startWorker(t, ledgertest.URLAs(t, database, ledgertest.Worker))
	probes := map[string]string{"api": api.addresses["api's probes and metrics"], "worker": worker.addresses["worker's probes and metrics"]}
	for name, at := range probes {
		if live, _ := get(at, "/healthz"); live != 200 {
			t.Errorf("%s: liveness without a schema: %d", name, live)
		}
		if ready, _ := get(at, "/readyz"); ready != 503 {
			t.Errorf("%s: readiness without a schema: %d", name, ready)
		}
	}
	deadline := time.Now().Add(2 * time.Second) // long enough for several attempts of each
	eventually(t, "they have tried several times", func() bool { return time.Now().After(deadline) })
	if err := postgres.MigrateAs(t.Context(), database, "cauri"); err != nil {
		t.Fatal(err)
	}
	for name, at := range probes {
		eventually(t, name+" is ready", func() bool { ready, _ := get(at, "/readyz"); return ready == 200 })
	}
	api.terminate()
	worker.terminate()
	for name, p := range map[string]*running{"api": api, "worker": worker} {
		if said := strings.Count(p.log.String(), "cauri migrate"); said != 1 || p.err != nil {
			t.Errorf("%s says %d times what it waits for and ends with %v:\n%s", name, said, p.err, p.log.String())
		}
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	passes, stays := errors.New("unavailable"), errors.New("broken")
	for name, c := range map[string]struct {
		within  time.Duration
		answers []error
		want    error
		tries   int
	}{
		"at once":         {0, []error{nil}, nil, 1},
		"no time":         {0, []error{passes, nil}, passes, 1},
		"passes":          {time.Minute, []error{passes, passes, nil}, nil, 3},
		"does not pass":   {time.Minute, []error{passes, stays, nil}, stays, 2},
		"out of patience": {5 * time.Millisecond, []error{passes}, passes, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tries := 0
			err := retry{within: c.within, interval: time.Millisecond, message: "waiting in a test", transient: func(err error) bool {
				return errors.Is(err, passes)
			}}.run(t.Context(), func() error {
				tries++
				return c.answers[min(tries, len(c.answers))-1]
			})
			if !errors.Is(err, c.want) || c.tries != 0 && tries != c.tries {
				t.Errorf("%d tries, %v", tries, err)
			}
		})
	}
}
