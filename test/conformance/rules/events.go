package rules

import (
	"fmt"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// eventRules are the rules about the content of events.
func eventRules() []suite.Rule {
	return []suite.Rule{
		{ID: "events/collection", Check: eventsCollection,
			Text: "a payment that settles has the event payment.completed, with all fields and their types"},
		{ID: "events/collection-full", Check: eventsCollectionFull,
			Text: "an event carries the order, the description and the scenario of its transaction"},
		{ID: "events/every-outcome", Check: eventsEveryOutcome,
			Text: "every terminal outcome of a payment has one event payment.completed with its status"},
		{ID: "events/refund", Check: eventsRefund,
			Text: "a refund has the event payment.refunded, with parent_tx_id"},
		{ID: "events/disbursement", Check: eventsDisbursement,
			Text: "a disbursement has the event disbursement.completed, without parent_tx_id"},
		{ID: "events/failed-disbursement", Check: eventsFailedDisbursement,
			Text: "a failed disbursement has the event disbursement.completed with its status"},
		{ID: "events/pending", Check: eventsPending,
			Text: "no event of a PENDING payment is delivered"},
		{ID: "events/replay", Check: eventsReplay,
			Text: "a replay causes no event"},
	}
}

// hears ends the check if the suite receives no events.
func hears(c *suite.Check) {
	if c.Receiver == nil {
		c.NotChecked("no -webhook address to receive events at")
	}
}

// eventPatience is the timeout of an event. The service retries an endpoint that was unavailable for long once a
// minute.
const eventPatience = 90 * time.Second

// delivered waits for the first delivery of a transaction's event.
func delivered(c *suite.Check, id string) suite.Delivery {
	deadline := time.Now().Add(eventPatience)
	for {
		if found := c.Receiver.Of(id); len(found) > 0 {
			return found[0]
		}
		if trouble := c.Receiver.Trouble(id); trouble != "" {
			c.Fail("%s", trouble)
		}
		if time.Now().After(deadline) {
			c.Fail("no event of %s came within %v", id, eventPatience)
		}
		c.Pause(50 * time.Millisecond)
	}
}

// eventOf is the event of a transaction, derived from its representation: snake_case, with amounts as texts.
func eventOf(name string, t suite.Object) suite.Object {
	want := suite.Object{
		"event": name, "tx_id": t["id"], "org_id": suite.Matching(orgID), "env_id": t["environmentId"],
		"country": t["country"], "operator": t["operator"], "amount": fmt.Sprint(t["amount"]),
		"merchant_absorption_pct": t["merchantAbsorptionPct"], "commission_mode": t["commissionMode"], "currency": t["currency"],
		"msisdn": t["msisdn"], "reference": t["reference"], "status": t["status"], "latency_ms": t["latencyMs"],
		"created_at": sameTime(t["createdAt"]), "completed_at": sameTime(t["completedAt"]), "scenario": t["scenario"],
		"provider_tx_id": t["providerTxId"], "description": t["description"], "raw": t["raw"],
		"order_ref": t["orderRef"], "order_url": t["orderUrl"], "parent_tx_id": suite.Absent,
	}
	for field, source := range map[string]string{
		"commission": "commission", "net_amount": "netAmount", "customer_total": "customerTotal", "merchant_share": "merchantShare", "customer_share": "customerShare",
	} {
		want[field] = fmt.Sprintf("%v.00", t[source])
	}
	if t["type"] == "refund" {
		want["parent_tx_id"] = t["parentTxId"]
	}
	return want
}

// sameTime matches a time in the same second, in any notation.
func sameTime(wanted any) suite.Matcher {
	want, _ := suite.TimeOf(wanted)
	return suite.Expecting(fmt.Sprintf("the time %v", wanted), func(v any) bool {
		got, ok := suite.TimeOf(v)
		return ok && got.Sub(want).Abs() < time.Second
	})
}

// tells records a problem unless an event matches its transaction in its current state.
func tells(c *suite.Check, name, id string) {
	d := delivered(c, id)
	c.Fields("the event", d.Event, eventOf(name, c.Fetch(id)))
}

func eventsCollection(c *suite.Check) {
	hears(c)
	c.NeedsSIM(suite.Payer, suite.AirtelPayer, suite.OrangePayer, suite.MoovPayer)
	for _, card := range []suite.SimCard{suite.Payer, suite.AirtelPayer, suite.OrangePayer, suite.MoovPayer} {
		p := c.Settled(c.Pay(card.Home, suite.Object{"msisdn": card.MSISDN, "amount": 1234}))
		tells(c, "payment.completed", suite.TextOf(p, "id"))
	}
}

func eventsCollectionFull(c *suite.Check) {
	hears(c)
	c.Needs(suite.MtnRW)
	p := c.Paid(suite.MtnRW, suite.Object{
		"order_ref":        "order-" + c.Unique(),
		"order_url":        "https://shop.example/1?a=b&c=d",
		"description":      "« été » <b> & 🎫",
		"is_url_protected": true,
	})
	tells(c, "payment.completed", suite.TextOf(p, "id"))
}

func eventsEveryOutcome(c *suite.Check) {
	hears(c)
	c.NeedsSIM(suite.Blocked)
	made := []suite.Object{c.Pay(suite.MtnRW, nil), c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Blocked.MSISDN})}
	for _, s := range scenarios {
		made = append(made, c.Pay(suite.MtnRW, suite.Object{"scenario": s.name}))
	}
	for _, p := range made {
		tells(c, "payment.completed", suite.TextOf(p, "id"))
	}
	c.Pause(2 * time.Second)
	for _, p := range made {
		if n := len(c.Receiver.Of(suite.TextOf(p, "id"))); n != 1 {
			c.Problem("%d deliveries of %v came, want 1", n, p["id"])
		}
	}
}

func eventsRefund(c *suite.Check) {
	hears(c)
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, suite.Object{"order_url": "https://shop.example/5"})
	r := c.Refund(parent, suite.Object{"amount": 500})
	c.Fields("the event", delivered(c, suite.TextOf(r, "id")).Event, suite.Object{"parent_tx_id": parent["id"]})
	tells(c, "payment.refunded", suite.TextOf(r, "id"))
}

func eventsDisbursement(c *suite.Check) {
	hears(c)
	c.NeedsSIM(suite.Payer)
	tells(c, "disbursement.completed", suite.TextOf(c.Disburse(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN}), "tx_id"))
}

func eventsFailedDisbursement(c *suite.Check) {
	hears(c)
	c.NeedsSIM(suite.Payer, suite.Blocked)
	for _, changes := range []suite.Object{nil, {"msisdn": suite.Blocked.MSISDN}, {"msisdn": suite.Payer.MSISDN, "amount": suite.LargestAmount}} {
		tells(c, "disbursement.completed", suite.TextOf(c.Disburse(suite.MtnRW, changes), "tx_id"))
	}
}

func eventsPending(c *suite.Check) {
	hears(c)
	c.NeedsSIM(suite.Ignores)
	p := c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Ignores.MSISDN})
	c.Pause(3 * time.Second)
	if found := c.Receiver.Of(suite.TextOf(p, "id")); len(found) > 0 {
		c.Problem("an event of a PENDING payment was delivered: %s", found[0].Body)
	}
}

func eventsReplay(c *suite.Check) {
	hears(c)
	c.Needs(suite.MtnRW)
	body := c.Collection(suite.MtnRW, suite.Object{"scenario": "success"})
	p := c.Expect(c.Post("/payments", body), http.StatusCreated)
	delivered(c, suite.TextOf(p, "id"))
	replayed(c, c.Post("/payments", body), p)
	c.Pause(2 * time.Second)
	if n := len(c.Receiver.Of(suite.TextOf(p, "id"))); n != 1 {
		c.Problem("%d deliveries came, want 1", n)
	}
}
