package main

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// payerRules are about acting as the payer, which a service may offer beside the specification.
func payerRules() []rule {
	return []rule{
		{id: "payer/list", check: payerList,
			text: "the list of test clients is one of data, nextCursor and hasMore, and its pages show each of them once, in the order of their numbers"},
		{id: "payer/list-refused", check: payerListRefused,
			text: "a parameter of these lists with a value that it cannot have is 400 invalid_params"},
		{id: "payer/client", check: payerClient,
			text: "a test client is read by its number, whose + may be written as it is or as %2B, under each form of the path"},
		{id: "payer/unknown-number", check: payerUnknownNumber,
			text: "a number that no test client has is 404 not_found, one that is no number is 400 invalid_params"},
		{id: "payer/prompts", check: payerPrompts,
			text: "the prompts of a test client are its PENDING payments, oldest first, until they are answered"},
		{id: "payer/approve", check: func(c *check) { answersByHand(c, "approve", "SUCCESS") },
			text: "a payment that its payer approves by hand ends SUCCESS at once"},
		{id: "payer/cancel", check: func(c *check) { answersByHand(c, "cancel", "USER_CANCELLED") },
			text: "a payment that its payer cancels by hand ends USER_CANCELLED at once"},
		{id: "payer/wrong-pin", check: func(c *check) { answersByHand(c, "wrong_pin", "PIN_INVALID") },
			text: "a payment whose payer mistypes by hand ends PIN_INVALID at once"},
		{id: "payer/once", check: payerOnce,
			text: "answers that come at the same time have one outcome, and all are told of it"},
		{id: "payer/no-prompt", check: payerNoPrompt,
			text: "what is no prompt of the test client is 404 not_found, and no other answer than the three is known"},
		{id: "payer/key", check: payerKey,
			text: "without a key none of it is answered: 401 unauthorized"},
	}
}

// needsPrompts ends the check unless the service lets a payer be acted for.
func (c *check) needsPrompts() {
	list, _ := c.expect(c.get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !slices.Contains(list, any("test_client_prompts")) {
		c.notChecked("the service has no capability test_client_prompts")
	}
	c.needsSIM(manual)
}

func clientPath(msisdn string) string { return "/test_clients/" + url.QueryEscape(msisdn) }

func promptsPath(msisdn string) string { return clientPath(msisdn) + "/prompts" }

// answerPath is where a payment of the SIM "manual" is answered.
func answerPath(payment object, answer string) string {
	return promptsPath(manual.msisdn) + "/" + textOf(payment, "id") + "/" + answer
}

// prompt makes a payment that waits for the SIM "manual".
func (c *check) prompt() object {
	p := c.pay(mtnRW, object{"msisdn": manual.msisdn})
	c.fields("the new payment", p, object{"status": "PENDING"})
	return p
}

func payerList(c *check) {
	c.needsPrompts()
	var numbers []string
	for query := "limit=3"; query != ""; {
		page := c.expect(c.get("/test_clients?"+query), http.StatusOK)
		for _, client := range c.items(page) {
			c.fields("a test client", client, object{
				"msisdn": matching(`^\+[1-9][0-9]{6,14}$`), "name": anyText, "operator": anyText, "country": matching(`^[A-Z]{2}$`),
				"currency": matching(`^[A-Z]{3}$`), "state": oneOf("Active", "Blocked"), "balance": anyInteger, "pendingPrompts": anyInteger,
				"behavior": oneOf("Approve", "Cancel", "WrongPin", "Ignore", "Manual"), "behaviour": client["behavior"],
			})
			numbers = append(numbers, textOf(client, "msisdn"))
		}
		next, more := page["nextCursor"].(string)
		if more != (page["hasMore"] == true) {
			c.problem("a page has the nextCursor %v and hasMore %v", page["nextCursor"], page["hasMore"])
		}
		if query = ""; more {
			query = url.Values{"limit": {"3"}, "cursor": {next}}.Encode()
		}
	}
	if !slices.IsSorted(numbers) || len(slices.Compact(slices.Clone(numbers))) != len(numbers) || !slices.Contains(numbers, manual.msisdn) {
		c.problem("the pages show %v", numbers)
	}
	page := c.expect(c.get("/test_clients?state=Blocked&operator=mtn&country=RW&limit=100"), http.StatusOK)
	for _, client := range c.items(page) {
		c.fields("a blocked test client", client, object{"state": "Blocked", "operator": "mtn", "country": "RW"})
	}
}

func payerListRefused(c *check) {
	c.needsPrompts()
	for _, list := range []string{"/test_clients", promptsPath(manual.msisdn)} {
		for _, query := range []string{"limit=0", "limit=101", "limit=x", "cursor=x", "cursor="} {
			c.refused(c.get(list+"?"+query), http.StatusBadRequest, "invalid_params")
		}
	}
	for _, query := range []string{"state=active", "state=", "operator=vodafone", "country=FR"} {
		c.refused(c.get("/test_clients?"+query), http.StatusBadRequest, "invalid_params")
	}
}

func payerClient(c *check) {
	c.needsPrompts()
	for _, base := range c.pathForms() {
		for _, number := range []string{manual.msisdn, url.QueryEscape(manual.msisdn)} {
			got := c.expect(c.send(request{method: "GET", base: base, path: "/test_clients/" + number}), http.StatusOK)
			c.fields("the test client "+number+" under "+base, got, object{
				"msisdn": manual.msisdn, "operator": "mtn", "country": "RW", "currency": "RWF", "state": "Active", "behavior": "Manual",
				"behaviour": "Manual", // deprecated
			})
		}
	}
}

func payerUnknownNumber(c *check) {
	c.needsPrompts()
	for _, behind := range []string{"", "/prompts"} {
		c.refused(c.get(clientPath(c.stranger(mtnRW))+behind), http.StatusNotFound, "not_found")
		for _, number := range []string{"alice", strings.TrimPrefix(manual.msisdn, "+"), "+0788000008"} {
			c.refused(c.get(clientPath(number)+behind), http.StatusBadRequest, "invalid_params")
		}
	}
}

func payerPrompts(c *check) {
	c.needsPrompts()
	first, second := c.prompt(), c.prompt()
	shown := func() (ids []string) {
		for query := "limit=100"; query != ""; {
			page := c.expect(c.get(promptsPath(manual.msisdn)+"?"+query), http.StatusOK)
			for _, p := range c.items(page) {
				id := textOf(p, "id")
				if id == first["id"] {
					c.fields("the prompt", p, object{
						"amount": first["amount"], "customerTotal": first["customerTotal"], "currency": first["currency"], "reference": first["reference"],
						"application": first["application"], "description": first["description"], "createdAt": first["createdAt"], "expiresAt": timestamp,
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
	if got := shown(); !slices.Equal(got, []string{textOf(first, "id"), textOf(second, "id")}) {
		c.problem("the prompts %v are shown, want %v and %v", got, first["id"], second["id"])
	}
	c.expect(c.post(answerPath(first, "cancel"), nil), http.StatusOK)
	if got := shown(); !slices.Equal(got, []string{textOf(second, "id")}) {
		c.problem("after the first was answered, %v are shown", got)
	}
	c.expect(c.post(answerPath(second, "cancel"), nil), http.StatusOK)
}

// answersByHand answers a prompt, and again, and then differently.
func answersByHand(c *check, answer, status string) {
	c.needsPrompts()
	p := c.prompt()
	got := c.expect(c.post(answerPath(p, answer), nil), http.StatusOK)
	c.fields("the answered payment", got, changed(p, object{
		"status": status, "completedAt": timestamp, "raw": anyObject, "refundableAmount": anyInteger,
	}))
	c.fields("the payment, read again", c.fetch(textOf(p, "id")), object{"status": status, "completedAt": got["completedAt"]})
	again := c.post(answerPath(p, answer), nil)
	c.fields("the same answer again", c.expect(again, http.StatusOK), object{"id": p["id"], "status": status, "completedAt": got["completedAt"]})
	if replayed := again.header.Get("Idempotent-Replayed"); replayed != "true" {
		c.problem("the same answer again has the header Idempotent-Replayed %q, want true", replayed)
	}
	for _, other := range []string{"approve", "cancel", "wrong_pin"} {
		if other != answer {
			detail := c.refused(c.post(answerPath(p, other), nil), http.StatusConflict, "prompt_closed")
			c.fields("the detail of "+other, detail, object{"status": status})
		}
	}
}

func payerOnce(c *check) {
	c.needsPrompts()
	p := c.prompt()
	answers := []string{"approve", "cancel", "wrong_pin"}
	statuses := map[string]string{"approve": "SUCCESS", "cancel": "USER_CANCELLED", "wrong_pin": "PIN_INVALID"}
	got := c.burst(12, func(i int) request { return request{method: "POST", path: answerPath(p, answers[i%3])} })
	status := textOf(c.fetch(textOf(p, "id")), "status")
	for i, a := range got {
		if statuses[answers[i%3]] == status {
			c.fields("the answer", c.expect(a, http.StatusOK), object{"status": status})
		} else {
			c.fields("the detail", c.refused(a, http.StatusConflict, "prompt_closed"), object{"status": status})
		}
	}
}

func payerNoPrompt(c *check) {
	c.needsPrompts()
	c.needsSIM(payer)
	p := c.prompt()
	prompts := promptsPath(manual.msisdn)
	for _, path := range []string{
		promptsPath(payer.msisdn) + "/" + textOf(p, "id") + "/approve", // another test client's
		promptsPath(c.stranger(mtnRW)) + "/" + textOf(p, "id") + "/approve",
		prompts + "/TX_00000000000000000000000000/approve",
		prompts + "/nothing/approve",
		prompts + "/" + textOf(c.paid(mtnRW, object{"msisdn": manual.msisdn}), "id") + "/cancel", // had its outcome at once
		answerPath(p, "reject"),
	} {
		c.refused(c.post(path, nil), http.StatusNotFound, "not_found")
	}
	c.expect(c.post(answerPath(p, "cancel"), nil), http.StatusOK)
}

func payerKey(c *check) {
	c.needsPrompts()
	p := c.prompt()
	for _, r := range []request{
		{method: "GET", path: "/test_clients"}, {method: "GET", path: clientPath(manual.msisdn)},
		{method: "GET", path: promptsPath(manual.msisdn)}, {method: "POST", path: answerPath(p, "approve")},
	} {
		c.unauthorized(r, "")
	}
	c.expect(c.post(answerPath(p, "cancel"), nil), http.StatusOK)
}
