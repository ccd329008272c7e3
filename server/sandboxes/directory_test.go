package sandboxes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestEmptyDirectory(t *testing.T) {
	t.Parallel()
	directory := sandboxes.NewDirectory(ledgertest.New(t).DB)
	for range 2 {
		if sandbox, ok := directory.ByKey(sandboxes.KeyHash{}); ok {
			t.Errorf("knows %+v", sandbox)
		}
		if err := directory.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Two sandboxes may exchange their keys between two looks at the database.
func TestDirectoryFollowsAKeyThatMoves(t *testing.T) {
	w := newFixture(t)
	fixtures := []*fixture{w, w.beside("other")}
	keys := []sandboxes.KeyHash{{1}, {2}}
	directory := sandboxes.NewDirectory(w.Store.DB)
	give := func(sandbox *fixture, key sandboxes.KeyHash) {
		t.Helper()
		c := sandboxes.Credentials{APIKeyHash: key, SigningSecret: secret}
		if err := w.ApplyCredentials(t.Context(), sandbox.Config.UID, c); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		give(fixtures[0], sandboxes.KeyHash{3}) // no two sandboxes have one key at any moment
		give(fixtures[1], keys[(i+1)%2])
		give(fixtures[0], keys[i%2])
		if err := directory.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for j, sandbox := range fixtures {
			if got, ok := directory.ByKey(keys[(i+j)%2]); !ok || got.Name != sandbox.Config.Name {
				t.Fatalf("round %d: the key of %s leads to %+v", i, sandbox.Config.Name, got)
			}
		}
	}
}

// What Refresh promises, while others refresh, read and write: everything that was committed before the call is there.
func TestDirectoryUnderConcurrency(t *testing.T) {
	w := newFixture(t)
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var readers, writers sync.WaitGroup
	readers.Go(func() { directory.Run(ctx, time.Millisecond) })
	for range 4 {
		readers.Go(func() {
			for ; ctx.Err() == nil; time.Sleep(100 * time.Microsecond) {
				if sandbox, ok := directory.ByKey(w.Key); !ok || len(sandbox.Environments) != 2 || !sandbox.Stores["shop"] {
					t.Errorf("the first sandbox is %+v", sandbox)
					return
				}
			}
		})
	}
	for i := range 4 {
		config := w.Config
		config.UID, config.Name = fmt.Sprintf("44444444-4444-4444-4444-%012d", i), fmt.Sprint("sandbox-", i)
		key := sandboxes.KeyHash{9, byte(i)}
		writers.Go(func() {
			for latency := range 10 {
				config.LatencyPercent = latency
				if _, err := w.ApplySandbox(ctx, config); err != nil {
					t.Error(err)
					return
				}
				if err := w.ApplyCredentials(ctx, config.UID, sandboxes.Credentials{APIKeyHash: key, SigningSecret: secret}); err != nil {
					t.Error(err)
					return
				}
				if err := directory.Refresh(ctx); err != nil {
					t.Error(err)
					return
				}
				if sandbox, ok := directory.ByKey(key); !ok || sandbox.LatencyPercent != latency {
					t.Errorf("%s: got %+v, want latency %d", config.Name, sandbox, latency)
					return
				}
			}
			if err := w.DeleteSandbox(ctx, config.UID); err != nil {
				t.Error(err)
			}
			if err := directory.Refresh(ctx); err != nil {
				t.Error(err)
			}
			if _, ok := directory.ByKey(key); ok {
				t.Errorf("%s was deleted and its key works", config.Name)
			}
		})
	}
	writers.Wait()
	stop()
	readers.Wait()
}

func TestDirectoryRunSeesAChangeByItself(t *testing.T) {
	w := newFixture(t)
	directory := sandboxes.NewDirectory(w.Store.DB)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { directory.Run(ctx, time.Millisecond) })
	ledgertest.Eventually(t, func() bool {
		_, ok := directory.ByKey(w.Key)
		return ok
	})
	w.Config.LatencyPercent = 7
	w.Apply()
	ledgertest.Eventually(t, func() bool {
		sandbox, _ := directory.ByKey(w.Key)
		return sandbox.LatencyPercent == 7
	})
	stop()
	running.Wait()
}

// While the database is unavailable the configuration that was read last is served.
func TestDirectoryOutlivesItsDatabase(t *testing.T) {
	w := newFixture(t)
	s := ledgertest.Open(t, w.URL)
	directory := sandboxes.NewDirectory(s.DB)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := directory.Refresh(t.Context()); err == nil {
		t.Error("the database answers")
	}
	if _, ok := directory.ByKey(w.Key); !ok {
		t.Error("the key is forgotten")
	}
}

// A caller that goes away is not kept, and does not break the load that it began for others.
func TestDirectoryRefreshOfACallerThatIsGone(t *testing.T) {
	w := newFixture(t)
	directory := sandboxes.NewDirectory(w.Store.DB)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := directory.Refresh(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ledgertest.Eventually(t, func() bool {
		_, known := directory.ByKey(w.Key)
		return known
	})
}

// A replaced key stops working when its time is over, by the length of that time and not by what a clock shows: no clock is
// asked for more than how much of it has passed.
func TestDirectoryRefusesAnExpiredKey(t *testing.T) {
	for name, skew := range map[string]time.Duration{"clocks agree": 0, "ahead of the database": time.Hour, "behind it": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.applyCredentials(rotated(sandboxes.KeyHash{2}, w.Key, time.Minute))
			passed := time.Duration(0)
			s := w.Opened(ledgertest.Options{Options: postgres.Options{Now: func() time.Time { return time.Now().Add(skew + passed) }}})
			directory := sandboxes.NewDirectory(s.DB)
			if err := directory.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			works := func(key sandboxes.KeyHash) bool {
				_, ok := directory.ByKey(key)
				return ok
			}
			for _, step := range []struct {
				passed time.Duration
				works  bool
			}{{0, true}, {30 * time.Second, true}, {time.Minute, false}, {time.Hour, false}} {
				passed = step.passed
				if got := works(w.Key); got != step.works {
					t.Errorf("after %s the replaced key works: %t", passed, got)
				}
				if !works(sandboxes.KeyHash{2}) {
					t.Errorf("after %s the new key does not work", passed)
				}
			}
		})
	}
}

// What is over when the directory is read is not read.
func TestDirectoryDoesNotKnowKeysThatAreOver(t *testing.T) {
	w := newFixture(t)
	w.applyCredentials(rotated(sandboxes.KeyHash{2}, w.Key, time.Minute))
	w.Exec("update api_keys set expires_at = now() where expires_at is not null")
	directory := sandboxes.NewDirectory(
		w.Opened(ledgertest.Options{Options: postgres.Options{Now: func() time.Time { return time.Now().Add(-24 * time.Hour) }}}).DB,
	)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := directory.ByKey(w.Key); ok {
		t.Error("a key that is over works")
	}
}

// A grace of 0 reaches the directories by their polling.
func TestDirectorySeesARevokedKey(t *testing.T) {
	w := newFixture(t)
	w.applyCredentials(rotated(sandboxes.KeyHash{2}, w.Key, time.Hour))
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := directory.ByKey(w.Key); !ok {
		t.Fatal("the replaced key does not work within its grace")
	}
	w.applyCredentials(rotated(sandboxes.KeyHash{2}, w.Key, 0))
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := directory.ByKey(w.Key); ok {
		t.Error("the revoked key works")
	}
}

// A database that was restored from a backup has an older version. What the directory knows of the time after the backup is
// of no sandbox any more, and must not outlive it: tenant numbers are given out again.
func TestDirectoryFollowsADatabaseThatWasRestored(t *testing.T) {
	w := newFixture(t)
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	backup := []string{"organizations", "environments", "stores", "api_keys", "config_version"}
	for _, table := range backup {
		w.Exec("create table kept_" + table + " as table " + table)
	}
	later := w.beside("later")
	changed := w.Config
	changed.LatencyPercent = 77
	if _, err := w.ApplySandbox(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, known := directory.ByKey(later.Key); !known {
		t.Fatal("the sandbox that was made after the backup is not known")
	}
	for _, table := range backup {
		w.Exec("delete from " + table)
		w.Exec("insert into " + table + " select * from kept_" + table)
	}
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sandbox, known := directory.ByKey(later.Key); known {
		t.Errorf("the key of a sandbox that is not in the backup still opens %+v", sandbox)
	}
	if sandbox, known := directory.ByKey(w.Key); !known || sandbox.LatencyPercent == 77 {
		t.Errorf("the sandbox of the backup is %+v", sandbox)
	}
}
