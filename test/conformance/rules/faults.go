package rules

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// clockRules, faultRules and seedRules are the rules about a sandbox's clock, its faults and its seed, which are optional parts.
func clockRules() []suite.Rule {
	return []suite.Rule{
		{ID: "clock/read", Check: clockRead,
			Text: "the clock has a mode, the sandbox's time, and what is due"},
		{ID: "clock/refused", Check: clockRefused,
			Text: "the clock is not set back (422 clock_backwards), and a bad target is 400 invalid_body"},
		{ID: "clock/advance", Check: clockAdvance, Alone: true,
			Text: "an advance ends at its target or later, and says what was done"},
	}
}

func faultRules() []suite.Rule {
	return []suite.Rule{
		{ID: "faults/status", Check: faultStatus,
			Text: "a fault answers with its status and its name, records nothing, and does not act on the repetition"},
		{ID: "faults/before-commit", Check: faultBeforeCommit,
			Text: "a connection that is dropped before the commit leaves nothing, and the repetition is recorded"},
		{ID: "faults/after-commit", Check: faultAfterCommit,
			Text: "a connection that is dropped after the commit leaves the transaction, which names the fault, and the repetition finds it"},
		{ID: "faults/malformed", Check: faultMalformed,
			Text: "an answer that is malformed is no JSON, and the transaction is recorded"},
		{ID: "faults/conflict", Check: faultConflict,
			Text: "a request with a bad body meets no fault"},
		{ID: "faults/operator-status", Check: faultOperatorStatus,
			Text: "a fault of an operator, or of the API, answers a call of MTN's API in MTN's form, records nothing, and does not act on the repetition"},
		{ID: "faults/operator-after-commit", Check: faultOperatorAfter,
			Text: "a call whose answer an operator loses is recorded, and its status tells what came of it"},
		{ID: "faults/operator-pending", Check: faultOperatorPending,
			Text: "an operator may call a transaction pending that /v1 tells the end of"},
		{ID: "faults/operator-reason", Check: faultOperatorReason,
			Text: "an operator may give another reason for a failure, as often as it is asked"},
		{ID: "faults/set", Check: faultSet,
			Text: "a fault that is set acts, is listed with what it did, and ends when it is removed; removed again it is 404 not_found"},
		{ID: "faults/set-refused", Check: faultSetRefused,
			Text: "what spec.faults could not declare, or for over 24h, is 400 invalid_body, and the name of a declared fault is 409"},
	}
}

func seedRules() []suite.Rule {
	return []suite.Rule{
		{ID: "seed/repeats", Check: seedRepeats, Alone: true,
			Text: "after a reset, the same request has the same latency and the same operator's number, and another id"},
	}
}

// needsCapability ends the check if the service does not have a capability.
func needsCapability(c *suite.Check, capability string) {
	list, _ := c.Expect(c.Get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !slices.Contains(list, any(capability)) {
		c.NotChecked("the service has no capability " + capability)
	}
}

// clockNow is the sandbox's time.
func clockNow(c *suite.Check) time.Time {
	needsCapability(c, "clock")
	text := suite.TextOf(c.Expect(c.Get("/clock"), http.StatusOK), "now")
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		c.Fail("the clock is at %q: %v", text, err)
	}
	return now
}

func clockRead(c *suite.Check) {
	clockNow(c)
	c.Fields("the clock", c.Expect(c.Get("/clock"), http.StatusOK), suite.Object{
		"mode": suite.Matching("^(Real|Manual)$"), "now": suite.AnyText, "due": suite.AnyObject,
	})
}

func clockRefused(c *suite.Check) {
	now := clockNow(c)
	c.Refused(c.Post("/clock/advance", suite.Object{"to": now.Add(-24 * time.Hour).Format(time.RFC3339)}), 422, "clock_backwards")
	for _, body := range []suite.Object{{}, {"by": "soon"}, {"by": "1h", "to": "nextDue"}, {"to": "tomorrow"}} {
		c.Refused(c.Post("/clock/advance", body), 400, "invalid_body")
	}
}

func clockAdvance(c *suite.Check) {
	before := clockNow(c)
	for {
		a := c.Post("/clock/advance", suite.Object{"to": before.Add(time.Minute).Format(time.RFC3339Nano), "wait": "30s"})
		if a.Status == http.StatusAccepted { // the same target again waits for the same advance
			continue
		}
		if a.Status == http.StatusUnprocessableEntity { // it ended between two of them
			break
		}
		c.Fields("the advance", c.Expect(a, http.StatusOK), suite.Object{"now": suite.AnyText})
		break
	}
	if now := clockNow(c); now.Before(before.Add(time.Minute)) {
		c.Problem("the clock was at %s, was advanced by a minute, and is at %s", before, now)
	}
}

// faultedPayment is a request for a payment on which the sandbox's fault of this name acts, and its reference.
func faultedPayment(c *suite.Check, fault string) (request suite.Request, reference string) {
	needsCapability(c, "faults")
	c.Needs(suite.MtnRW)
	probe := c.Post("/payments", c.Collection(suite.MtnRW, suite.Object{"reference": "FAULT-STATUS-" + c.Unique(), "scenario": "success"}))
	if probe.Header.Get("X-Cauri-Fault") == "" {
		c.NotChecked("the sandbox does not declare the faults of sandbox.yaml")
	}
	reference = "FAULT-" + fault + "-" + c.Unique()
	body := c.Collection(suite.MtnRW, suite.Object{"reference": reference, "scenario": "success"})
	return suite.Request{Method: "POST", Path: "/payments", Body: body}, reference
}

// recordedAs returns the transactions with a reference.
func recordedAs(c *suite.Check, reference string) []suite.Object {
	return c.Items(c.Expect(c.Get("/payments?reference="+reference), http.StatusOK))
}

// repeated repeats a request, and fails unless its transaction is recorded once and names the fault.
func repeated(c *suite.Check, request suite.Request, reference, fault string, status int) {
	a := c.Send(request)
	if acted := a.Header.Get("X-Cauri-Fault"); a.Status != status || acted != "" {
		c.Problem("the repetition has the fault %q: %s, want %d", acted, a, status)
	}
	found := recordedAs(c, reference)
	if len(found) != 1 {
		c.Fail("there are %d transactions with the reference %s", len(found), reference)
	}
	c.Fields("the transaction", found[0], suite.Object{"status": "SUCCESS", "faults": []any{fault}})
}

func faultStatus(c *suite.Check) {
	request, reference := faultedPayment(c, "STATUS")
	a := c.Send(request)
	detail := c.Refused(a, http.StatusServiceUnavailable, "unavailable")
	c.Fields("the detail", detail, suite.Object{"fault": "conformance-status"})
	c.Fields("the headers", suite.Object{"Retry-After": a.Header.Get("Retry-After"), "X-Cauri-Fault": a.Header.Get("X-Cauri-Fault")},
		suite.Object{"Retry-After": "7", "X-Cauri-Fault": "conformance-status"})
	if n := len(recordedAs(c, reference)); n != 0 {
		c.Problem("%d transactions are recorded", n)
	}
	repeated(c, request, reference, "conformance-status", http.StatusCreated)
}

func faultBeforeCommit(c *suite.Check) {
	request, reference := faultedPayment(c, "BEFORE")
	c.Unanswered(request)
	if n := len(recordedAs(c, reference)); n != 0 {
		c.Problem("%d transactions are recorded", n)
	}
	repeated(c, request, reference, "conformance-before", http.StatusCreated)
}

func faultAfterCommit(c *suite.Check) {
	request, reference := faultedPayment(c, "AFTER")
	c.Unanswered(request)
	repeated(c, request, reference, "conformance-after", http.StatusOK)
}

func faultMalformed(c *suite.Check) {
	request, reference := faultedPayment(c, "MALFORMED")
	a := c.Send(request)
	if _, err := a.Object(); err == nil || a.Status != http.StatusCreated || a.Header.Get("X-Cauri-Fault") != "conformance-malformed" {
		c.Problem("%s, want 201 with what is no JSON", a)
	}
	repeated(c, request, reference, "conformance-malformed", http.StatusOK)
}

func faultConflict(c *suite.Check) {
	request, _ := faultedPayment(c, "STATUS")
	request.Body = suite.Changed(request.Body.(suite.Object), suite.Object{"amount": "much"})
	c.FieldsRefused(c.Send(request), "amount")
}

func seedRepeats(c *suite.Check) {
	needsCapability(c, "faults")
	needsRegistry(c, "reset", suite.Request{Method: "POST", Path: "/reset"})
	body := c.Collection(suite.MtnRW, suite.Object{"scenario": "cancelled"})
	first := c.Expect(c.Post("/payments", body), http.StatusCreated)
	reset(c)
	second := c.Expect(c.Post("/payments", body), http.StatusCreated)
	if first["providerTxId"] != second["providerTxId"] {
		c.NotChecked("the sandbox has no seed")
	}
	c.Fields("the payment after the reset", second, suite.Object{"latencyMs": first["latencyMs"], "status": first["status"]})
	if first["id"] == second["id"] {
		c.Problem("both have the id %v", first["id"])
	}
}

// faultedCall has the reference of a call of MTN's API on which the sandbox's fault of a number acts.
func faultedCall(c *suite.Check, number string) (n *nativeCaller, reference string) {
	needsCapability(c, "faults")
	n = newNativeCaller(c)
	if n.payAs("fa170001").Header.Get("X-Cauri-Fault") == "" {
		c.NotChecked("the sandbox does not declare the faults of sandbox.yaml")
	}
	return n, "fa17" + number + newNativeReference()[8:]
}

// payAs asks for money with a new reference that begins so.
func (n *nativeCaller) payAs(prefix string) suite.Answer {
	return n.pay(prefix + newNativeReference()[8:])
}

// named fails unless /v1 lists one payment with the reference, which has the status and names the fault.
func (n *nativeCaller) named(reference, status, fault string) {
	found := recordedAs(n.c, reference)
	if len(found) != 1 {
		n.c.Fail("there are %d transactions with the reference %s", len(found), reference)
	}
	n.c.Fields("the transaction", found[0], suite.Object{"status": status, "faults": []any{fault}})
}

func faultOperatorStatus(c *suite.Check) {
	for number, want := range map[string]struct {
		fault  string
		status int
		body   suite.Object
	}{
		"0001": {"conformance-operator-status", http.StatusServiceUnavailable, suite.Object{"code": "SERVICE_UNAVAILABLE"}},
		"0005": {"conformance-native-status", http.StatusBadGateway, suite.Object{"statusCode": 502}},
	} {
		n, reference := faultedCall(c, number)
		a := n.pay(reference)
		c.Fields("the answer", c.Expect(a, want.status), want.body)
		if acted := a.Header.Get("X-Cauri-Fault"); acted != want.fault {
			c.Problem("the answer names the fault %q, want %q", acted, want.fault)
		}
		if found := recordedAs(c, reference); len(found) != 0 {
			c.Problem("%d transactions are recorded", len(found))
		}
		n.accepted(n.pay(reference))
		n.listed(reference)
	}
}

func faultOperatorAfter(c *suite.Check) {
	n, reference := faultedCall(c, "0002")
	c.Unanswered(n.request("POST", nativePayPath, n.token, n.order(suite.Payer, "1000"), reference))
	c.Expect(n.pay(reference), http.StatusConflict)
	n.settled(reference)
	n.named(reference, "SUCCESS", "conformance-operator-after")
}

func faultOperatorPending(c *suite.Check) {
	n, reference := faultedCall(c, "0003")
	n.accepted(n.pay(reference))
	n.settled(reference)
	for range 2 {
		told := c.Expect(n.call("GET", nativePayPath+"/"+reference, n.token, nil, ""), http.StatusOK)
		c.Fields("the status", told, suite.Object{"status": "PENDING"})
	}
	n.named(reference, "SUCCESS", "conformance-operator-pending")
}

func faultOperatorReason(c *suite.Check) {
	n, reference := faultedCall(c, "0004")
	c.NeedsSIM(suite.Poor)
	n.accepted(n.call("POST", nativePayPath, n.token, n.order(suite.Poor, strconv.Itoa(suite.PoorsLimit)), reference))
	n.settled(reference)
	for range 2 {
		told := c.Expect(n.call("GET", nativePayPath+"/"+reference, n.token, nil, ""), http.StatusOK)
		c.Fields("the status", told, suite.Object{"status": "FAILED", "reason": "COULD_NOT_PERFORM_TRANSACTION"})
	}
	n.named(reference, "INSUFFICIENT_FUNDS", "conformance-operator-reason")
}

// settled waits until the payment with a reference has its outcome.
func (n *nativeCaller) settled(reference string) {
	n.c.Eventually(func() (problem string) {
		for _, found := range recordedAs(n.c, reference) {
			if found["status"] != "PENDING" {
				return ""
			}
		}
		return "the payment " + reference + " stays PENDING"
	})
}
