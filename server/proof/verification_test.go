package proof_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// verify verifies the ledger of the sandbox.
func (w *fixture) verify() *proof.VerifiedLedger {
	w.T.Helper()
	verified, err := w.Verify(w.T.Context(), w.Sandbox.Tenant)
	if err != nil || verified == nil {
		w.T.Fatalf("the verification: %v, %v", verified, err)
	}
	return verified
}

// duePass makes the next verification one of everything.
func (w *fixture) duePass() {
	w.T.Helper()
	w.Exec("update ledger_proofs set pass_due_at = now() where tenant = $1", w.Sandbox.Tenant)
}

// accountProof is what is written down of an account.
type accountProof struct {
	UpTo, Balance, Opening, Adjustments, Collections, Refunds, Disbursements int64
}

func (w *fixture) proof(account string) accountProof {
	w.T.Helper()
	var p accountProof
	err := w.SQL.QueryRow(w.T.Context(), `select verified_up_to, balance, opening, adjustments, collections, refunds, disbursements
		from account_proofs where tenant = $1 and account = $2`, w.Sandbox.Tenant, account).Scan(
		&p.UpTo, &p.Balance, &p.Opening, &p.Adjustments, &p.Collections, &p.Refunds, &p.Disbursements)
	if err != nil {
		w.T.Fatal(err)
	}
	return p
}

// sim is the id of a SIM.
func (w *fixture) sim(msisdn string) string {
	w.T.Helper()
	return read[string](w, "select sim_id::text from sims where tenant = $1 and msisdn = $2", w.Sandbox.Tenant, msisdn)
}

// trade moves the float and the SIM in every way: by collections at once and settled, a refund, a payout, and new balances.
func (w *fixture) trade(name string) {
	w.T.Helper()
	parent := w.Create(w.Collection(name+"-at-once", payments.Success, alice))
	w.Pending(name+"-pending", alice)
	w.Create(w.Collection(name+"-failed", payments.PINInvalid, alice))
	w.Settle()
	w.Refunded(parent.ID, name+"-refund", 300)
	if err := w.CreateDisbursement(w.T.Context(), w.Sandbox.Tenant, w.Disbursement(name+"-payout", payments.Success, alice, 200)); err != nil {
		w.T.Fatal(err)
	}
	w.Config.OpeningFloat[payments.RWF]++
	w.Apply()
	w.Reload()
}

func TestLedgerIsVerified(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 10_000)
	w.trade("a")
	if got := w.verify(); !got.Passed || !got.Changed || len(got.Broken) > 0 {
		t.Errorf("the first verification: %+v", got)
	}
	if diff := cmp.Diff(accountProof{
		UpTo: 6, Balance: 1001, Opening: 1000, Adjustments: 1001 - 1000 - 2*985 + 300 + 200, Collections: 2 * 985,
		Refunds: -300, Disbursements: -200,
	}, w.proof("RWF")); diff != "" {
		t.Errorf("the float (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(accountProof{
		UpTo: 5, Balance: 8500, Opening: 10_000, Collections: -2000, Refunds: 300, Disbursements: 200,
	}, w.proof(w.sim(alice))); diff != "" {
		t.Errorf("the SIM (-want +got):\n%s", diff)
	}

	w.trade("b")
	if got := w.verify(); got.Passed || got.Changed || len(got.Broken) > 0 {
		t.Errorf("the next verification: %+v", got)
	}
	float, sim := w.proof("RWF"), w.proof(w.sim(alice))
	if float.UpTo != 11 || float.Balance != 1002 || sim.UpTo != 9 || sim.Balance != 7000 {
		t.Errorf("it goes on to %+v and %+v", float, sim)
	}
	w.duePass()
	if got := w.verify(); !got.Passed || got.Changed || len(got.Broken) > 0 {
		t.Errorf("the next pass: %+v", got)
	}
	if diff := cmp.Diff([]accountProof{float, sim}, []accountProof{w.proof("RWF"), w.proof(w.sim(alice))}); diff != "" {
		t.Errorf("the pass comes to something else (-before +after):\n%s", diff)
	}
	w.Conserved()
}

func TestWhatDoesNotFollowIsFound(t *testing.T) {
	cases := map[string]struct {
		sql  string
		want string // SIM stands for the id of the SIM
	}{
		"float's balance":  {"update floats set balance = balance + 100 where currency = 'RWF'", "RWF is 100 above the sum of its movements, after the movement 11, the last one"},
		"SIM's balance":    {"update sims set balance = balance - 7", "SIM is 7 below the sum of its movements, after the movement 9, the last one"},
		"changed movement": {"update transactions set merchant_delta = merchant_delta + 5 where reference = 'b-at-once'", "RWF is 5 below the sum of its movements, between the movements 6 and 7"},
		"changed movement of the SIM": {
			"update transactions set sim_delta = sim_delta + 5 where reference = 'b-payout'", "SIM is 5 below the sum of its movements, between the movements 8 and 9",
		},
		"changed balance on the way": {
			"update transactions set merchant_balance_after = merchant_balance_after - 3 where reference = 'b-refund'",
			"RWF is 3 below the sum of its movements, between the movements 8 and 9",
		},
		"removed movement": {
			"delete from transactions where reference = 'b-refund'",
			"RWF is 300 below the sum of its movements, between the movements 8 and 10; SIM is 300 above the sum of its movements, between the movements 7 and 9",
		},
		"removed last movement": {
			"delete from adjustments where number = 11", "RWF is ADJUSTED below the sum of its movements, after the movement 10, the last one",
		},
		"changed old movement": {
			"update transactions set merchant_delta = merchant_delta + 5 where reference = 'a-at-once'", "RWF is 5 below the sum of its movements, between the movements 1 and 2",
		},
		"removed old movement": {
			"delete from adjustments where number = 1 and currency = 'RWF'", "RWF is 1000 above the sum of its movements, between the movements 0 and 2",
		},
		"removed SIM's opening": {
			"delete from adjustments where sim_id is not null", "SIM is 10000 above the sum of its movements, between the movements 0 and 2",
		},
		"counter": {"update floats set movements = 99 where currency = 'RWF'", "the numbers of the movements of RWF do not follow, after the movement 11, the last one"},
		"number that is twice": {
			"update transactions set sim_number = 9 where reference = 'b-refund'",
			"SIM is 200 above the sum of its movements, between the movements 7 and 9",
		},
		"status": {
			"update transactions set status = 'TIMEOUT', merchant_delta = 0, sim_delta = 0 where reference = 'b-pending'",
			"RWF is 985 above the sum of its movements, between the movements 7 and 9; SIM is 1000 below the sum of its movements, between the movements 6 and 8",
		},
	}
	for name, c := range cases {
		for _, passes := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/pass=%t", name, passes), func(t *testing.T) {
				w := newFixture(t)
				w.Client("alice", alice, 10_000)
				w.trade("a")
				w.verify()
				w.trade("b")
				adjusted := read[int64](w, "select -delta from adjustments where number = 11")
				w.Exec(c.sql)
				old := strings.Contains(name, "old") || strings.Contains(name, "opening")
				if passes {
					w.duePass()
					w.VerifyInBatches(2)
				}
				found := w.verify()
				if old && !passes {
					if found.Passed || len(found.Broken) > 0 {
						t.Errorf("what was verified was verified again: %+v", found)
					}
					return
				}
				want := strings.ReplaceAll(c.want, "SIM", w.sim(alice))
				want = strings.ReplaceAll(want, "ADJUSTED", fmt.Sprint(adjusted))
				if got := strings.Join(found.Broken, "; "); !found.Changed || got != want {
					t.Fatalf("it found, changed %t:\n%s\nwant\n%s", found.Changed, got, want)
				}
				// It stays, while all that comes is right, and ends when the next pass finds nothing.
				w.Create(w.Collection("later", payments.Success, alice))
				if again := w.verify(); again.Passed || again.Changed || len(again.Broken) == 0 {
					t.Errorf("the next verification: %+v", again)
				}
				if n := w.Count("select broken from ledger_proofs"); n != len(found.Broken) {
					t.Errorf("%d accounts are broken", n)
				}
			})
		}
	}
}

// What moves a balance has a number: the database refuses it otherwise.
func TestNothingMovesWithoutANumber(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 10_000)
	w.trade("a")
	for sql, constraint := range map[string]string{
		"update transactions set merchant_number = 0 where reference = 'a-refund'":        "transactions_merchant_number",
		"update transactions set sim_number = 0 where reference = 'a-refund'":             "transactions_sim_number",
		"update adjustments set number = 0":                                               "adjustments_number_check",
		"update transactions set merchant_number = default where reference = 'a-at-once'": "transactions_merchant_number",
	} {
		var refused *pgconn.PgError
		if _, err := w.SQL.Exec(t.Context(), sql); !errors.As(err, &refused) || refused.ConstraintName != constraint {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A balance that is made right by hand is right again at once.
func TestWhatIsMadeRightIsFound(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 10_000)
	w.trade("a")
	w.verify()
	w.Exec("update floats set balance = balance + 100 where currency = 'RWF'")
	if got := w.verify(); len(got.Broken) != 1 || !got.Changed {
		t.Fatalf("it found %+v", got)
	}
	if n := w.Count("select imbalance from ledger_proofs"); n != 100 {
		t.Errorf("the imbalance is %d", n)
	}
	w.Exec("update floats set balance = balance - 100 where currency = 'RWF'")
	if got := w.verify(); len(got.Broken) != 0 || !got.Changed {
		t.Fatalf("it found %+v", got)
	}
}

// Whatever happens at the same time, a right ledger is found right.
func TestVerificationDuringPayments(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 1_000_000)
	ctx, stop := context.WithCancel(t.Context())
	var verifying, paying sync.WaitGroup
	verified := make(chan int, 2)
	for i := range 2 {
		verifying.Go(func() {
			n := 0
			for ctx.Err() == nil {
				if i == 0 {
					w.duePass()
				}
				got, err := w.Verify(t.Context(), w.Sandbox.Tenant)
				if err != nil || got != nil && len(got.Broken) > 0 {
					t.Errorf("a right ledger: %+v, %v", got, err)
					break
				}
				if got != nil {
					n++
				}
			}
			verified <- n
		})
	}
	for payer := range 4 {
		paying.Go(func() {
			for i := range 25 {
				name := fmt.Sprintf("%d-%d", payer, i)
				parent := w.Create(w.Collection(name, payments.Success, alice))
				w.Pending(name+"-p", alice)
				w.Refunded(parent.ID, name+"-r", 1)
				if err := w.CreateDisbursement(t.Context(), w.Sandbox.Tenant, w.Disbursement(name+"-d", payments.Success, alice, 1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	paying.Go(func() {
		for range 25 {
			w.Settle()
			w.Client("alice", alice, int64(1_000_000+w.Count("select count(*) from transactions")), func(c *sandboxes.TestClientConfig) {
				c.Generation = int64(w.Count("select generation + 1 from sims"))
			})
		}
	})
	paying.Wait()
	stop()
	verifying.Wait()
	if a, b := <-verified, <-verified; a+b == 0 {
		t.Error("nothing was verified")
	}
	w.Conserved()
	w.duePass()
	if got := w.verify(); len(got.Broken) > 0 {
		t.Errorf("at the end: %+v", got)
	}
}

// One worker has a ledger to itself, and one that dies leaves it to another.
func TestVerificationIsLeased(t *testing.T) {
	w := newFixture(t)
	w.Exec("insert into ledger_proofs (tenant, fence, leased_until) values ($1, 1, now() + interval '1 minute')", w.Sandbox.Tenant)
	if got, err := w.Verify(t.Context(), w.Sandbox.Tenant); got != nil || err != nil {
		t.Errorf("somebody else has it: %+v, %v", got, err)
	}
	if due, err := w.TenantsToVerify(t.Context(), 10); len(due) > 0 || err != nil {
		t.Errorf("due: %v, %v", due, err)
	}
	w.Exec("update ledger_proofs set leased_until = now() - interval '1 second'")
	if due, err := w.TenantsToVerify(t.Context(), 10); len(due) != 1 || err != nil {
		t.Errorf("due: %v, %v", due, err)
	}
	if got := w.verify(); !got.Passed || len(got.Broken) > 0 {
		t.Errorf("it found %+v", got)
	}
	if due, err := w.TenantsToVerify(t.Context(), 10); len(due) > 0 || err != nil {
		t.Errorf("due: %v, %v", due, err)
	}
	w.Exec("update ledger_proofs set verified_at = now() - interval '31 seconds'")
	w.Exec("insert into activity (tenant, changed_at) values ($1, now()) on conflict (tenant) do update set changed_at = now()", w.Sandbox.Tenant)
	if due, err := w.TenantsToVerify(t.Context(), 10); len(due) != 1 || err != nil {
		t.Errorf("something happened: %v, %v", due, err)
	}
}

func TestLedgerIsVerifiedWhenAsked(t *testing.T) {
	w := newFixture(t)
	w.verify()
	asked, err := w.AskForPass(t.Context(), w.Sandbox.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		if passed, err := w.PassedSince(t.Context(), w.Sandbox.Tenant, asked); passed != want || err != nil {
			t.Errorf("verified: %t, %v, want %t", passed, err, want)
		}
		w.verify()
	}
	if _, err := w.AskForPass(t.Context(), -1); !errors.Is(err, postgres.ErrConfigChanged) {
		t.Errorf("a sandbox that is gone: %v", err)
	}
	if _, err := w.PassedSince(t.Context(), -1, asked); !errors.Is(err, postgres.ErrConfigChanged) {
		t.Errorf("a sandbox that is gone: %v", err)
	}
}
