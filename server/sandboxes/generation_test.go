package sandboxes_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// What a controller has read of a resource before the last change must neither empty the sandbox again nor set a float back.
func TestAnEarlierGenerationOfASandboxIsRefused(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.Generation = 1 })
	generation := func(n int64, reset string, float int64) sandboxes.Config {
		config := w.Config
		config.Generation, config.Reset, config.OpeningFloat = n, reset, map[payments.Currency]int64{payments.RWF: float}
		return config
	}
	second, third := generation(2, "run-1", 7000), generation(3, "run-2", 9000)
	for _, config := range []sandboxes.Config{second, third} {
		w.Config = config
		w.Apply()
		w.Reload()
	}
	w.Create(w.Collection("r1", payments.Success, ""))
	before, tenant, float := w.Written(), w.Sandbox.Tenant, w.Apply().Balances[payments.RWF]

	for name, stale := range map[string]sandboxes.Config{
		"second": second, "first": generation(1, "", 1000), "one that no rollback led back from": func() sandboxes.Config {
			c := second
			c.RolledBack = 2
			return c
		}(),
	} {
		_, err := w.ApplySandbox(t.Context(), stale)
		if refused := new(sandboxes.ErrStaleGeneration); !errors.As(err, refused) || refused.Applied != 3 {
			t.Errorf("the %s generation after the third: %v", name, err)
		}
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows were written:\n%s", diff)
	}
	w.Reload()
	if state := w.Apply(); w.Sandbox.Tenant != tenant || state.Reset != "run-2" || state.Balances[payments.RWF] != float {
		t.Errorf("tenant %d after %d, reset %q, float %d after %d", w.Sandbox.Tenant, tenant, state.Reset, state.Balances[payments.RWF], float)
	}

	// The present one goes on repairing what somebody changed by hand, and an API server that was restored is followed.
	w.Exec("delete from stores")
	w.Apply()
	if n := w.Count("select count(*) from stores"); n != 1 {
		t.Errorf("%d stores after the repair", n)
	}
	second.RolledBack = 3
	if state, err := w.ApplySandbox(t.Context(), second); err != nil || state.Reset != "run-1" || state.Balances[payments.RWF] != 7000 {
		t.Errorf("after the API server was restored: %+v, %v", state, err)
	}
	w.Conserved()
}

func TestAnEarlierGenerationOfATestClientIsRefused(t *testing.T) {
	w := newFixture(t)
	config := number(1, alice)
	apply := func(generation, balance, rolledBack int64) error {
		config.Generation, config.Balance, config.RolledBack = generation, balance, rolledBack
		_, err := w.ApplyTestClient(t.Context(), w.Config.UID, config)
		return err
	}
	for generation, balance := range []int64{100, 200, 300} {
		if err := apply(int64(generation)+1, balance, 0); err != nil {
			t.Fatal(err)
		}
	}
	w.Exec("insert into adjustments (tenant, sim_id, delta, balance_after, number) select tenant, sim_id, -50, 250, movements + 1 from sims")
	w.Exec("update sims set balance = 250, movements = movements + 1")
	refused := func() {
		t.Helper()
		for _, rolledBack := range []int64{0, 2} {
			err := apply(2, 200, rolledBack)
			if stale := new(sandboxes.ErrStaleGeneration); !errors.As(err, stale) || stale.Applied != 3 {
				t.Errorf("the second generation after the third: %v", err)
			}
		}
	}
	refused()
	if w.Balance(alice) != 250 {
		t.Errorf("the SIM has %d", w.Balance(alice))
	}
	if err := apply(3, 300, 0); err != nil || w.Balance(alice) != 250 {
		t.Errorf("the present one: %v, the SIM has %d", err, w.Balance(alice))
	}
	w.reset("1")
	refused() // it is remembered over a reset
	if err := apply(2, 200, 3); err != nil || w.Balance(alice) != 200 {
		t.Errorf("after the API server was restored: %v, the SIM has %d", err, w.Balance(alice))
	}
	w.sweepRetired()
	w.Conserved()
}
