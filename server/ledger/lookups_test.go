package ledger_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// What is looked up together is what each asked for, whoever asks for the same, for nothing that there is, with an older
// configuration, or for what belongs to somebody else.
func TestLookUpsThatWaitTogether(t *testing.T) {
	w, other := scopes(t)
	s := w.Opened(ledgertest.Options{Options: postgres.Options{MaxConns: 4}})
	made := func(reference string) *payments.Transaction {
		return w.Get(w.Create(w.Collection(reference, payments.PINInvalid, alice)).ID)
	}
	first, second := made("l1"), made("l2")
	foreign := payments.ID(
		read[[][]byte](other, "select array_agg(uuid_send(id)) from transactions where tenant = $1", other.Sandbox.Tenant)[0],
	)
	theirs := other.Get(foreign)
	before := *w.Sandbox
	before.ConfigVersion--
	asked := []struct {
		sandbox *sandboxes.Sandbox
		id      payments.ID
		want    *payments.Transaction
	}{
		{w.Sandbox, first.ID, first},
		{w.Sandbox, second.ID, second},
		{w.Sandbox, first.ID, first},
		{w.Sandbox, payments.ID{1}, nil},
		{&before, first.ID, first},
		{w.Sandbox, foreign, nil},
		{w.Sandbox, second.ID, second},
		{other.Sandbox, foreign, theirs},
		{other.Sandbox, foreign, theirs},
		{other.Sandbox, first.ID, nil},
	}
	type answer struct {
		transaction *payments.Transaction
		err         error
	}
	var answers []chan answer
	release := w.holding("lock table transactions in access exclusive mode")
	for i, a := range asked {
		answers = append(answers, make(chan answer, 1))
		go func() {
			found, err := s.GetTransactionBatched(context.Background(), a.sandbox, a.id)
			answers[i] <- answer{found, err}
		}()
		w.until("the first waits for the table", func() bool { return w.blocked() == 1 })
		w.until("the others wait behind it", func() bool { return s.LookUpsWaiting() == i })
	}
	release()
	seen := map[*payments.Transaction]bool{}
	for i, a := range asked {
		got := <-answers[i]
		switch {
		case a.want == nil && !errors.Is(got.err, ledger.ErrNotFound):
			t.Errorf("%d: got %v, want ErrNotFound", i, got.err)
		case a.want != nil && got.err != nil:
			t.Errorf("%d: %v", i, got.err)
		case a.want != nil && seen[got.transaction]:
			t.Errorf("%d: two have one answer between them", i)
		}
		if a.want != nil && got.err == nil {
			if diff := cmp.Diff(a.want, got.transaction); diff != "" {
				t.Errorf("%d (-want +got):\n%s", i, diff)
			}
			seen[got.transaction] = true
		}
	}
}

func TestLookUpsOfManyAtOneTime(t *testing.T) {
	w := newFixture(t)
	s := w.Opened(ledgertest.Options{Options: postgres.Options{MaxConns: 4}})
	var made []*payments.Transaction
	for _, n := range w.collections(20) {
		n.Transaction.Status = payments.PINInvalid
		made = append(made, w.Create(n))
	}
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for range 50 {
				want := made[rand.IntN(len(made))]
				got, err := s.GetTransactionBatched(t.Context(), w.Sandbox, want.ID)
				if err != nil || got.ID != want.ID || got.Reference != want.Reference {
					t.Errorf("asked for %s, got %+v, %v", want.ID, got, err)
				}
			}
		})
	}
	all.Wait()
}
