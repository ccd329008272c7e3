package ledger_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Whatever is asked of a database that hangs ends, as its absence, without a deadline of the caller's.
func TestNothingWaitsForeverForADatabaseThatHangs(t *testing.T) {
	w := newFixture(t)
	proxy, through := ledgertest.NewProxy(t, w.URL)
	s, err := ledgertest.OpenWith(
		through,
		ledgertest.Options{KeyRing: ledgertest.KeyRing(t), Options: postgres.Options{StatementTimeout: 100 * time.Millisecond, MaxConns: 100}},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	directory := sandboxes.NewDirectory(s.DB)
	ledgertest.Eventually(t, func() bool { return directory.Refresh(t.Context()) == nil })
	client := sandboxes.TestClientConfig{
		UID:      "33333333-3333-3333-3333-333333333333",
		Name:     "alice",
		MSISDN:   "+250788000001",
		Operator: payments.MTN,
		Country:  payments.Rwanda,
	}
	proxy.Swallow()
	calls := map[string]func(context.Context) error{
		"Refresh":      directory.Refresh,
		"Ping":         s.Ping,
		"ApplySandbox": func(ctx context.Context) error { _, err := s.ApplySandbox(ctx, w.Config); return err },
		"ApplyCredentials": func(ctx context.Context) error {
			return s.ApplyCredentials(ctx, w.Config.UID, sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: secret})
		},
		"StoredCredentials": func(ctx context.Context) error { _, err := s.StoredCredentials(ctx, w.Config.UID); return err },
		"DeleteSandbox":     func(ctx context.Context) error { return s.DeleteSandbox(ctx, w.Config.UID) },
		"RetainSandbox":     func(ctx context.Context) error { return s.RetainSandbox(ctx, w.Config.UID) },
		"ApplyTestClient":   func(ctx context.Context) error { _, err := s.ApplyTestClient(ctx, w.Config.UID, client); return err },
		"DeleteTestClient":  func(ctx context.Context) error { return s.DeleteTestClient(ctx, client.UID) },
		"Inventory":         func(ctx context.Context) error { _, err := s.Inventory(ctx); return err },
		"ChangedAccounts":   func(ctx context.Context) error { _, _, err := s.ChangedAccounts(ctx, time.Now()); return err },
		"Reseal":            func(ctx context.Context) error { _, err := s.Reseal(ctx); return err },
		"SealedSecrets":     func(ctx context.Context) error { _, err := s.SealedSecrets(ctx); return err },
		"QueueStatistics":   func(ctx context.Context) error { _, err := s.QueueStatistics(ctx); return err },
		"SettleDue": func(ctx context.Context) error {
			_, err := s.SettleDue(ctx, []queues.DueTenant{{Tenant: w.Sandbox.Tenant}}, 10)
			return err
		},
		"TenantsToSettle":  func(ctx context.Context) error { _, err := s.TenantsToSettle(ctx); return err },
		"RequeueStuck":     func(ctx context.Context) error { _, err := s.RequeueStuck(ctx, 10); return err },
		"TenantsToDeliver": func(ctx context.Context) error { _, err := s.TenantsToDeliver(ctx); return err },
		"TenantsToForward": func(ctx context.Context) error { _, err := s.TenantsToForward(ctx); return err },
		"LeaseDueEvents": func(ctx context.Context) error {
			_, _, err := s.LeaseDueEvents(ctx, w.grant(1), time.Minute, ledgertest.Body())
			return err
		},
		"LeaseDueForwards": func(ctx context.Context) error {
			_, _, err := s.LeaseDueForwards(ctx, w.grant(1), time.Minute)
			return err
		},
		"PurgeRetired":   s.PurgeRetired,
		"RemoveOldUsage": s.RemoveOldUsage,
		"RemoveAged":     func(ctx context.Context) error { _, err := s.RemoveAged(ctx, time.Hour); return err },
		"Retained":       func(ctx context.Context) error { _, err := s.RetainedSandboxes(ctx, time.Hour); return err },
	}
	var all sync.WaitGroup
	for name, call := range calls {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := call(ctx); !errors.Is(err, postgres.ErrUnavailable) || ctx.Err() != nil {
				t.Errorf("%s ended with %v, after the test's own time: %v", name, err, ctx.Err())
			}
		})
	}
	all.Wait()
	proxy.Pass()
	ledgertest.Eventually(t, func() bool { return directory.Refresh(t.Context()) == nil })
}

// beginnings remembers the statements that begin a database transaction.
type beginnings struct {
	mu  sync.Mutex
	all []string
}

func (b *beginnings) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if strings.HasPrefix(data.SQL, "begin") {
		b.all = append(b.all, data.SQL)
	}
	return ctx
}

func (b *beginnings) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A process that is frozen in a database transaction of several statements must not keep its locks: each of them ends by itself.
func TestTransactionsEndByThemselves(t *testing.T) {
	w := newFixture(t)
	var seen beginnings
	s := w.Opened(ledgertest.Options{KeyRing: ledgertest.KeyRing(t), Options: postgres.Options{Tracer: &seen}})
	for name, call := range map[string]func(context.Context) error{
		"a limited request": func(ctx context.Context) error {
			_, err := s.TakeRequests(ctx, w.Sandbox.Tenant, 10, 1, sandboxes.Grant{})
			return err
		},
		"a look at the configuration": sandboxes.NewDirectory(s.DB).Refresh,
		"a settlement": func(ctx context.Context) error {
			_, err := s.SettleDue(ctx, []queues.DueTenant{{Tenant: w.Sandbox.Tenant}}, 10)
			return err
		},
		"a configuration": func(ctx context.Context) error {
			changed := w.Config
			changed.LatencyPercent++
			_, err := s.ApplySandbox(ctx, changed)
			return err
		},
		"a retained sandbox": func(ctx context.Context) error { return s.RetainSandbox(ctx, w.beside("retained").Config.UID) },
	} {
		seen.all = nil
		if err := call(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(seen.all) == 0 {
			t.Errorf("%s begins no database transaction", name)
		}
		for _, begin := range seen.all {
			if !strings.Contains(begin, "idle_in_transaction_session_timeout") {
				t.Errorf("%s begins with %q, which does not end by itself", name, begin)
			}
		}
	}
}

// Who gave up waiting for a connection, or was refused one, has certainly recorded nothing. Who lost the connection behind a statement
// does not know.
func TestWhetherAnythingWasRecorded(t *testing.T) {
	w := newFixture(t)
	proxy, through := ledgertest.NewProxy(t, ledgertest.WholeStatements(w.URL))
	s, err := ledgertest.OpenWith(through, ledgertest.Options{Options: postgres.Options{MaxConns: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	create := func(ctx context.Context, reference string) error {
		return s.CreateCollection(ctx, w.Sandbox.Tenant, w.Collection(reference, payments.Success, alice))
	}
	if err := create(t.Context(), "before"); err != nil {
		t.Fatal(err)
	}
	if err := s.FlushActivity(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Exec("delete from activity")
	proxy.CutAnswer("insert into transactions")
	if err := create(t.Context(), "cut"); !errors.Is(err, postgres.ErrUncertain) || !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("behind a statement: %v", err)
	}
	if n := w.Count("select count(*) from transactions where reference = 'cut'"); n != 1 {
		t.Errorf("the statement whose answer was cut recorded %d", n)
	}
	if err := s.FlushActivity(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.Count("select count(*) from activity"); n != 1 {
		t.Error("the status of the sandbox does not follow what was recorded without an answer")
	}
	if err := create(t.Context(), "after"); err != nil {
		t.Fatal(err)
	}
	proxy.Swallow()
	first := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // in which it gets a connection and is sent
	defer cancel()
	go func() { first <- create(ctx, "sent") }()
	ledgertest.Eventually(t, func() bool { return s.PoolStat().AcquiredConns() == 1 })
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := create(short, "not sent"); errors.Is(err, postgres.ErrUncertain) || !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("before it had a connection: %v", err)
	}
	if err := <-first; !errors.Is(err, postgres.ErrUncertain) {
		t.Errorf("a database that hangs behind a statement: %v", err)
	}
}
