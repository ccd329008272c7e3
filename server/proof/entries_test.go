package proof_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

// entryLine is an entry in one line.
func entryLine(e *proof.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s", e.Number, e.Type, e.Reference)
	for _, p := range e.Postings {
		fmt.Fprintf(&b, " | %s %d %d", p.Account, p.Debit, p.Credit)
	}
	fmt.Fprintf(&b, " = %d", e.BalanceAfter)
	return b.String()
}

// entries are all entries of an account, read in pages of a size.
func (w *fixture) entries(of proof.Account, size int) (all []proof.Entry) {
	w.T.Helper()
	after := int64(0)
	for {
		_, page, err := w.ListEntries(w.T.Context(), w.Sandbox.Tenant, of, after, size)
		if err != nil {
			w.T.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		all, after = append(all, page...), page[len(page)-1].Number
	}
}

func (w *fixture) entryLines(of proof.Account, size int) (lines []string) {
	w.T.Helper()
	all := w.entries(of, size)
	for i := range all {
		lines = append(lines, entryLine(&all[i]))
	}
	return lines
}

func TestEntriesTellEveryMovement(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	paid := w.Create(w.Collection("paid", payments.Success, alice))
	w.Create(w.Collection("outside", payments.Success, "+250788999999")) // nobody's number
	w.Create(w.Collection("failed", payments.UserCancelled, alice))
	w.Pending("pending", alice)
	w.Settle()
	w.Refunded(paid.ID, "refund", 400)
	w.Disburse(w.Disbursement("payout", payments.Success, alice, 50))
	w.Config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 700}
	w.Apply()
	w.Client("alice", alice, 9000)

	want := []string{
		"1 opening  | opening:RWF 1000 0 | float:RWF 0 1000 = 1000",
		"2 collection paid | testClient:+250788000001 1000 0 | float:RWF 0 985 | commission:RWF 0 15 = 1985",
		"3 collection outside | outside:RWF 1000 0 | float:RWF 0 985 | commission:RWF 0 15 = 2970",
		"4 collection pending | testClient:+250788000001 1000 0 | float:RWF 0 985 | commission:RWF 0 15 = 3955",
		"5 refund refund | float:RWF 400 0 | testClient:+250788000001 0 400 = 3555",
		"6 disbursement payout | float:RWF 50 0 | testClient:+250788000001 0 50 = 3505",
		"7 adjustment  | adjustment:RWF 0 2805 | float:RWF 2805 0 = 700",
	}
	for _, size := range []int{1, 3, 100} {
		if diff := cmp.Diff(want, w.entryLines(proof.Account{Currency: payments.RWF}, size)); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
	if diff := cmp.Diff([]string{
		"1 opening  | opening:RWF 5000 0 | testClient:+250788000001 0 5000 = 5000",
		"2 collection paid | testClient:+250788000001 1000 0 | float:RWF 0 985 | commission:RWF 0 15 = 4000",
		"3 collection pending | testClient:+250788000001 1000 0 | float:RWF 0 985 | commission:RWF 0 15 = 3000",
		"4 refund refund | float:RWF 400 0 | testClient:+250788000001 0 400 = 3400",
		"5 disbursement payout | float:RWF 50 0 | testClient:+250788000001 0 50 = 3450",
		"6 adjustment  | adjustment:RWF 5550 0 | testClient:+250788000001 0 5550 = 9000",
	}, w.entryLines(proof.Account{MSISDN: alice}, 2)); diff != "" {
		t.Errorf("the test client (-want +got):\n%s", diff)
	}
	for _, unknown := range []proof.Account{{MSISDN: "+250788999999"}, {Currency: "USD"}} {
		if _, _, err := w.ListEntries(t.Context(), w.Sandbox.Tenant, unknown, 0, 1); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%s: %v", unknown, err)
		}
	}
	if account, page, err := w.ListEntries(t.Context(), w.Sandbox.Tenant, proof.Account{}, 6, 10); err != nil || len(page) != 1 ||
		account != (proof.Account{Currency: payments.RWF}) {
		t.Errorf("the first float is %s with %d entries, %v", account, len(page), err)
	}
}
