package ledger_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// noon is a time at which clocks of tests stand: neither is near the present.
var noon = time.Date(2031, time.March, 31, 12, 0, 0, 0, time.UTC)

// stampOf is the time in an id.
func stampOf(id payments.ID) time.Time {
	var micros int64
	for _, b := range id[:7] {
		micros = micros<<8 | int64(b)
	}
	return time.UnixMicro(micros).UTC()
}

func TestRecordingAtSandboxTime(t *testing.T) {
	for name, test := range map[string]struct {
		set  func(w *fixture)
		near func(at time.Time) bool
	}{
		"a clock that stands": {func(w *fixture) { w.Stand(noon) }, func(at time.Time) bool {
			return !at.Before(noon) && at.Before(noon.Add(time.Minute))
		}},
		"a clock that is ahead": {func(w *fixture) { w.RunAhead(100 * 24 * time.Hour) }, func(at time.Time) bool {
			return time.Until(at) > 99*24*time.Hour && time.Until(at) < 101*24*time.Hour
		}},
		"no clock": {func(*fixture) {}, func(at time.Time) bool { return time.Since(at).Abs() < 24*time.Hour }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.Client("alice", alice, 100_000)
			test.set(w)
			paid := w.Create(w.Collection("paid", payments.Success, alice))
			failed := w.Create(w.Collection("failed", payments.PINInvalid, alice))
			pending := w.Pending("pending", alice)
			refund := w.Refunded(paid.ID, "refund", 100)
			disbursement := w.Disburse(w.Disbursement("disbursement", payments.Success, alice, 100))
			var before time.Time
			for _, made := range []*payments.Transaction{paid, failed, pending, refund, disbursement} {
				stored := w.Get(made.ID)
				if !test.near(stored.CreatedAt) || !stored.CreatedAt.Equal(made.CreatedAt) {
					t.Errorf("%s: created at %s, and the caller was told %s", made.Reference, stored.CreatedAt, made.CreatedAt)
				}
				if w.Sandbox.Clocked && (!stampOf(made.ID).Equal(stored.CreatedAt) || !stored.CreatedAt.After(before)) {
					t.Errorf("%s: its id has the time %s, it was created at %s, and the one before at %s", made.Reference, stampOf(made.ID),
						stored.CreatedAt, before)
				}
				before = stored.CreatedAt
				if made.Status == payments.Pending {
					continue
				}
				if !stored.CompletedAt.Equal(stored.CreatedAt) {
					t.Errorf("%s: completed at %s", made.Reference, stored.CompletedAt)
				}
				at, due := w.eventTimes(made.ID)
				if !at.Equal(stored.CreatedAt) || !test.near(due) || due.Before(at) {
					t.Errorf("%s: the event is of %s and due at %s", made.Reference, at, due)
				}
			}
			w.Conserved()
		})
	}
}

// eventTimes are when an event was made, and when it is due.
func (w *fixture) eventTimes(id payments.ID) (at, due time.Time) {
	w.T.Helper()
	if err := w.SQL.QueryRow(w.T.Context(), "select created_at, due_at from events where id = $1", postgres.UUID(id)).Scan(&at, &due); err != nil {
		w.T.Fatal(err)
	}
	return at, due
}

// Ids and times rise in the order of recording, whoever records, and the list has them newest first.
func TestIDsRiseInSandboxTime(t *testing.T) {
	const writers, each = 8, 12
	w := newFixture(t)
	w.Client("alice", alice, 1_000_000)
	w.Stand(noon)
	var writing sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	for writer := range writers {
		writing.Go(func() {
			var last *payments.Transaction
			for i := range each {
				reference := fmt.Sprintf("%d-%d", writer, i)
				made, err := w.recordAny(reference, i)
				if err == nil && last != nil && (bytes.Compare(made.ID[:], last.ID[:]) <= 0 || !made.CreatedAt.After(last.CreatedAt)) {
					err = fmt.Errorf("%s of %s follows %s of %s", made.ID, made.CreatedAt, last.ID, last.CreatedAt)
				}
				if err != nil {
					mu.Lock()
					failed = append(failed, fmt.Errorf("%s: %w", reference, err))
					mu.Unlock()
					return
				}
				last = made
			}
		})
	}
	writing.Wait()
	if len(failed) > 0 {
		t.Fatal(errors.Join(failed...))
	}
	listed, err := w.ListTransactions(t.Context(), w.Sandbox.Tenant, lists.Filter{}, nil, 1000)
	if err != nil || len(listed) != writers*each {
		t.Fatalf("%d transactions, %v", len(listed), err)
	}
	if !slices.IsSortedFunc(listed, func(a, b *payments.Transaction) int { return b.CreatedAt.Compare(a.CreatedAt) }) {
		t.Error("the list is not sorted by the time of creation")
	}
	if times := w.Count("select count(distinct created_at) from transactions where tenant = $1", w.Sandbox.Tenant); times != writers*each {
		t.Errorf("%d transactions have %d times of creation", writers*each, times)
	}
	w.Conserved()
}

// recordAny records a collection that is paid or pending, or a disbursement.
func (w *fixture) recordAny(reference string, i int) (*payments.Transaction, error) {
	if i%3 == 2 {
		n := w.Disbursement(reference, payments.Success, alice, 10)
		err := w.CreateDisbursement(w.T.Context(), w.Sandbox.Tenant, n)
		return &n.Transaction, err
	}
	n := w.Collection(reference, []payments.Status{payments.Success, payments.Pending}[i%3], alice)
	err := w.CreateCollection(w.T.Context(), w.Sandbox.Tenant, n)
	return &n.Transaction, err
}

// Who does not know yet that the sandbox has a clock records nothing in database time.
func TestClockIsKnownToWhoeverRecords(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 100_000)
	paid := w.Create(w.Collection("paid", payments.Success, alice))
	before := w.Sandbox.Tenant
	collection, refund := w.Collection("late", payments.Success, alice), w.Refund(paid.ID, "late-refund", 0)
	disbursement := w.Disbursement("late-payout", payments.Success, alice, 10)
	w.Stand(noon)
	for name, err := range map[string]error{
		"collection":   w.CreateCollection(t.Context(), before, collection),
		"disbursement": w.CreateDisbursement(t.Context(), before, disbursement),
		"refund": func() error {
			_, _, err := w.CreateRefund(t.Context(), before, refund)
			return err
		}(),
	} {
		if !errors.Is(err, postgres.ErrConfigChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestQuotaMonthIsOfSandboxTime(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 100_000)
	w.Exec("update organizations set monthly_quota = 1")
	w.Stand(noon) // the last day of a month
	w.Create(w.Collection("march", payments.Success, alice))
	var exceeded ledger.ErrQuotaExceeded
	if err := w.CreateCollection(t.Context(), w.Sandbox.Tenant, w.Collection("second", payments.Success, alice)); !errors.As(err, &exceeded) {
		t.Fatalf("the second in March: %v", err)
	}
	w.Stand(noon.AddDate(0, 0, 1))
	w.Create(w.Collection("april", payments.Success, alice))
	if got := read[string](w, "select string_agg(month || ': ' || used, ', ' order by month) from quota_usage"); got != "2031-03-01: 1, 2031-04-01: 1" {
		t.Error(got)
	}
}

func TestProviderNumberIsWrittenBeside(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 100_000)
	for _, clocked := range []bool{false, true} {
		if clocked {
			w.Stand(noon)
		}
		drawn := func(kind string) ledger.OptionalFields {
			return ledger.OptionalFields{ProviderTxID: fmt.Sprintf("%s-%t", kind, clocked)}
		}
		paid := w.Collection(drawn("paid").ProviderTxID, payments.Success, alice)
		pending := w.Collection(drawn("pending").ProviderTxID, payments.Pending, alice)
		disbursement := w.Disbursement(drawn("disbursement").ProviderTxID, payments.Success, alice, 10)
		paid.Optional, pending.Optional, disbursement.Optional = drawn("paid"), drawn("pending"), drawn("disbursement")
		w.Create(paid)
		w.Create(pending)
		w.Disburse(disbursement)
		refund := w.Refund(paid.Transaction.ID, drawn("refund").ProviderTxID, 0)
		refund.Optional = drawn("refund")
		if _, _, err := w.CreateRefund(t.Context(), w.Sandbox.Tenant, refund); err != nil {
			t.Fatal(err)
		}
	}
	if wrong := read[[]string](w, "select array_agg(reference) from transactions where provider_tx_id is distinct from reference"); wrong != nil {
		t.Errorf("without their number: %s", strings.Join(wrong, ", "))
	}
}
