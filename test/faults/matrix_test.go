package faults

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

// webhookFaults are the faults of webhooks that can be compared with the number of events: each acts on the first attempt of every one.
var webhookFaults = map[string]string{
	"drop": `{"drop":true}`, "duplicate": `{"duplicate":3,"spacing":"50ms"}`, "delay": `{"delay":"2s"}`,
	"before-answer": `{"beforeAnswer":true}`, "bad-signature": `{"badSignature":true}`, "stale-timestamp": `{"staleTimestamp":"10m"}`,
	"truncate": `{"truncate":true}`, "content-type": `{"contentType":"text/plain"}`, "unknown-field": `{"unknownField":true}`,
	"unknown-event": `{"unknownEvent":true}`,
}

// A worker is killed while it sends the events of sandboxes with faults. A fault applies to each event once, is counted
// once, and the event is delivered.
func TestWorkerKilledWhileWebhooksHaveFaults(t *testing.T) {
	if os.Getenv("CAURI_TEST_WHOLE") == "" {
		t.Skip("CAURI_TEST_WHOLE=1 runs it")
	}
	const backlog = 100
	w := newFixture(t)
	api := w.api("api")
	merchants := map[string]*system.Merchant{}
	for name, webhook := range webhookFaults {
		m := w.merchant(name, api, system.AcknowledgeAfter(50*time.Millisecond), func(c *sandboxes.Config) {
			c.Faults = fmt.Appendf(nil, `[{"name":%q,"when":{"attempt":1},"webhook":%s}]`, name, webhook)
			c.Webhook.Retry.InitialDelay = 100 * time.Millisecond
		})
		w.pay(m, system.NewPayment("model", system.Unregistered, "cancelled"))
		w.must(m.EventBacklog(t.Context(), "model", backlog))
		merchants[name] = m
	}
	victim := w.worker("victim")
	w.worker("survivor")
	w.reaches(int64(len(merchants)*backlog/4), "attempts are written down", "select count(*) from delivery_attempts")
	victim.Kill()
	w.audited()
	for name, m := range merchants {
		w.must(w.Drained(t.Context(), stall, m.Sandbox))
		for what, query := range map[string]string{
			"delivered events":    "select count(*) from events where tenant = $1 and state = 'delivered'",
			"events with a fault": "select count(*) from delivery_attempts where tenant = $1 and faults is not null and attempt = 1",
			"acts":                "select sum(acts)::bigint from fault_counts where tenant = $1",
			"transactions with the fault and the truth": `select count(*) from transactions where tenant = $1 and cardinality(faults) = 1
				and status = 'USER_CANCELLED'`,
		} {
			got, err := w.Count(t.Context(), query, m.Tenant)
			w.must(err)
			if got != 1+backlog {
				t.Errorf("%s: %d %s, want %d", name, got, what, 1+backlog)
			}
		}
	}
	w.audited()
}
