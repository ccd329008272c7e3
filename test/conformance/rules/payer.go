package rules

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// payerRules are the rules about answering as the payer, which is an optional part of the service.
func payerRules() []suite.Rule {
	return []suite.Rule{
		{
			ID:    "payer/list",
			Check: payerList,
			Text:  "the list of test clients is one of data, nextCursor and hasMore, and its pages show each of them once, in the order of their numbers",
		},
		{ID: "payer/list-refused", Check: payerListRefused,
			Text: "an invalid value of a parameter of these lists is 400 invalid_params"},
		{ID: "payer/client", Check: payerClient,
			Text: "a test client is read by its number, with + or %2B, under each form of the path"},
		{ID: "payer/unknown-number", Check: payerUnknownNumber,
			Text: "a number without a test client is 404 not_found, an invalid number is 400 invalid_params"},
		{ID: "payer/prompts", Check: payerPrompts,
			Text: "the prompts of a test client are its PENDING payments, oldest first, until they are answered"},
		{ID: "payer/approve", Check: func(c *suite.Check) { answersByHand(c, "approve", "SUCCESS") },
			Text: "a payment that its payer approves by hand ends SUCCESS at once"},
		{ID: "payer/cancel", Check: func(c *suite.Check) { answersByHand(c, "cancel", "USER_CANCELLED") },
			Text: "a payment that its payer cancels by hand ends USER_CANCELLED at once"},
		{ID: "payer/wrong-pin", Check: func(c *suite.Check) { answersByHand(c, "wrong_pin", "PIN_INVALID") },
			Text: "a payment whose payer enters a wrong PIN by hand ends PIN_INVALID at once"},
		{ID: "payer/once", Check: payerOnce,
			Text: "concurrent answers have one outcome, and all get it"},
		{ID: "payer/manual", Check: payerManual,
			Text: "somebody answers for a test client for at most 30 minutes, which changes neither its behavior nor its prompts"},
		{ID: "payer/no-prompt", Check: payerNoPrompt,
			Text: "an unknown prompt of the test client is 404 not_found, and only the three answers are valid"},
		{ID: "payer/key", Check: payerKey,
			Text: "all of this needs a key: without one it is 401 unauthorized"},
	}
}

// needsPrompts ends the check if the service has no prompts for payers.
func needsPrompts(c *suite.Check) {
	list, _ := c.Expect(c.Get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !slices.Contains(list, any("test_client_prompts")) {
		c.NotChecked("the service has no capability test_client_prompts")
	}
	c.NeedsSIM(suite.Manual)
}

func clientPath(msisdn string) string { return "/test_clients/" + url.QueryEscape(msisdn) }

func promptsPath(msisdn string) string { return clientPath(msisdn) + "/prompts" }

// answerPath is the path for answers of the SIM "manual".
func answerPath(payment suite.Object, answer string) string {
	return promptsPath(suite.Manual.MSISDN) + "/" + suite.TextOf(payment, "id") + "/" + answer
}

// prompt makes a payment that waits for an answer of the SIM "manual".
func prompt(c *suite.Check) suite.Object {
	p := c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Manual.MSISDN})
	c.Fields("the new payment", p, suite.Object{"status": "PENDING"})
	return p
}

func payerList(c *suite.Check) {
	needsPrompts(c)
	var numbers []string
	for query := "limit=3"; query != ""; {
		page := c.Expect(c.Get("/test_clients?"+query), http.StatusOK)
		for _, client := range c.Items(page) {
			c.Fields("a test client", client, suite.Object{
				"msisdn": suite.Matching(
					`^\+[1-9][0-9]{6,14}$`,
				),
				"name":     suite.AnyText,
				"operator": suite.AnyText,
				"country":  suite.Matching(`^[A-Z]{2}$`),
				"currency": suite.Matching(
					`^[A-Z]{3}$`,
				),
				"state":          suite.OneOf("Active", "Blocked"),
				"balance":        suite.AnyInteger,
				"pendingPrompts": suite.AnyInteger,
				"behavior":       suite.OneOf("Approve", "Cancel", "WrongPin", "Ignore", "Manual"),
			})
			numbers = append(numbers, suite.TextOf(client, "msisdn"))
		}
		next, more := page["nextCursor"].(string)
		if more != (page["hasMore"] == true) {
			c.Problem("a page has the nextCursor %v and hasMore %v", page["nextCursor"], page["hasMore"])
		}
		if query = ""; more {
			query = url.Values{"limit": {"3"}, "cursor": {next}}.Encode()
		}
	}
	if !slices.IsSorted(numbers) || len(slices.Compact(slices.Clone(numbers))) != len(numbers) ||
		!slices.Contains(numbers, suite.Manual.MSISDN) {
		c.Problem("the pages show %v", numbers)
	}
	page := c.Expect(c.Get("/test_clients?state=Blocked&operator=mtn&country=RW&limit=100"), http.StatusOK)
	for _, client := range c.Items(page) {
		c.Fields("a blocked test client", client, suite.Object{"state": "Blocked", "operator": "mtn", "country": "RW"})
	}
}

func payerListRefused(c *suite.Check) {
	needsPrompts(c)
	for _, list := range []string{"/test_clients", promptsPath(suite.Manual.MSISDN)} {
		for _, query := range []string{"limit=0", "limit=101", "limit=x", "cursor=x", "cursor="} {
			c.Refused(c.Get(list+"?"+query), http.StatusBadRequest, "invalid_params")
		}
	}
	for _, query := range []string{"state=active", "state=", "operator=vodafone", "country=FR"} {
		c.Refused(c.Get("/test_clients?"+query), http.StatusBadRequest, "invalid_params")
	}
}

func payerClient(c *suite.Check) {
	needsPrompts(c)
	for _, base := range pathForms(c) {
		for _, number := range []string{suite.Manual.MSISDN, url.QueryEscape(suite.Manual.MSISDN)} {
			got := c.Expect(c.Send(suite.Request{Method: "GET", Base: base, Path: "/test_clients/" + number}), http.StatusOK)
			c.Fields("the test client "+number+" under "+base, got, suite.Object{
				"msisdn": suite.Manual.MSISDN, "operator": "mtn", "country": "RW", "currency": "RWF", "state": "Active", "behavior": "Manual",
			})
		}
	}
}

func payerUnknownNumber(c *suite.Check) {
	needsPrompts(c)
	for _, behind := range []string{"", "/prompts"} {
		c.Refused(c.Get(clientPath(c.Stranger(suite.MtnRW))+behind), http.StatusNotFound, "not_found")
		for _, number := range []string{"alice", strings.TrimPrefix(suite.Manual.MSISDN, "+"), "+0788000008"} {
			c.Refused(c.Get(clientPath(number)+behind), http.StatusBadRequest, "invalid_params")
		}
	}
}

func payerManual(c *suite.Check) {
	needsPrompts(c)
	path := clientPath(suite.Manual.MSISDN) + "/manual"
	c.Fields("a test client that somebody answers for", c.Expect(c.Post(path, nil), http.StatusOK), suite.Object{
		"msisdn": suite.Manual.MSISDN, "behavior": "Manual", "manualUntil": suite.AnyText,
	})
	ended := c.Expect(c.Send(suite.Request{Method: http.MethodDelete, Path: path}), http.StatusOK)
	c.Fields("a test client that answers by itself again", ended, suite.Object{"behavior": "Manual", "manualUntil": nil})
	c.Refused(c.Post(clientPath(c.Stranger(suite.MtnRW))+"/manual", nil), http.StatusNotFound, "not_found")
}

func payerPrompts(c *suite.Check) {
	needsPrompts(c)
	first, second := prompt(c), prompt(c)
	shown := func() (ids []string) {
		for query := "limit=100"; query != ""; {
			page := c.Expect(c.Get(promptsPath(suite.Manual.MSISDN)+"?"+query), http.StatusOK)
			for _, p := range c.Items(page) {
				id := suite.TextOf(p, "id")
				if id == first["id"] {
					c.Fields("the prompt", p, suite.Object{
						"amount":        first["amount"],
						"customerTotal": first["customerTotal"],
						"currency":      first["currency"],
						"reference":     first["reference"],
						"application":   first["application"],
						"description":   first["description"],
						"createdAt":     first["createdAt"],
						"expiresAt":     suite.Timestamp,
					})
				}
				if id == first["id"] || id == second["id"] {
					ids = append(ids, id)
				}
			}
			next, more := page["nextCursor"].(string)
			if query = ""; more {
				query = url.Values{"limit": {"100"}, "cursor": {next}}.Encode()
			}
		}
		return ids
	}
	if got := shown(); !slices.Equal(got, []string{suite.TextOf(first, "id"), suite.TextOf(second, "id")}) {
		c.Problem("the prompts %v are shown, want %v and %v", got, first["id"], second["id"])
	}
	c.Expect(c.Post(answerPath(first, "cancel"), nil), http.StatusOK)
	if got := shown(); !slices.Equal(got, []string{suite.TextOf(second, "id")}) {
		c.Problem("after the first was answered, %v are shown", got)
	}
	c.Expect(c.Post(answerPath(second, "cancel"), nil), http.StatusOK)
}

// answersByHand answers a prompt, repeats the answer, and then sends a different one.
func answersByHand(c *suite.Check, answer, status string) {
	needsPrompts(c)
	p := prompt(c)
	got := c.Expect(c.Post(answerPath(p, answer), nil), http.StatusOK)
	c.Fields("the answered payment", got, suite.Changed(p, suite.Object{
		"status": status, "completedAt": suite.Timestamp, "raw": suite.AnyObject, "refundableAmount": suite.AnyInteger,
	}))
	c.Fields("the payment, read again", c.Fetch(suite.TextOf(p, "id")), suite.Object{"status": status, "completedAt": got["completedAt"]})
	again := c.Post(answerPath(p, answer), nil)
	c.Fields(
		"the same answer again",
		c.Expect(again, http.StatusOK),
		suite.Object{"id": p["id"], "status": status, "completedAt": got["completedAt"]},
	)
	if replayed := again.Header.Get("Idempotent-Replayed"); replayed != "true" {
		c.Problem("the same answer again has the header Idempotent-Replayed %q, want true", replayed)
	}
	for _, other := range []string{"approve", "cancel", "wrong_pin"} {
		if other != answer {
			detail := c.Refused(c.Post(answerPath(p, other), nil), http.StatusConflict, "prompt_closed")
			c.Fields("the detail of "+other, detail, suite.Object{"status": status})
		}
	}
}

func payerOnce(c *suite.Check) {
	needsPrompts(c)
	p := prompt(c)
	answers := []string{"approve", "cancel", "wrong_pin"}
	statuses := map[string]string{"approve": "SUCCESS", "cancel": "USER_CANCELLED", "wrong_pin": "PIN_INVALID"}
	got := c.Burst(12, func(i int) suite.Request { return suite.Request{Method: "POST", Path: answerPath(p, answers[i%3])} })
	status := suite.TextOf(c.Fetch(suite.TextOf(p, "id")), "status")
	for i, a := range got {
		if statuses[answers[i%3]] == status {
			c.Fields("the answer", c.Expect(a, http.StatusOK), suite.Object{"status": status})
		} else {
			c.Fields("the detail", c.Refused(a, http.StatusConflict, "prompt_closed"), suite.Object{"status": status})
		}
	}
}

func payerNoPrompt(c *suite.Check) {
	needsPrompts(c)
	c.NeedsSIM(suite.Payer)
	p := prompt(c)
	prompts := promptsPath(suite.Manual.MSISDN)
	for _, path := range []string{
		promptsPath(suite.Payer.MSISDN) + "/" + suite.TextOf(p, "id") + "/approve", // another test client's
		promptsPath(c.Stranger(suite.MtnRW)) + "/" + suite.TextOf(p, "id") + "/approve",
		prompts + "/TX_00000000000000000000000000/approve",
		prompts + "/nothing/approve",
		prompts + "/" + suite.TextOf(c.Paid(suite.MtnRW, suite.Object{"msisdn": suite.Manual.MSISDN}), "id") + "/cancel", // had its outcome at once
		answerPath(p, "reject"),
	} {
		c.Refused(c.Post(path, nil), http.StatusNotFound, "not_found")
	}
	c.Expect(c.Post(answerPath(p, "cancel"), nil), http.StatusOK)
}

func payerKey(c *suite.Check) {
	needsPrompts(c)
	p := prompt(c)
	for _, r := range []suite.Request{
		{Method: "GET", Path: "/test_clients"}, {Method: "GET", Path: clientPath(suite.Manual.MSISDN)},
		{Method: "GET", Path: promptsPath(suite.Manual.MSISDN)}, {Method: "POST", Path: answerPath(p, "approve")},
	} {
		unauthorized(c, r, "")
	}
	c.Expect(c.Post(answerPath(p, "cancel"), nil), http.StatusOK)
}
