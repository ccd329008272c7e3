package proof_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

// accounts are all accounts, read in pages of a size.
func (w *fixture) accounts(size int) (all []proof.AccountProof, balanced bool) {
	w.T.Helper()
	after := proof.Account{}
	balanced = true
	for {
		page, whole, err := w.ListAccounts(w.T.Context(), w.Sandbox.Tenant, after, size)
		if err != nil {
			w.T.Fatal(err)
		}
		if len(page) == 0 {
			return all, balanced
		}
		all, after, balanced = append(all, page...), page[len(page)-1].Account, balanced && whole
	}
}

func TestAccountsOfTheLedger(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	w.Client("bob", "+250788000002", 70)
	w.Refunded(w.Create(w.Collection("paid", payments.Success, alice)).ID, "refund", 400)
	w.Disburse(w.Disbursement("payout", payments.Success, "+250788000002", 50))
	float := proof.AccountProof{
		Account: proof.Account{Currency: payments.RWF}, Opening: 1000, Collections: 985, Refunds: -400, Disbursements: -50, Balance: 1535,
		Movements: 4,
	}
	want := []proof.AccountProof{
		float,
		{Account: proof.Account{Currency: payments.XOF}, Movements: 1},
		{Account: proof.Account{payments.RWF, alice}, Opening: 5000, Collections: -1000, Refunds: 400, Balance: 4400, Movements: 3},
		{Account: proof.Account{payments.RWF, "+250788000002"}, Opening: 70, Disbursements: 50, Balance: 120, Movements: 2},
	}
	for _, size := range []int{1, 3, 10} {
		got, balanced := w.accounts(size)
		if diff := cmp.Diff(want, got); diff != "" || !balanced {
			t.Errorf("pages of %d, balanced %t (-want +got):\n%s", size, balanced, diff)
		}
	}

	for _, account := range want {
		got, err := w.FindAccount(t.Context(), w.Sandbox.Tenant, account.Account)
		if diff := cmp.Diff(&account, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", account, err, diff)
		}
	}
	for _, none := range []proof.Account{{Currency: "XXX"}, {MSISDN: "+250788000003"}, {}} {
		if got, err := w.FindAccount(t.Context(), w.Sandbox.Tenant, none); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%s, which is not there: %+v, %v", none, got, err)
		}
	}

	// What a worker verified is not read again, and what came since is added.
	w.Exec(`insert into account_proofs (tenant, account, verified_up_to, verified_at, balance, opening, adjustments, collections, refunds,
		disbursements) values ($1, 'RWF', 3, now(), 1585, 900, 100, 985, -400, 0)`, w.Sandbox.Tenant)
	got, balanced := w.accounts(10)
	if f := got[0]; !balanced || f.Opening != 900 || f.Adjustments != 100 || f.Disbursements != -50 || f.VerifiedUpTo != 3 ||
		f.VerifiedAt == nil {
		t.Errorf("behind a verification it is %+v, balanced %t", f, balanced)
	}

	// A balance that was changed by hand is told before a worker has seen it, and what a worker found as it found it.
	w.Exec("update floats set balance = balance + 7 where currency = 'RWF'")
	got, balanced = w.accounts(1)
	if diff := cmp.Diff(&proof.Imbalance{Amount: 7, After: 3}, got[0].Imbalance); diff != "" || balanced {
		t.Errorf("a changed balance, balanced %t (-want +got):\n%s", balanced, diff)
	}
	w.Exec("update account_proofs set imbalance = 7, broken_after = 2, broken_before = 3")
	w.Exec("insert into ledger_proofs (tenant, broken) values ($1, 1)", w.Sandbox.Tenant)
	got, _ = w.accounts(1)
	if diff := cmp.Diff(&proof.Imbalance{Amount: 7, After: 2, Before: 3}, got[0].Imbalance); diff != "" {
		t.Errorf("what a worker found (-want +got):\n%s", diff)
	}
	if page, whole, err := w.ListAccounts(t.Context(), w.Sandbox.Tenant, proof.Account{MSISDN: alice}, 1); err != nil || whole ||
		len(page) != 1 || page[0].Imbalance != nil {
		t.Errorf("the page without the broken account: %+v, balanced %t, %v", page, whole, err)
	}
}

// While money moves, what is told at one moment adds up: each account by itself, and float and test client with each other.
func TestLedgerIsOneSnapshot(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 1_000_000)
	const payers, each = 4, 25
	var work sync.WaitGroup
	for p := range payers {
		work.Go(func() {
			for i := range each {
				n := w.Collection(fmt.Sprintf("paid-%d-%d", p, i), payments.Success, alice)
				n.Transaction.Commission, n.Transaction.NetAmount = 0, 1000
				if err := w.CreateCollection(t.Context(), w.Sandbox.Tenant, n); err != nil {
					t.Error(err)
					return
				}
				if _, _, err := w.CreateRefund(t.Context(), w.Sandbox.Tenant, w.Refund(n.Transaction.ID, fmt.Sprintf("back-%d-%d", p, i), 300)); err != nil {
					t.Error(err)
				}
				if err := w.CreateDisbursement(t.Context(), w.Sandbox.Tenant,
					w.Disbursement(fmt.Sprintf("out-%d-%d", p, i), payments.Success, alice, 5)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	looks, last := 0, false
	for !last && !t.Failed() {
		select {
		case <-done:
			last = true // one more look
		default:
		}
		looks++
		all, balanced := w.accounts(10)
		if !balanced {
			t.Errorf("it is not balanced: %+v", all)
		}
		float, sim := all[0], all[2]
		if float.Collections != -sim.Collections || float.Refunds != -sim.Refunds || float.Disbursements != -sim.Disbursements {
			t.Errorf("float and test client are of two moments: %+v, %+v", float, sim)
		}
		entries := w.entries(float.Account, 7)
		balance := int64(0)
		for i := range entries {
			e := &entries[i]
			for _, p := range e.Postings {
				if p.Account == float.Account.String() {
					balance += p.Credit - p.Debit
				}
			}
			if e.Number != int64(i+1) || e.BalanceAfter != balance {
				t.Fatalf("entry %d: %s, want the balance %d", i+1, entryLine(e), balance)
			}
		}
		if int64(len(entries)) < float.Movements {
			t.Errorf("%d entries after %d movements", len(entries), float.Movements)
		}
	}
	if float := w.entries(proof.Account{Currency: payments.RWF}, 1000); len(float) != 1+3*payers*each {
		t.Errorf("%d entries in the end, after %d looks", len(float), looks)
	}
	w.Conserved()
}
