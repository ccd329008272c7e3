package main

import (
	"fmt"
	"net/http"
	"time"
)

// eventRules are about what the events say.
func eventRules() []rule {
	return []rule{
		{id: "events/collection", check: eventsCollection,
			text: "a payment that settles is told of by payment.completed, with every field and its type"},
		{id: "events/collection-full", check: eventsCollectionFull,
			text: "an event carries the order, the description and the scenario of its transaction"},
		{id: "events/every-outcome", check: eventsEveryOutcome,
			text: "every terminal outcome of a payment is told of by one payment.completed with its status"},
		{id: "events/refund", check: eventsRefund,
			text: "a refund is told of by payment.refunded, with parent_tx_id"},
		{id: "events/disbursement", check: eventsDisbursement,
			text: "a disbursement is told of by disbursement.completed, without parent_tx_id"},
		{id: "events/failed-disbursement", check: eventsFailedDisbursement,
			text: "a disbursement that failed is told of by disbursement.completed with its status"},
		{id: "events/pending", check: eventsPending,
			text: "a PENDING payment is not told of"},
		{id: "events/replay", check: eventsReplay,
			text: "a replay is not told of again"},
	}
}

// hears ends the check unless events are received.
func (c *check) hears() {
	if c.receiver == nil {
		c.notChecked("no -webhook address to receive events at")
	}
}

// eventPatience is how long an event may take. An endpoint that was away for long is tried once a minute.
const eventPatience = 90 * time.Second

// delivered waits for the first delivery of a transaction's event.
func (c *check) delivered(id string) delivery {
	deadline := time.Now().Add(eventPatience)
	for {
		if found := c.receiver.of(id); len(found) > 0 {
			return found[0]
		}
		if trouble := c.receiver.trouble(id); trouble != "" {
			c.fail("%s", trouble)
		}
		if time.Now().After(deadline) {
			c.fail("no event of %s came within %v", id, eventPatience)
		}
		c.pause(50 * time.Millisecond)
	}
}

// eventOf is the event of a transaction, by the transaction's representation: the same in snake_case, with amounts as texts.
func eventOf(name string, t object) object {
	want := object{
		"event": name, "tx_id": t["id"], "org_id": matching(orgID), "env_id": t["environmentId"],
		"country": t["country"], "operator": t["operator"], "amount": fmt.Sprint(t["amount"]),
		"merchant_absorption_pct": t["merchantAbsorptionPct"], "commission_mode": t["commissionMode"], "currency": t["currency"],
		"msisdn": t["msisdn"], "reference": t["reference"], "status": t["status"], "latency_ms": t["latencyMs"],
		"created_at": sameTime(t["createdAt"]), "completed_at": sameTime(t["completedAt"]), "scenario": t["scenario"],
		"provider_tx_id": t["providerTxId"], "description": t["description"], "raw": t["raw"],
		"order_ref": t["orderRef"], "order_url": t["orderUrl"], "parent_tx_id": absent,
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
func sameTime(wanted any) matcher {
	want, _ := timeOf(wanted)
	return expecting(fmt.Sprintf("the time %v", wanted), func(v any) bool {
		got, ok := timeOf(v)
		return ok && got.Sub(want).Abs() < time.Second
	})
}

// tells notes a problem unless an event tells of a transaction, as it is now.
func (c *check) tells(name, id string) {
	d := c.delivered(id)
	c.fields("the event", d.event, eventOf(name, c.fetch(id)))
}

func eventsCollection(c *check) {
	c.hears()
	c.needsSIM(payer, airtelPayer, orangePayer, moovPayer)
	for _, card := range []simCard{payer, airtelPayer, orangePayer, moovPayer} {
		p := c.settled(c.pay(card.home, object{"msisdn": card.msisdn, "amount": 1234}))
		c.tells("payment.completed", textOf(p, "id"))
	}
}

func eventsCollectionFull(c *check) {
	c.hears()
	c.needs(mtnRW)
	p := c.paid(mtnRW, object{
		"order_ref": "order-" + c.unique(), "order_url": "https://shop.example/1?a=b&c=d", "description": "« été » <b> & 🎫", "is_url_protected": true,
	})
	c.tells("payment.completed", textOf(p, "id"))
}

func eventsEveryOutcome(c *check) {
	c.hears()
	c.needsSIM(blocked)
	made := []object{c.pay(mtnRW, nil), c.pay(mtnRW, object{"msisdn": blocked.msisdn})}
	for _, s := range scenarios {
		made = append(made, c.pay(mtnRW, object{"scenario": s.name}))
	}
	for _, p := range made {
		c.tells("payment.completed", textOf(p, "id"))
	}
	c.pause(2 * time.Second)
	for _, p := range made {
		if n := len(c.receiver.of(textOf(p, "id"))); n != 1 {
			c.problem("%d deliveries of %v came, want 1", n, p["id"])
		}
	}
}

func eventsRefund(c *check) {
	c.hears()
	c.needs(mtnRW)
	parent := c.paid(mtnRW, object{"order_url": "https://shop.example/5"})
	r := c.refund(parent, object{"amount": 500})
	c.fields("the event", c.delivered(textOf(r, "id")).event, object{"parent_tx_id": parent["id"]})
	c.tells("payment.refunded", textOf(r, "id"))
}

func eventsDisbursement(c *check) {
	c.hears()
	c.needsSIM(payer)
	c.tells("disbursement.completed", textOf(c.payout(mtnRW, object{"msisdn": payer.msisdn}), "tx_id"))
}

func eventsFailedDisbursement(c *check) {
	c.hears()
	c.needsSIM(payer, blocked)
	for _, changes := range []object{nil, {"msisdn": blocked.msisdn}, {"msisdn": payer.msisdn, "amount": largestAmount}} {
		c.tells("disbursement.completed", textOf(c.payout(mtnRW, changes), "tx_id"))
	}
}

func eventsPending(c *check) {
	c.hears()
	c.needsSIM(ignores)
	p := c.pay(mtnRW, object{"msisdn": ignores.msisdn})
	c.pause(3 * time.Second)
	if found := c.receiver.of(textOf(p, "id")); len(found) > 0 {
		c.problem("a payment that is PENDING was told of: %s", found[0].body)
	}
}

func eventsReplay(c *check) {
	c.hears()
	c.needs(mtnRW)
	body := c.collection(mtnRW, object{"scenario": "success"})
	p := c.expect(c.post("/payments", body), http.StatusCreated)
	c.delivered(textOf(p, "id"))
	c.replayed(c.post("/payments", body), p)
	c.pause(2 * time.Second)
	if n := len(c.receiver.of(textOf(p, "id"))); n != 1 {
		c.problem("%d deliveries came, want 1", n)
	}
}
