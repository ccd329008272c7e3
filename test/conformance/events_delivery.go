package main

import (
	"bytes"
	"strings"
	"time"
)

// deliveryRules are about how events are delivered.
func deliveryRules() []rule {
	return []rule{
		{id: "delivery/headers", check: deliveryHeaders,
			text: "a delivery is a POST of JSON that names its event and its own id in headers"},
		{id: "delivery/signature", check: deliverySignature,
			text: "X-Service-Signature is sha256= and the HMAC-SHA256 of the exact body with the secret"},
		{id: "delivery/standard-webhooks", check: deliveryStandardWebhooks,
			text: "the three headers of Standard Webhooks are there, with a signature by the same secret"},
		{id: "delivery/retry", check: deliveryRetry,
			text: "a delivery that was not acknowledged is tried again, with the same bytes and the same id"},
		{id: "delivery/redirect", check: deliveryRedirect,
			text: "a redirect is not followed, and is no acknowledgement"},
		{id: "delivery/ids", check: deliveryIDs,
			text: "each event has an id of its own"},
	}
}

// told makes a payment and waits for its event.
func (c *check) told(changes object) delivery {
	c.hears()
	c.needs(mtnRW)
	return c.delivered(textOf(c.paid(mtnRW, changes), "id"))
}

func deliveryHeaders(c *check) {
	d := c.told(nil)
	headers := object{}
	for _, name := range []string{"Content-Type", "X-Service-Event", "X-Service-Signature", "X-Service-Delivery", "User-Agent"} {
		headers[name] = d.header.Get(name)
	}
	c.fields("the headers", headers, object{
		"Content-Type": matching(`^application/json`), "X-Service-Event": "payment.completed", "X-Service-Delivery": anyText,
		"X-Service-Signature": matching(`^sha256=[0-9a-f]{64}$`), "User-Agent": anyText,
	})
	if previous := d.header.Values("X-Service-Signature-Previous"); len(previous) > 0 { // while the secret is being rotated
		c.fields("the header of the previous secret", object{"X-Service-Signature-Previous": strings.Join(previous, ", ")},
			object{"X-Service-Signature-Previous": matching(`^sha256=[0-9a-f]{64}$`)})
	}
	if d.method != "POST" {
		c.problem("the method is %s", d.method)
	}
	if d.header.Get("Authorization") != "" {
		c.problem("the delivery carries an Authorization header")
	}
}

func deliverySignature(c *check) {
	d := c.told(nil)
	if problem := signatureProblem(c.receiver.secret, d.header, d.body); problem != "" {
		c.problem("%s", problem)
	}
	for _, refused := range c.receiver.refusals() {
		c.problem("%s", refused)
	}
}

func deliveryStandardWebhooks(c *check) {
	d := c.told(nil)
	if problem := standardProblem(c.receiver.secret, d.header, d.body); problem != "" {
		c.problem("%s", problem)
	}
	if id := d.header.Get("webhook-id"); id == "" {
		c.problem("there is no webhook-id")
	}
}

// secondAttempt waits for another delivery of an event, and compares it with the first.
func (c *check) secondAttempt(first delivery) {
	id := textOf(first.event, "tx_id")
	c.eventually(func() string {
		if len(c.receiver.of(id)) < 2 {
			return "no second attempt came"
		}
		return ""
	})
	second := c.receiver.of(id)[1]
	if !bytes.Equal(first.body, second.body) {
		c.problem("the first attempt's body is %s, the second's is %s", first.body, second.body)
	}
	for _, name := range []string{"X-Service-Delivery", "webhook-id", "X-Service-Event"} {
		if first.header.Get(name) != second.header.Get(name) {
			c.problem("%s is %q and then %q", name, first.header.Get(name), second.header.Get(name))
		}
	}
	c.pause(2 * time.Second)
	if n := len(c.receiver.of(id)); n != 2 {
		c.problem("%d attempts came, the second of which was acknowledged", n)
	}
}

func deliveryRetry(c *check) {
	c.secondAttempt(c.told(object{"reference": c.reference() + failsOnce}))
}

func deliveryRedirect(c *check) {
	c.secondAttempt(c.told(object{"reference": c.reference() + movesOnce}))
	for _, strayed := range c.receiver.strays() {
		c.problem("the redirect was followed: %s", strayed)
	}
}

func deliveryIDs(c *check) {
	first, second := c.told(nil), c.told(nil)
	if id := first.header.Get("X-Service-Delivery"); id == second.header.Get("X-Service-Delivery") {
		c.problem("two events have the id %q", id)
	}
}
