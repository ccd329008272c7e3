package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func quota(n int64) func(*sandboxes.Config) {
	return func(c *sandboxes.Config) { c.MonthlyQuota = &n }
}

// creations are the four statements that record a transaction.
func (w *fixture) creations(parent payments.ID) map[string]func(reference string) error {
	return map[string]func(string) error{
		"a collection that waits": func(r string) error {
			return w.CreateCollection(context.Background(), w.Sandbox.Tenant, w.Collection(r, payments.Pending, alice))
		},
		"a collection that failed": func(r string) error {
			return w.CreateCollection(context.Background(), w.Sandbox.Tenant, w.Collection(r, payments.PINInvalid, alice))
		},
		"a collection that succeeds": func(r string) error {
			return w.CreateCollection(context.Background(), w.Sandbox.Tenant, w.Collection(r, payments.Success, alice))
		},
		"a refund": func(r string) error {
			_, _, err := w.CreateRefund(context.Background(), w.Sandbox.Tenant, w.Refund(parent, r, 1))
			return err
		},
		"a disbursement": func(r string) error {
			return w.CreateDisbursement(context.Background(), w.Sandbox.Tenant, w.Disbursement(r, payments.Success, alice, 1))
		},
		"a disbursement that failed": func(r string) error {
			return w.CreateDisbursement(context.Background(), w.Sandbox.Tenant, w.Disbursement(r, payments.UnknownMSISDN, alice, 1))
		},
	}
}

func TestQuotaOfEveryKind(t *testing.T) {
	w := newFixture(t, quota(8))
	w.Client("alice", alice, 50_000)
	other := w.beside("other")
	parent := w.Create(w.Collection("parent", payments.Success, alice)).ID
	other.Create(other.Collection("parent", payments.Success, alice))
	used := func() int { return w.Count("select sum(used) from quota_usage where tenant = $1", w.Sandbox.Tenant) }
	for name, create := range w.creations(parent) {
		before := used()
		if err := create(name); err != nil || used() != before+1 {
			t.Errorf("%s: %v, %d are counted", name, err, used()-before)
		}
		if taken := new(ledger.ErrReferenceTaken); !errors.As(create(name), &taken) || used() != before+1 {
			t.Errorf("%s, repeated, is counted", name)
		}
	}
	w.Create(w.Collection("the last one", payments.Pending, alice))
	before := w.Count("select count(*) from transactions")
	for name, create := range w.creations(parent) {
		if err := create("more " + name); err != (ledger.ErrQuotaExceeded{Quota: 8}) {
			t.Errorf("%s, beyond the quota: %v", name, err)
		}
		if taken := new(ledger.ErrReferenceTaken); !errors.As(create(name), &taken) {
			t.Errorf("%s, repeated, does not return what was made", name)
		}
	}
	if n := w.Count("select count(*) from transactions"); n != before || used() != 8 {
		t.Errorf("%d were recorded beyond the quota, %d are counted", n-before, used())
	}
	other.Create(other.Collection("theirs", payments.Pending, alice))
	w.Exec("update quota_usage set month = month - interval '1 month'")
	for name, create := range w.creations(parent) {
		if err := create("next month " + name); err != nil {
			t.Errorf("%s, in the next month: %v", name, err)
		}
	}
	w.Conserved()
}

func TestConfigurationThatChangesTheQuota(t *testing.T) {
	w := newFixture(t, quota(1))
	n := w.Collection("r1", payments.Pending, alice)
	old := w.Collection("r2", payments.Pending, alice)
	w.Create(n)
	if err := w.CreateCollection(t.Context(), w.Sandbox.Tenant, old); err != (ledger.ErrQuotaExceeded{Quota: 1}) {
		t.Errorf("beyond the quota: %v", err)
	}
	quota(2)(&w.Config)
	w.Apply()
	if err := w.CreateCollection(t.Context(), w.Sandbox.Tenant, old); !errors.Is(err, postgres.ErrConfigChanged) {
		t.Errorf("on the configuration before the quota was raised: %v", err)
	}
	w.Reload()
	w.Create(w.Collection("r2", payments.Pending, alice))
	w.Config.MonthlyQuota = nil
	w.Open()
	w.Create(w.Collection("r3", payments.Pending, alice))
	if used := w.Count("select sum(used) from quota_usage"); used != 2 {
		t.Errorf("%d are counted", used)
	}
}

func TestQuotaUnderConcurrency(t *testing.T) {
	for name := range (&fixture{}).creations(payments.ID{}) {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, quota(11))
			w.Client("alice", alice, 50_000)
			create := w.creations(w.Create(w.Collection("parent", payments.Success, alice)).ID)[name]
			var made, refused atomic.Int32
			var wg sync.WaitGroup
			for i := range 32 {
				wg.Go(func() {
					switch err := create(fmt.Sprint("r", i)); {
					case err == nil:
						made.Add(1)
					case err == ledger.ErrQuotaExceeded{Quota: 11}:
						refused.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if made.Load() != 10 || refused.Load() != 22 || w.Count("select count(*) from transactions") != 11 ||
				w.Count("select used from quota_usage") != 11 {
				t.Errorf("of 32 with 10 left, %d were made and %d refused", made.Load(), refused.Load())
			}
			w.Conserved()
		})
	}
}
