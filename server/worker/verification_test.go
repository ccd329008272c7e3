package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/worker"
)

// awaitLedger waits until the verification of the sandbox's ledger says that so many balances are broken.
func (w *fixture) awaitLedger(broken int) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var got int
		err := w.sql.QueryRow(w.t.Context(), "select coalesce(sum(broken), -1) from ledger_proofs where passed_at is not null").Scan(&got)
		if err != nil {
			w.t.Fatal(err)
		}
		if got == broken {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%d balances are broken, want %d", got, broken)
		}
	}
}

// A worker finds by itself that a balance was changed by hand, and that it was changed back.
func TestLedgerIsWatched(t *testing.T) {
	logged := &log{}
	w := newFixture(t, nil)
	w.pay("r1", payments.Success)
	stop := w.run(logged.into)
	w.awaitLedger(0)
	stop()
	for _, change := range []struct {
		sql    string
		broken int
		says   string
	}{
		{"update floats set balance = balance + 100", 1, "RWF is 100 above the sum of its movements"},
		{"update floats set balance = balance - 100", 0, "every balance follows"},
	} {
		w.exec(change.sql)
		w.exec("update ledger_proofs set verified_at = now() - interval '1 hour'") // the time passes
		w.exec("insert into activity (tenant) select tenant from organizations on conflict (tenant) do update set changed_at = now()")
		stop := w.run(logged.into)
		w.awaitLedger(change.broken)
		logged.until(t, change.says)
		stop()
	}
}

// A worker that dies in the middle of a verification leaves it to another one.
func TestVerificationOfADeadWorkerIsDoneByAnother(t *testing.T) {
	w := newFixture(t, nil)
	w.pay("r1", payments.Success)
	begun := make(chan struct{})
	stop := w.run(func(o *worker.Options) {
		o.Database = &dyingVerifier{Store: o.Database.(*ledgertest.Store), begun: begun}
	})
	<-begun
	stop()
	w.exec("insert into ledger_proofs (tenant, fence, leased_until) select tenant, 1, now() + interval '1 second' from organizations")
	w.run()
	w.awaitLedger(0)
}

// dyingVerifier is a database on which no verification ends.
type dyingVerifier struct {
	*ledgertest.Store
	begun chan struct{}
}

func (d *dyingVerifier) Verify(ctx context.Context, _ int64) (*proof.VerifiedLedger, error) {
	close(d.begun)
	<-ctx.Done()
	return nil, ctx.Err()
}

// A ledger that cannot be verified is left alone for a while, and its resource says so.
func TestLedgerThatCannotBeVerifiedIsSkipped(t *testing.T) {
	w := newFixture(t, nil)
	w.run(func(o *worker.Options) { o.Database = &failingVerifier{o.Database.(*ledgertest.Store)} })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var failures int
		err := w.sql.QueryRow(t.Context(), "select count(*) from sweep_failures where sweep = 'verification' and error = 'odd row'").Scan(&failures)
		if err != nil {
			t.Fatal(err)
		}
		if failures == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the failure is not written down")
		}
	}
}

type failingVerifier struct{ *ledgertest.Store }

func (failingVerifier) Verify(context.Context, int64) (*proof.VerifiedLedger, error) {
	return nil, errors.New("odd row")
}
