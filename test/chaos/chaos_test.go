package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Three rounds with one fault for each part of the system: an api and a worker, Postgres, and the Kubernetes API. `make chaos` runs
// more. Then the test checks that the audit finds wrong rows, answers and status. The tests of package faults check the
// rules of package system.
func TestChaos(t *testing.T) {
	var sequence []fault
	for _, name := range []string{"worker killed", "Postgres connections terminated", "etcd frozen"} {
		at := slices.IndexFunc(faults, func(f fault) bool { return f.String() == name })
		sequence = append(sequence, faults[at])
	}
	sequence[0].strike = func(ctx context.Context, w *fixture, draw *rand.Rand) (string, error) {
		api, err := killAPI(ctx, w, draw)
		worker, alsoErr := killWorker(ctx, w, draw)
		return api + " and " + worker, errors.Join(err, alsoErr)
	}
	w := opened(t)
	found, err := w.strike(t.Context(), sequence, rand.New(rand.NewPCG(1, 0)), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range found.problems {
		t.Error(problem)
	}
	if t.Failed() {
		return
	}
	if len(found.rounds) != len(sequence) || found.transactions == 0 {
		t.Errorf("%d rounds with %d transactions, want %d rounds with some", len(found.rounds), found.transactions, len(sequence))
	}
	findsWhatIsWrong(t, w)

	// A harmful fault ends the run, and the report names it. The clients start again with the same references, so each
	// request is a repetition.
	harm := fault{"rows", "changed", func(ctx context.Context, w *fixture, _ *rand.Rand) (string, error) {
		_, err := w.SQL.Exec(ctx, "update floats set balance = balance + 1")
		return "", err
	}}
	found, err = w.strike(t.Context(), []fault{harm, harm}, rand.New(rand.NewPCG(1, 0)), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.rounds) > 0 || len(found.problems) == 0 ||
		!strings.HasPrefix(found.problems[0], "round 1, rows changed: it does not hold that a float is the sum") {
		t.Errorf("%d rounds were sound; found %q, want a float that is not the sum, after the first", len(found.rounds), found.problems)
	}
}

func findsWhatIsWrong(t *testing.T, w *fixture) {
	shop := w.shops[0]
	cases := map[string]struct{ corrupt, restore, want string }{
		"a transaction lost": {
			"create table kept as select * from transactions where reference = 'prompt-0-0-refund'; delete from transactions where reference = 'prompt-0-0-refund'",
			"insert into transactions select * from kept",
			"prompt-0-0-refund is lost",
		},
		"another amount": {
			"update transactions set amount = amount + 1 where reference = 'prompt-0-0-forced'",
			"update transactions set amount = amount - 1 where reference = 'prompt-0-0-forced'", "prompt-0-0-forced is",
		},
		"another reference": {
			"update transactions set reference = 'of nobody' where reference = 'prompt-0-0-forced'",
			"update transactions set reference = 'prompt-0-0-forced' where reference = 'of nobody'", "nobody was told of",
		},
		"an outcome from nowhere": {
			"update transactions set status = 'TIMEOUT', completed_at = now(), due_at = null where reference = 'prompt-0-0-ignored'",
			"update transactions set status = 'PENDING', completed_at = null, due_at = expires_at where reference = 'prompt-0-0-ignored'",
			"payments are pending; clients know of",
		},
		"money of a float, booked everywhere": {
			bookedEverywhere("+ 1"), bookedEverywhere("- 1"),
			"what clients were told sums up to",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w.looksAtEverything()
			exec(t, w, c.corrupt)
			problems, err := w.audit(t.Context())
			// The controller may have read the wrong rows: it reads those of a sandbox again that says that it changed.
			exec(t, w, c.restore+"; update floats set changed_at = now()")
			if err != nil {
				t.Fatal(err)
			}
			if found := strings.Join(problems, "\n"); !strings.Contains(found, shop.resource.Name+": ") || !strings.Contains(found, c.want) {
				t.Errorf("the audit found %q, nothing that says %q", found, c.want)
			}
		})
	}
	t.Run("a status that tells something else", func(t *testing.T) {
		held, err := shop.books(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held.float++
		held.pending++
		held.sims[shop.sims[0].Spec.MSISDN]++
		err = held.tells(shop.resource, shop.sims)
		for _, want := range []string{"balances", "transactions", "the status of " + shop.sims[0].Name} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("found %v, nothing about %s", err, want)
			}
		}
	})
	if problems, err := w.audit(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("the audit finds %v, %v after everything was put right", problems, err)
	}
}

func opened(t *testing.T) *fixture {
	t.Helper()
	w, err := openFixture(t.Context(), t.TempDir(), filepath.Join("..", "..", "config", "crd"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.Logs(20))
		}
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func exec(t *testing.T, w *fixture, statements string) {
	t.Helper()
	if _, err := w.SQL.Exec(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func TestEveryFaultComesOnceBeforeOneComesAgain(t *testing.T) {
	drawn := sequence(faults, 2*len(faults)+1, rand.New(rand.NewPCG(7, 0)))
	seen := map[string]int{}
	for i, f := range drawn {
		if i == len(faults) || i == 2*len(faults) {
			for _, f := range faults {
				if want := i / len(faults); seen[f.String()] != want {
					t.Errorf("%s came %d times among the first %d, want %d", f, seen[f.String()], i, want)
				}
			}
		}
		seen[f.String()]++
	}
	again := sequence(faults, len(drawn), rand.New(rand.NewPCG(7, 0)))
	for i := range drawn {
		if drawn[i].String() != again[i].String() {
			t.Fatalf("the same seed drew %s and %s", drawn[i], again[i])
		}
	}
}

func TestSelectFaults(t *testing.T) {
	selected, err := selectFaults("^(etcd|API server)")
	if err != nil || len(selected) != 4 {
		t.Errorf("selected %v, %v; want what etcd and the API server have", selected, err)
	}
	for _, bad := range []string{"(", "no such fault"} {
		if _, err := selectFaults(bad); err == nil {
			t.Errorf("-faults=%s is no error", bad)
		}
	}
}

// bookedEverywhere changes the float by an amount in all places that follow from one another.
func bookedEverywhere(by string) string {
	return fmt.Sprintf(`update floats set balance = balance %[1]s;
		update adjustments set delta = delta %[1]s, balance_after = balance_after %[1]s where currency is not null;
		update transactions set merchant_balance_after = merchant_balance_after %[1]s`, by)
}
