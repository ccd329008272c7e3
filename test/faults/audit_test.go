package faults

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

// All other tests rely on the audit. Each of its rules must find a violation.
func TestTheAuditFindsWhatIsWrong(t *testing.T) {
	w := newFixture(t)
	m := w.merchant("audited", w.api("api"), system.Acknowledge)
	w.worker("worker")
	payer, err := m.AddPayer(t.Context(), 1, payments.Approve, 1000)
	w.must(err)
	ignores, err := m.AddPayer(t.Context(), 2, payments.Ignore, 1000)
	w.must(err)
	paid := w.pay(m, system.NewPayment("paid", payer.MSISDN, "success"))
	_, err = m.Client.Insist(t.Context(), "/payments/"+paid.TransactionID()+"/refund", map[string]any{"amount": 10, "reference": "refund"})
	w.must(err)
	w.must(w.Drained(t.Context(), stall, m.Sandbox))
	w.pay(m, system.NewPayment("pending", ignores.MSISDN, ""))
	w.audited()

	cases := map[string]struct{ corrupt, rule string }{
		"money from nowhere": {"update floats set balance = balance + 1", "a float is the sum"},
		"money of a SIM":     {"update sims set balance = balance - 1 where balance > 0", "a SIM is the sum"},
		"moved in both places": {
			"with f as (update floats set balance = balance + 1) update transactions set merchant_delta = merchant_delta + 1 where reference = 'paid'",
			"moved what its type",
		},
		"no event": {
			"delete from events where id = (select id from transactions where reference = 'paid')",
			"a terminal transaction has an event",
		},
		"an event too early": {
			"insert into events (tenant, id, state) select tenant, id, 'recorded' from transactions where status = 'PENDING'",
			"a pending transaction has none",
		},
		"an event of nothing": {
			"insert into events (tenant, id, state) select tenant, gen_random_uuid(), 'recorded' from organizations",
			"an event has a transaction",
		},
		"a refund too many":  {"update transactions set refunded = refunded + 1 where reference = 'paid'", "what was refunded"},
		"money that is owed": {"alter table sims drop constraint sims_balance_check; update sims set balance = -1", "no balance is below zero"},
		"a reference twice": {"drop index transactions_reference; update transactions set reference = 'paid'",
			"a reference has one transaction"},
		"a payment forgotten": {"update transactions set due_at = null where status = 'PENDING'", "what is pending"},
		"an event forgotten": {
			"update events set state = 'queued', due_at = null where state = 'delivered'",
			"what is pending, and what is to be sent",
		},
		"delivered without word": {"update events set attempts = 0 where state = 'delivered'", "an event that is delivered"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tx, err := w.SQL.Begin(t.Context())
			w.must(err)
			defer func() { w.must(tx.Rollback(t.Context())) }()
			_, err = tx.Exec(t.Context(), c.corrupt)
			w.must(err)
			problems, err := system.Audit(t.Context(), tx)
			w.must(err)
			if found := strings.Join(problems, "\n"); !strings.Contains(found, c.rule) {
				t.Errorf("the audit found %q, nothing about the rule that %s...", found, c.rule)
			}
		})
	}
}

func TestTheAuditFindsWhatDidNotArrive(t *testing.T) {
	w := newFixture(t)
	m := w.merchant("audited", w.api("api"), system.Acknowledge)
	other := w.merchant("other", w.api("api-2"), system.Acknowledge)
	w.worker("worker")
	w.pay(m, system.NewPayment("paid", system.Unregistered, "success"))
	w.drained(m)
	cases := map[string]struct {
		of   *system.Merchant
		at   *system.Receiver
		want string
	}{
		"lost":             {m, other.Receiver, "never arrived"},
		"somebody else's":  {other, m.Receiver, "belongs to no transaction"},
		"not signed right": {m, m.Receiver, "X-Service-Signature does not match"},
	}
	m.Receiver.Trust("another secret")
	w.pay(m, system.NewPayment("refused", system.Unregistered, "success"))
	w.until(time.Minute, "a delivery is refused", func(context.Context) error {
		if len(m.Receiver.Refused()) == 0 {
			return errors.New("none was")
		}
		return nil
	})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			problems, err := c.of.AuditDeliveries(t.Context(), c.at)
			w.must(err)
			if found := strings.Join(problems, "\n"); !strings.Contains(found, c.want) {
				t.Errorf("the audit found %q, nothing that %s", found, c.want)
			}
		})
	}
}
