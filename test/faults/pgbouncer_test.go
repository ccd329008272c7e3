package faults

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

// pooled is the number of Postgres connections for each user of the pooler. It is lower than the number of connections
// of the processes, so that they must share.
const pooled = 3

// newFixtureWithPgBouncer opens an installation whose connections, including those for migrations and configuration,
// all use a pooler.
func newFixtureWithPgBouncer(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	postgres := sharedPostgres(t)
	pooler, err := postgres.StartPgBouncer(t.Context(), pooled)
	if errors.Is(err, system.ErrNoPgBouncer) && os.Geteuid() != 0 {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pooler.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := system.OpenThrough(t.Context(), pooler, binary)
	if err != nil {
		t.Fatal(err)
	}
	return closing(t, s)
}

// Cauri works with Debian's PgBouncer in transaction mode without any special setting.
func TestThroughPgBouncer(t *testing.T) {
	w := newFixtureWithPgBouncer(t)
	first, second := w.api("api-0"), w.api("api-1")
	w.worker("worker-0")
	w.worker("worker-1")
	m := w.merchant("pooled", first, system.AcknowledgeAfter(10*time.Millisecond))
	neighbour := w.merchant("neighbour", second, system.Acknowledge, func(c *sandboxes.Config) {
		c.RateLimit, c.MonthlyQuota = new(int32(100_000)), new(int64(100_000))
	})
	progress, stop := w.shopping(m, 8)
	beside, stopBeside := w.shopping(neighbour, 8)
	w.progresses(progress, 30)
	w.progresses(beside, 30)
	w.shared("api", "worker")

	w.booked(m, stop())
	w.keyRevoked(m, first, second)
	former := m.Tenant
	w.must(m.Apply(t.Context(), func(c *sandboxes.Config) { c.Reset = "again" }))
	if m.Tenant == former {
		t.Error("the reset did not change the tenant")
	}
	w.pay(m, system.NewPayment("after the reset", system.Unregistered, "success"))
	w.progresses(beside, 10)
	w.booked(neighbour, stopBeside())

	w.must(w.Drained(t.Context(), stall, m.Sandbox, neighbour.Sandbox))
	w.audited()
	problems, err := neighbour.AuditDeliveries(t.Context(), neighbour.Receiver)
	w.must(err)
	w.report(append(problems, m.Receiver.Refused()...))
	w.purged([]int64{former})
	w.nothingLeftBehind()
}

// shared checks that the pooler shares connections: processes have no more connections to Postgres than its limit.
func (w *fixture) shared(processes ...string) {
	w.t.Helper()
	for _, process := range processes {
		count, err := w.Count(
			w.t.Context(),
			"select count(*) from pg_stat_activity where datname = current_database() and usename = 'test_' || $1",
			process,
		)
		w.must(err)
		if count == 0 || count > pooled {
			w.t.Errorf("the %ss have %d connections to Postgres, want 1 to %d", process, count, pooled)
		}
	}
}

// keyRevoked replaces a merchant's key and checks that every api refuses the old one within a second.
func (w *fixture) keyRevoked(m *system.Merchant, apis ...*system.API) {
	w.t.Helper()
	var clients []*system.Client
	for _, api := range apis {
		client, err := m.Sandbox.Client(w.t.Context(), api)
		w.must(err)
		clients = append(clients, client)
	}
	stored, err := w.Sandboxes.StoredCredentials(w.t.Context(), m.Config.UID)
	w.must(err)
	fresh := "cauri_sk_test_fresh_" + m.Config.Name
	credentials := sandboxes.Credentials{APIKeyHash: sha256.Sum256([]byte(fresh)), SigningSecret: stored.SigningSecret}
	w.must(w.Sandboxes.ApplyCredentials(w.t.Context(), m.Config.UID, credentials))
	w.until(time.Minute, "the old key of "+m.Config.Name+" is refused", func(ctx context.Context) error {
		for _, client := range clients {
			answer, err := client.Get(ctx, "/payments?limit=1")
			if err == nil && answer.Status != http.StatusUnauthorized {
				err = fmt.Errorf("the answer is %d", answer.Status)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	m.Key = fresh
	m.Client, err = m.Sandbox.Client(w.t.Context(), apis[0])
	w.must(err)
}

// nothingLeftBehind checks the connections that the api's statements used: no state of a sandbox may remain.
func (w *fixture) nothingLeftBehind() {
	w.t.Helper()
	var group sync.WaitGroup
	ready := make(chan struct{})
	for range pooled { // at the same time, so that each uses another connection
		group.Go(func() {
			config, err := pgx.ParseConfig(w.PooledURL())
			if err != nil {
				w.t.Error(err)
				return
			}
			config.DefaultQueryExecMode = pgx.QueryExecModeExec
			conn, err := pgx.ConnectConfig(w.t.Context(), config)
			if err != nil {
				w.t.Error(err)
				return
			}
			defer func() { _ = conn.Close(context.WithoutCancel(w.t.Context())) }()
			<-ready
			var user, tenant, timeout string
			err = conn.QueryRow(w.t.Context(), `select current_user::text, coalesce(current_setting('cauri.tenant', true), ''),
				current_setting('idle_in_transaction_session_timeout') from pg_sleep(0.1)`).Scan(&user, &tenant, &timeout)
			if err != nil || user != "test_api" || tenant != "" || timeout != "0" {
				w.t.Errorf("a connection of the api is left with the role %q, tenant %q, timeout %s: %v", user, tenant, timeout, err)
			}
		})
	}
	close(ready)
	group.Wait()
	locks, err := w.Count(
		w.t.Context(),
		"select count(*) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
	)
	w.must(err)
	if locks > 0 {
		w.t.Errorf("%d advisory locks are left", locks)
	}
}
