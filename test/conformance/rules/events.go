package rules

import (
	"fmt"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// eventRules are about what the events say.
func eventRules() []suite.Rule {
	return []suite.Rule{
		{ID: "events/collection", Check: eventsCollection,
			Text: "a payment that settles is told of by payment.completed, with every field and its type"},
		{ID: "events/collection-full", Check: eventsCollectionFull,
			Text: "an event carries the order, the description and the scenario of its transaction"},
		{ID: "events/every-outcome", Check: eventsEveryOutcome,
			Text: "every terminal outcome of a payment is told of by one payment.completed with its status"},
		{ID: "events/refund", Check: eventsRefund,
			Text: "a refund is told of by payment.refunded, with parent_tx_id"},
		{ID: "events/disbursement", Check: eventsDisbursement,
			Text: "a disbursement is told of by disbursement.completed, without parent_tx_id"},
		{ID: "events/failed-disbursement", Check: eventsFailedDisbursement,
			Text: "a disbursement that failed is told of by disbursement.completed with its status"},
		{ID: "events/pending", Check: eventsPending,
			Text: "a PENDING payment is not told of"},
		{ID: "events/replay", Check: eventsReplay,
			Text: "a replay is not told of again"},
	}
}

// hears ends the check unless events are received.
func hears(c *suite.Check) {
	if c.Receiver == nil {
		c.NotChecked("no -webhook address to receive events at")
	}
}

// eventPatience is how long an event may take. An endpoint that was away for long is tried once a minute.
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

// eventOf is the event of a transaction, by the transaction's representation: the same in snake_case, with amounts as texts.
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

// sameTime wants a time of the same second, however it is written.
func sameTime(wanted any) suite.Matcher {
	want, _ := suite.TimeOf(wanted)
	return suite.Expecting(fmt.Sprintf("the time %v", wanted), func(v any) bool {
		got, ok := suite.TimeOf(v)
		return ok && got.Sub(want).Abs() < time.Second
	})
}

// tells notes a problem unless an event tells of a transaction, as it is now.
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
	tells(c, "disbursement.completed", suite.TextOf(c.Payout(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN}), "tx_id"))
}

func eventsFailedDisbursement(c *suite.Check) {
	hears(c)
	c.NeedsSIM(suite.Payer, suite.Blocked)
	for _, changes := range []suite.Object{nil, {"msisdn": suite.Blocked.MSISDN}, {"msisdn": suite.Payer.MSISDN, "amount": suite.LargestAmount}} {
		tells(c, "disbursement.completed", suite.TextOf(c.Payout(suite.MtnRW, changes), "tx_id"))
	}
}

func eventsPending(c *suite.Check) {
	hears(c)
	c.NeedsSIM(suite.Ignores)
	p := c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Ignores.MSISDN})
	c.Pause(3 * time.Second)
	if found := c.Receiver.Of(suite.TextOf(p, "id")); len(found) > 0 {
		c.Problem("a payment that is PENDING was told of: %s", found[0].Body)
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
