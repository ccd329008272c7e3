package rules

import (
	"bytes"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// deliveryRules are the rules about the delivery of events.
func deliveryRules() []suite.Rule {
	return []suite.Rule{
		{ID: "delivery/headers", Check: deliveryHeaders,
			Text: "a delivery is a POST of JSON that names its event and its own id in headers"},
		{ID: "delivery/signature", Check: deliverySignature,
			Text: "X-Service-Signature is sha256= and the HMAC-SHA256 of the exact body with the secret"},
		{ID: "delivery/standard-webhooks", Check: deliveryStandardWebhooks,
			Text: "a delivery has the three headers of Standard Webhooks, with a signature by the same secret"},
		{ID: "delivery/retry", Check: deliveryRetry,
			Text: "a delivery that was not acknowledged is retried, with the same bytes and the same id"},
		{ID: "delivery/redirect", Check: deliveryRedirect,
			Text: "a redirect is not followed and is not an acknowledgement"},
		{ID: "delivery/ids", Check: deliveryIDs,
			Text: "each event has a unique id"},
	}
}

// told makes a payment and waits for its event.
func told(c *suite.Check, changes suite.Object) suite.Delivery {
	hears(c)
	c.Needs(suite.MtnRW)
	return delivered(c, suite.TextOf(c.Paid(suite.MtnRW, changes), "id"))
}

func deliveryHeaders(c *suite.Check) {
	d := told(c, nil)
	headers := suite.Object{}
	for _, name := range []string{"Content-Type", "X-Service-Event", "X-Service-Signature", "X-Service-Delivery", "User-Agent"} {
		headers[name] = d.Header.Get(name)
	}
	c.Fields("the headers", headers, suite.Object{
		"Content-Type": suite.Matching(`^application/json`), "X-Service-Event": "payment.completed", "X-Service-Delivery": suite.AnyText,
		"X-Service-Signature": suite.Matching(`^sha256=[0-9a-f]{64}$`), "User-Agent": suite.AnyText,
	})
	if previous := d.Header.Values("X-Service-Signature-Previous"); len(previous) > 0 { // during a rotation of the secret
		c.Fields("the header of the previous secret", suite.Object{"X-Service-Signature-Previous": strings.Join(previous, ", ")},
			suite.Object{"X-Service-Signature-Previous": suite.Matching(`^sha256=[0-9a-f]{64}$`)})
	}
	if d.Method != "POST" {
		c.Problem("the method is %s", d.Method)
	}
	if d.Header.Get("Authorization") != "" {
		c.Problem("the delivery carries an Authorization header")
	}
}

func deliverySignature(c *suite.Check) {
	d := told(c, nil)
	if problem := suite.SignatureProblem(c.Receiver.Secret, d.Header, d.Body); problem != "" {
		c.Problem("%s", problem)
	}
	for _, refused := range c.Receiver.Refusals() {
		c.Problem("%s", refused)
	}
}

func deliveryStandardWebhooks(c *suite.Check) {
	d := told(c, nil)
	if problem := suite.StandardProblem(c.Receiver.Secret, d.Header, d.Body); problem != "" {
		c.Problem("%s", problem)
	}
	if id := d.Header.Get("webhook-id"); id == "" {
		c.Problem("there is no webhook-id")
	}
}

// secondAttempt waits for another delivery of an event and compares it with the first.
func secondAttempt(c *suite.Check, first suite.Delivery) {
	id := suite.TextOf(first.Event, "tx_id")
	c.Eventually(func() string {
		if len(c.Receiver.Of(id)) < 2 {
			return "no second attempt came"
		}
		return ""
	})
	second := c.Receiver.Of(id)[1]
	if !bytes.Equal(first.Body, second.Body) {
		c.Problem("the first attempt's body is %s, the second's is %s", first.Body, second.Body)
	}
	for _, name := range []string{"X-Service-Delivery", "webhook-id", "X-Service-Event"} {
		if first.Header.Get(name) != second.Header.Get(name) {
			c.Problem("%s is %q and then %q", name, first.Header.Get(name), second.Header.Get(name))
		}
	}
	c.Pause(2 * time.Second)
	if n := len(c.Receiver.Of(id)); n != 2 {
		c.Problem("%d attempts came, although the second was acknowledged", n)
	}
}

func deliveryRetry(c *suite.Check) {
	secondAttempt(c, told(c, suite.Object{"reference": c.Reference() + suite.FailsOnce}))
}

func deliveryRedirect(c *suite.Check) {
	secondAttempt(c, told(c, suite.Object{"reference": c.Reference() + suite.MovesOnce}))
	for _, strayed := range c.Receiver.Strays() {
		c.Problem("the redirect was followed: %s", strayed)
	}
}

func deliveryIDs(c *suite.Check) {
	first, second := told(c, nil), told(c, nil)
	if id := first.Header.Get("X-Service-Delivery"); id == second.Header.Get("X-Service-Delivery") {
		c.Problem("two events have the id %q", id)
	}
}
