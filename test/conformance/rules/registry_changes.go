package rules

import (
	"net/http"
	"slices"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// registryChangeRules are the rules about test clients that are made through the API, and about resets, which are optional parts.
func registryChangeRules() []suite.Rule {
	return []suite.Rule{
		{ID: "clients/create", Check: registryCreate,
			Text: "a test client that is created with its number alone has the detected market, the state Active, the balance 0 and approves"},
		{ID: "clients/patch", Check: registryPatch,
			Text: "a merge patch changes what it names, null sets the default, and number, operator and country cannot be changed"},
		{ID: "clients/pays", Check: registryPays,
			Text: "a test client of the API pays from its balance, and after its deletion its number is unknown"},
		{ID: "clients/taken", Check: registryTaken,
			Text: "a number that exists is 409 duplicate_msisdn, and a test client of a resource is 409 managed_by_resource"},
		{ID: "clients/once", Check: registryOnce,
			Text: "of concurrent requests that create one number exactly one succeeds"},
		{ID: "clients/refused", Check: registryRefused,
			Text: "an invalid test client is 400 invalid_body with its fields, and an unknown number is 404 not_found"},
		{ID: "clients/key", Check: registryKey,
			Text: "all of this needs a key: without one it is 401 unauthorized"},
		{ID: "reset/empties", Check: resetEmpties, Alone: true,
			Text: "a reset leaves no transaction, no event and no test client of the API, and the test clients of resources stay"},
	}
}

// needsRegistry ends the check if the service, or this sandbox, does not let its key do what a capability is the name of.
func needsRegistry(c *suite.Check, capability string, probe suite.Request) {
	list, _ := c.Expect(c.Get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !slices.Contains(list, any(capability)) {
		c.NotChecked("the service has no capability " + capability)
	}
	c.Needs(suite.MtnRW)
	if a := c.Send(probe); a.Status == http.StatusForbidden {
		c.NotChecked("the sandbox does not allow its key " + capability)
	}
}

// reset empties the sandbox. At most five resets in a second are carried out, and other checks reset it too.
func reset(c *suite.Check) {
	c.Eventually(func() string {
		if a := c.Post("/reset", nil); a.Status != http.StatusTooManyRequests {
			c.Expect(a, http.StatusOK)
			return ""
		}
		return "POST /reset is answered 429"
	})
}

func needsTestClients(c *suite.Check) {
	needsRegistry(c, "test_client_changes", suite.Request{Method: "DELETE", Path: clientPath(c.Stranger(suite.MtnRW))})
}

// register creates a test client with a name, which a list may show meanwhile, and returns its number.
func register(c *suite.Check, fields suite.Object) string {
	body := suite.Object{"msisdn": c.Stranger(suite.MtnRW), "name": c.Unique()}
	for name, value := range fields {
		body[name] = value
	}
	made := c.Expect(c.Post("/test_clients", body), http.StatusCreated)
	return suite.TextOf(made, "msisdn")
}

func patch(c *suite.Check, msisdn string, body any) suite.Answer {
	return c.Send(suite.Request{Method: "PATCH", Path: clientPath(msisdn), Body: body})
}

func unregister(c *suite.Check, msisdn string) {
	if a := c.Send(suite.Request{Method: "DELETE", Path: clientPath(msisdn)}); a.Status != http.StatusNoContent || len(a.Body) > 0 {
		c.Problem("%s, want 204 and no body", a)
	}
}

func registryCreate(c *suite.Check) {
	needsTestClients(c)
	msisdn, name := c.Stranger(suite.MtnRW), c.Unique()
	a := c.Post("/test_clients", suite.Object{"msisdn": msisdn, "name": name})
	want := suite.Object{
		"msisdn": msisdn, "name": name, "source": "api", "operator": "mtn", "country": "RW", "currency": "RWF", "state": "Active",
		"behavior": "Approve", "balance": 0, "pendingPrompts": 0,
	}
	c.Fields("the new test client", c.Expect(a, http.StatusCreated), want)
	if a.Header.Get("Location") == "" {
		c.Problem("%s, which has no Location", a)
	}
	c.Fields("the test client", c.Expect(c.Get(clientPath(msisdn)), http.StatusOK), want)
	unregister(c, msisdn)
	c.Refused(c.Get(clientPath(msisdn)), http.StatusNotFound, "not_found")
}

func registryPatch(c *suite.Check) {
	needsTestClients(c)
	msisdn := register(c, suite.Object{"balance": 500, "behavior": "Cancel"})
	steps := []struct{ body, want suite.Object }{
		{suite.Object{"balance": 700, "state": "Blocked"}, suite.Object{"balance": 700, "state": "Blocked", "behavior": "Cancel"}},
		{suite.Object{}, suite.Object{"balance": 700, "state": "Blocked", "behavior": "Cancel"}},
		{suite.Object{"state": nil, "behavior": nil}, suite.Object{"balance": 700, "state": "Active", "behavior": "Approve"}},
		{suite.Object{"msisdn": msisdn, "operator": "mtn", "country": "RW", "balance": nil}, suite.Object{"balance": 0}},
	}
	for _, step := range steps {
		c.Fields("the changed test client", c.Expect(patch(c, msisdn, step.body), http.StatusOK), step.want)
		c.Fields("the test client", c.Expect(c.Get(clientPath(msisdn)), http.StatusOK), step.want)
	}
	for field, value := range map[string]string{"msisdn": c.Stranger(suite.MtnRW), "operator": "orange", "country": "CI"} {
		c.FieldsRefused(patch(c, msisdn, suite.Object{field: value}), field)
	}
	unregister(c, msisdn)
}

func registryPays(c *suite.Check) {
	needsTestClients(c)
	msisdn := register(c, suite.Object{"balance": 1000})
	payment := suite.Object{"msisdn": msisdn, "amount": 600}
	c.Fields("the payment", c.Settled(c.Pay(suite.MtnRW, payment)), suite.Object{"status": "SUCCESS"})
	c.Fields("the test client", c.Expect(c.Get(clientPath(msisdn)), http.StatusOK), suite.Object{"balance": 400})
	c.Fields("the second payment", c.Pay(suite.MtnRW, payment), suite.Object{"status": "INSUFFICIENT_FUNDS"})
	c.Expect(patch(c, msisdn, suite.Object{"balance": 1000, "behavior": "Manual"}), http.StatusOK)
	waiting := c.Pay(suite.MtnRW, payment)
	c.Fields("the third payment", waiting, suite.Object{"status": "PENDING"})
	prompt := clientPath(msisdn) + "/prompts/" + suite.TextOf(waiting, "id") + "/approve"
	c.Fields("the approved payment", c.Expect(c.Post(prompt, nil), http.StatusOK), suite.Object{"status": "SUCCESS"})
	unregister(c, msisdn)
	c.Fields("a payment of the deleted number", c.Pay(suite.MtnRW, payment), suite.Object{"status": "UNKNOWN_MSISDN"})
}

func registryTaken(c *suite.Check) {
	needsTestClients(c)
	c.NeedsSIM(suite.Payer)
	msisdn := register(c, nil)
	for number, source := range map[string]string{msisdn: "api", suite.Payer.MSISDN: "resource"} {
		detail := c.Refused(c.Post("/test_clients", suite.Object{"msisdn": number}), http.StatusConflict, "duplicate_msisdn")
		c.Fields("the detail", detail, suite.Object{"msisdn": number, "source": source})
	}
	c.Refused(patch(c, suite.Payer.MSISDN, suite.Object{"balance": 0}), http.StatusConflict, "managed_by_resource")
	c.Refused(c.Send(suite.Request{Method: "DELETE", Path: clientPath(suite.Payer.MSISDN)}), http.StatusConflict, "managed_by_resource")
	unregister(c, msisdn)
}

func registryOnce(c *suite.Check) {
	needsTestClients(c)
	msisdn, made := c.Stranger(suite.MtnRW), 0
	body := suite.Object{"msisdn": msisdn, "name": c.Unique()}
	for _, a := range c.Burst(8, func(int) suite.Request { return suite.Request{Method: "POST", Path: "/test_clients", Body: body} }) {
		if a.Status == http.StatusCreated {
			made++
		} else {
			c.Refused(a, http.StatusConflict, "duplicate_msisdn")
		}
	}
	if made != 1 {
		c.Problem("%d of 8 requests created the number", made)
	}
	unregister(c, msisdn)
}

func registryRefused(c *suite.Check) {
	needsTestClients(c)
	number := c.Stranger(suite.MtnRW)
	for field, body := range map[string]suite.Object{
		"msisdn": {}, "operator": {"msisdn": number, "operator": "vodafone"}, "country": {"msisdn": "+33612345679", "operator": "mtn"},
		"state": {"msisdn": number, "state": "active"}, "balance": {"msisdn": number, "balance": -1},
		"behavior": {"msisdn": number, "behavior": "Pay"}, "name": {"msisdn": number, "name": 5},
	} {
		c.FieldsRefused(c.Post("/test_clients", body), field)
	}
	c.Refused(c.Get(clientPath(number)), http.StatusNotFound, "not_found")
	c.Refused(patch(c, number, suite.Object{"balance": 5}), http.StatusNotFound, "not_found")
	c.Refused(c.Send(suite.Request{Method: "DELETE", Path: "/test_clients/5"}), http.StatusBadRequest, "invalid_params")
}

func registryKey(c *suite.Check) {
	needsTestClients(c)
	number := c.Stranger(suite.MtnRW)
	for _, r := range []suite.Request{
		{Method: "POST", Path: "/test_clients", Body: suite.Object{"msisdn": number}},
		{Method: "PATCH", Path: clientPath(number), Body: suite.Object{}}, {Method: "DELETE", Path: clientPath(number)},
		{Method: "POST", Path: "/reset"},
	} {
		unauthorized(c, r, "")
	}
}

func resetEmpties(c *suite.Check) {
	needsTestClients(c)
	needsRegistry(c, "reset", suite.Request{Method: "POST", Path: "/reset"})
	c.NeedsSIM(suite.Payer)
	msisdn := register(c, nil)
	paid := c.Paid(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN})
	reset(c)
	c.Refused(c.Get(suite.PaymentPath(suite.TextOf(paid, "id"))), http.StatusNotFound, "not_found")
	for _, list := range []string{"/payments", "/events"} {
		if items := c.Items(c.Expect(c.Get(list), http.StatusOK)); len(items) != 0 {
			c.Problem("after the reset %s has %v", list, items)
		}
	}
	c.Refused(c.Get(clientPath(msisdn)), http.StatusNotFound, "not_found")
	c.Fields("a test client of a resource", c.Expect(c.Get(clientPath(suite.Payer.MSISDN)), http.StatusOK), suite.Object{"source": "resource"})
}
