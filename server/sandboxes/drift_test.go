package sandboxes_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func (w *fixture) inventory() *sandboxes.Inventory {
	w.T.Helper()
	inventory, err := w.Inventory(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	return inventory
}

// TestInventory has what the controller itself does leave no difference, and what others do make one.
func TestInventory(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	sim := number(1, alice)
	if _, err := w.ApplyTestClient(t.Context(), w.Config.UID, sim); err != nil {
		t.Fatal(err)
	}
	holds := func(what string, sandbox, testClient bool) {
		t.Helper()
		inventory := w.inventory()
		if got := inventory.HoldsSandbox(w.Config.UID); got != sandbox {
			t.Errorf("%s: the sandbox is as it was left: %t", what, got)
		}
		if got := inventory.HoldsTestClient(w.Config.UID, sim); got != testClient {
			t.Errorf("%s: the SIM is as it was left: %t", what, got)
		}
		if !inventory.HoldsSandbox(other.Config.UID) {
			t.Errorf("%s: the other sandbox differs", what)
		}
	}
	apply := func() {
		t.Helper()
		if _, err := w.ApplySandbox(t.Context(), w.Config); err != nil {
			t.Fatal(err)
		}
	}
	credentials := sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: "a signing secret of mine"}
	w.applyCredentials(credentials)
	holds("nothing happened", true, true)
	credentials.Native = sandboxes.NativeDigests{payments.MTN: sandboxes.DigestOf("key", "user", "user key").With(map[string]string{"pin": "1234"})}.Encode()
	w.applyCredentials(credentials)
	holds("with credentials of the operators' own APIs", true, true)

	w.Config.Suspended, w.Config.Reset, w.Config.OpeningFloat[payments.RWF] = true, "1", 77
	apply()
	holds("the spec changed, with a reset", true, true)
	w.Config.Suspended = false
	apply()
	w.Exec("update sims set balance = 0")
	w.Exec("update floats set balance = 5")
	holds("balances move", true, true)

	for _, slip := range []string{
		"update organizations set latency_percent = latency_percent + 1 where name = 'checkout'",
		"update organizations set test_numbers = 'Standard' where name = 'checkout'",
		"update organizations set clock_mode = 'Manual' where name = 'checkout'",
		"update organizations set clock_start = now() where name = 'checkout'",
		"update organizations set seed = 1 where name = 'checkout'",
		"update organizations set faults = '[]' where name = 'checkout'",
		"update organizations set callback_hosts = '{*}' where name = 'checkout'",
		"update organizations set webhook_host = 'elsewhere.example' where name = 'checkout'",
		"update organizations set webhook_refusal = 'no' where name = 'checkout'",
		"update environments set vague = true where tenant = (select tenant from organizations where name = 'checkout')",
		"update environments set callback_url = 'http://a.example' where tenant = (select tenant from organizations where name = 'checkout')",
		"update environments set callback_hash = true where tenant = (select tenant from organizations where name = 'checkout')",
		"update environments set quirks = '{\"a\": false}' where tenant = (select tenant from organizations where name = 'checkout')",
		"update environments set place = place + 1 where tenant = (select tenant from organizations where name = 'checkout')",
		"update stores set place = place + 1 where tenant = (select tenant from organizations where name = 'checkout')",
		"update environments set enabled = not enabled where tenant = (select tenant from organizations where name = 'checkout')",
		"delete from stores where tenant = (select tenant from organizations where name = 'checkout')",
	} {
		w.Exec(slip)
		holds(slip, false, true)
		apply()
		holds("put back", true, true)
	}
	w.Exec("update api_keys set hash = sha256('x') where tenant = (select tenant from organizations where name = 'checkout')")
	holds("another key", false, true)
	w.applyCredentials(credentials)
	holds("the key is back", true, true)
	w.Exec("update api_keys set native = '{}' where tenant = (select tenant from organizations where name = 'checkout')")
	holds("other credentials of the operators' own APIs", false, true)
	w.applyCredentials(credentials)
	holds("they are back", true, true)
	replaced := sandboxes.KeyHash{9}
	w.applyCredentials(
		sandboxes.Credentials{APIKeyHash: replaced, Replaces: &w.Key, Grace: time.Hour, SigningSecret: "a signing secret of mine"},
	)
	holds("a key in its grace", true, true)
	w.Exec("update api_keys set expires_at = now() where expires_at is not null")
	holds("its end", false, true)

	w.Exec("update sims set msisdn = '+250788777777'")
	holds("another number", false, false)
	if inventory := w.inventory(); inventory.HoldsTestClient(other.Config.UID, sim) {
		t.Error("a SIM is in two sandboxes")
	}
	count, sims := w.inventory().Orphans(map[string]bool{other.Config.UID: true})
	want := []sandboxes.OrphanedSIM{{TestClientUID: sim.UID, TestClient: sim.Name, SandboxUID: w.Config.UID}}
	if diff := cmp.Diff(want, sims); count != 1 || diff != "" {
		t.Errorf("%d sandboxes are nobody's, want one; SIMs: %s", count, diff)
	}
}

// TestUnchangedIsNotLocked applies what stands there already while somebody holds the rows.
func TestUnchangedIsNotLocked(t *testing.T) {
	w := newFixture(t)
	sim := number(1, alice)
	credentials := sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: "a signing secret of mine"}
	if _, err := w.ApplyTestClient(t.Context(), w.Config.UID, sim); err != nil {
		t.Fatal(err)
	}
	w.applyCredentials(credentials)
	holder := ledgertest.Connect(t, w.URL)
	if _, err := holder.Exec(t.Context(), "begin; select from organizations for update; select from sims for update"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := w.ApplySandbox(ctx, w.Config); err != nil {
		t.Error(err)
	}
	if err := w.ApplyCredentials(ctx, w.Config.UID, credentials); err != nil {
		t.Error(err)
	}
	state, err := w.ApplyTestClient(ctx, w.Config.UID, sim)
	if err != nil || state.Balance != sim.Balance {
		t.Errorf("%v, %v", state, err)
	}
}
