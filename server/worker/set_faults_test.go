package worker_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// webhookPresets are the presets of webhooks: what a careful receiver sees of a payment's event, and the beginning of its attempts.
var webhookPresets = map[string]struct{ seen, attempts string }{
	"late-webhook":  {"", ""}, // it waits
	"no-webhook":    {"", "fault no-webhook: not sent {no-webhook}"},
	"twice":         {"good good", "204 {twice}"},
	"twice-at-once": {"good good", "204 {twice-at-once}"},
	"out-of-order":  {"good", "204 {out-of-order}"},
	"webhook-first": {"good", "204 {webhook-first}"},
	"forged":        {"forged good", "401 {forged}, 204 -"},
}

// Each preset of webhooks acts as its sentence says, from when it is set until it is removed, with the worker running.
func TestWebhookPresetsActWhileTheSandboxRuns(t *testing.T) {
	w := newFixture(t, nil)
	r := w.declare()
	w.config.Faults, w.config.API.Faults = nil, true
	w.apply()
	defer w.run()()
	for _, p := range faults.Presets() {
		want, ofWebhooks := webhookPresets[p.Name]
		if ofWebhooks != (p.Fault.Webhook != nil) {
			t.Errorf("say in webhookPresets what a receiver sees of %s", p.Name)
		}
		if !ofWebhooks {
			continue
		}
		entry, err := json.Marshal(p.Fault)
		if err != nil {
			t.Fatal(err)
		}
		w.exec("update organizations set fault_changes = '{}'")
		if err := w.SetFault(t.Context(), w.sandbox.Tenant, faultcounts.Setting{Name: p.Name, Entry: entry, By: "api"}); err != nil {
			t.Fatal(err)
		}
		w.reload()
		id := w.pay(p.Name, payments.Success)
		if p.Name == "out-of-order" {
			w.awaitsOf(r, id, "", "")
			w.awaitsOf(r, w.pay("next", payments.Success), "good", "204 -")
		}
		w.awaitsOf(r, id, want.seen, want.attempts)
		if err := w.RemoveFaults(t.Context(), w.sandbox.Tenant, p.Name); err != nil {
			t.Fatal(err)
		}
		w.reload()
		w.awaitsOf(r, w.pay(p.Name+" is removed", payments.Success), "good", "204 -")
	}
}

// awaitsOf waits until the receiver has seen an event so, and its attempts begin so.
func (w *fixture) awaitsOf(r *carefulReceiver, id payments.ID, seen, attempts string) {
	w.t.Helper()
	eventually(w.t, func() string {
		r.mu.Lock()
		got := strings.Join(r.seen[webhooks.EventID(id)], " ")
		r.mu.Unlock()
		tried := strings.Join(read[[]string](w, `select coalesce(array_agg(coalesce(response_status::text, error) || ' ' || coalesce(faults::text, '-')
			order by attempt), '{}') from delivery_attempts where tenant = $1 and event_id = $2`, w.sandbox.Tenant, postgres.UUID(id)), ", ")
		if got != seen || !strings.HasPrefix(tried, attempts) || attempts == "" && tried != "" {
			return fmt.Sprintf("the receiver saw %q, want %q; attempts %q, want %q", got, seen, tried, attempts)
		}
		if attempts == "" && !read[bool](w, "select due_at > now() + interval '30 seconds' from events where tenant = $1 and id = $2",
			w.sandbox.Tenant, postgres.UUID(id)) {
			return "the event does not wait"
		}
		return ""
	})
}
