package agents

import (
	"encoding/json"
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent knows nothing but what the tools say. It follows the steps of their outputs, and stops at a cause.
type agent struct {
	t     *testing.T
	on    *server
	reads map[string]bool // the tools that change nothing
	calls int
	log   []string
}

func newAgent(t *testing.T, on *server) *agent {
	t.Helper()
	a := &agent{t: t, on: on, reads: map[string]bool{}}
	found, err := on.ListTools(t.Context(), &sdk.ListToolsParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range found.Tools {
		a.reads[tool.Name] = tool.Annotations.ReadOnlyHint
	}
	return a
}

func (a *agent) call(name string, arguments map[string]any) *output {
	a.t.Helper()
	a.calls++
	o := a.on.use(a.t, name, arguments)
	text, _ := json.Marshal(arguments)
	a.log = append(a.log, fmt.Sprintf("%d %s %s: %s [%s]", a.calls, name, text, o.Summary, o.Cause))
	return o
}

// follow begins with a call, and follows the first step that looks, until an output has a cause and its first step is a
// change. It returns the last cause; "" if all is well.
func (a *agent) follow(name string, arguments map[string]any) (cause string) {
	a.t.Helper()
	seen := map[string]bool{}
	for {
		key, _ := json.Marshal([]any{name, arguments})
		seen[string(key)] = true
		o := a.call(name, arguments)
		if o.Cause == "" {
			return cause
		}
		cause = o.Cause
		next := ""
		for i, s := range o.Next {
			if s.Change != "" && i == 0 { // this is the diagnosis
				return cause
			}
			key, _ := json.Marshal([]any{s.Tool, s.Arguments})
			if a.reads[s.Tool] && !seen[string(key)] {
				next, arguments = s.Tool, s.Arguments
				break
			}
		}
		if name = next; name == "" {
			return cause
		}
	}
}

// payer asks who pays so, and returns the number.
func (a *agent) payer(outcome string) string {
	a.t.Helper()
	o := a.call("list_payers", map[string]any{"outcome": outcome, "country": "CI", "operator": "mtn", "limit": 1})
	var found struct{ Payers []struct{ MSISDN string } }
	if err := json.Unmarshal([]byte(o.text), &found); err != nil || len(found.Payers) == 0 {
		a.t.Fatalf("nobody pays: %s", o.text)
	}
	return found.Payers[0].MSISDN
}

func (a *agent) tell() {
	for _, line := range a.log {
		a.t.Log(line)
	}
}

// From an empty folder, an agent gets to a settled payment in few calls.
func TestFromNothingToAPayment(t *testing.T) {
	t.Parallel()
	a := newAgent(t, start(t, t.TempDir(), "--dev"))
	name, arguments := "get_status", map[string]any{}
	for {
		o := a.call(name, arguments)
		if o.Transaction["status"] == "SUCCESS" {
			break
		}
		if o.isErr || len(o.Next) == 0 || o.Next[0].Tool == "" || a.calls == 6 {
			a.tell()
			t.Fatalf("no payment after %d calls: %s", a.calls, o.text)
		}
		name, arguments = o.Next[0].Tool, o.Next[0].Arguments
	}
	a.tell()
	if again := a.call("get_status", nil); again.Cause != "" {
		t.Errorf("after the payment: %s", again.text)
	}
	a.on.checkCalls(t)
	a.on.checkEachTool(t)
	a.on.checkEnd(t)
}

const maxCalls = 25

// An agent finds three mistakes of a shop, of which it sees only the outputs of tools. Then the shop has an A.
func TestPlantedMistakes(t *testing.T) {
	t.Parallel()
	shop := openShop(t, wrongRequest, signsAgain, booksTwice)
	shop.folder = t.TempDir()
	a := newAgent(t, start(t, shop.folder, "--dev", "--country=CI", "--webhook-url="+shop.url+"/webhooks"))
	defer a.tell()
	msisdn := a.payer("SUCCESS")

	shop.sell(sale{order: "order-1", amount: 1500, msisdn: msisdn})
	a.awaitRefusal()
	if cause := a.follow("get_status", nil); cause != "request.invalid_body" {
		t.Fatalf("the cause is %q, and the mistake that %s", cause, wrongRequest)
	}
	shop.set(wrongRequest, false)

	a.await(shop.sell(sale{order: "order-2", amount: 1500, msisdn: msisdn}))
	if cause := a.follow("get_status", nil); cause != "signature.body_rewritten" {
		t.Fatalf("the cause is %q, and the mistake that %s", cause, signsAgain)
	}
	shop.set(signsAgain, false)

	// All is well now, so the agent is told to grade the receiver, and then to send events twice.
	o := a.call("grade_receiver", nil)
	if o.Letter != "A" || len(o.Next) == 0 || o.Next[0].Tool != "switch_fault" {
		t.Fatalf("the grade: %s", o.text)
	}
	a.call(o.Next[0].Tool, o.Next[0].Arguments)
	a.await(shop.sell(sale{order: "order-3", amount: 1500, msisdn: msisdn}))
	a.awaitAcknowledged("order-3")
	if state, paid := shop.order("order-3"); state != "paid" || paid != 3000 {
		t.Fatalf("the shop has %s, %d: it does not make the mistake that %s", state, paid, booksTwice)
	}
	if cause := a.follow("check_expectations", paidOnce(shop, "order-3", 1500)); cause != "event.acknowledged_twice" {
		t.Fatalf("the cause is %q, and the mistake that %s", cause, booksTwice)
	}
	shop.set(booksTwice, false)
	if a.calls > maxCalls {
		t.Errorf("it took %d calls, want at most %d", a.calls, maxCalls)
	}
	t.Logf("three mistakes in %d calls", a.calls)

	a.await(shop.sell(sale{order: "order-4", amount: 1500, msisdn: msisdn}))
	a.awaitAcknowledged("order-4")
	if o := a.call("check_expectations", paidOnce(shop, "order-4", 1500)); !o.Met {
		t.Errorf("after the repair: %s", o.text)
	}
	a.call("switch_fault", map[string]any{"on": false})
	if o := a.call("grade_receiver", map[string]any{"receiver": shop.url + "/webhooks"}); o.Letter != "A" {
		t.Errorf("after the repair: %s", o.text)
	}
}

// paidOnce are the lines for an order that is paid once, in the sandbox and in the shop.
func paidOnce(s *shop, order string, amount int64) map[string]any {
	return map[string]any{"within_seconds": 2, "expect": []any{
		map[string]any{"transactions": map[string]any{"where": map[string]any{"orderRef": order, "status": "SUCCESS"}, "count": 1}},
		map[string]any{"merchant": map[string]any{"get": s.url + "/orders/" + order, "json": map[string]any{"status": "paid", "paid": amount}}},
	}}
}

// await waits until a transaction has ended and its event was sent once, as an agent does that reads it again.
func (a *agent) await(id string) {
	a.t.Helper()
	if id == "" {
		a.t.Fatal("the shop sold nothing")
	}
	eventually(a.t, "the event of "+id+" is sent", func() bool {
		o := a.on.use(a.t, "list_events", map[string]any{"transaction": id})
		var found struct{ Events []struct{ AttemptCount int } }
		return json.Unmarshal([]byte(o.text), &found) == nil && len(found.Events) > 0 && found.Events[0].AttemptCount > 0
	})
}

// awaitRefusal waits until the log has a refused request, which it gets after the answer.
func (a *agent) awaitRefusal() {
	a.t.Helper()
	eventually(a.t, "a refused request is logged", func() bool { return a.on.use(a.t, "list_requests", nil).Cause != "" })
}

// awaitAcknowledged waits until the copies of an event were acknowledged.
func (a *agent) awaitAcknowledged(order string) {
	a.t.Helper()
	eventually(a.t, "the event of "+order+" comes twice", func() bool {
		return a.on.use(a.t, "explain", map[string]any{"id": order}).Cause == "event.acknowledged_twice"
	})
}

// Six other mistakes, each alone. Most are for `make verify`.
func TestOtherMistakes(t *testing.T) {
	t.Parallel()
	shop := openShop(t)
	shop.folder = t.TempDir()
	on := start(t, shop.folder, "--dev", "--country=CI", "--webhook-url="+shop.url+"/webhooks")
	for _, c := range []struct {
		mistake bug
		cause   string
		refused bool // a request of the shop is refused
	}{
		{otherSecret, "signature.other_secret", false},
		{wrongStore, "request.unknown_store", true},
		{refundsTooFar, "request.exceeds_refundable", true},
		{ignoresEnd, "payment.timeout", false},
		{wrongPath, "receiver.wrong_path", false},
		{answersLate, "receiver.slow", false},
	} {
		t.Run(string(c.mistake), func(t *testing.T) { // one after the other: they share the sandbox
			if c.mistake == answersLate {
				onlyWhole(t)
			}
			a := newAgent(t, on)
			defer a.tell()
			a.call("reset_sandbox", nil)
			shop.t = t
			shop.set(c.mistake, true)
			defer shop.set(c.mistake, false)
			order := "order-" + c.cause
			what := sale{order: order, amount: 1500}
			first, arguments := "get_status", map[string]any(nil)
			if what.msisdn = a.payer("SUCCESS"); c.mistake == ignoresEnd {
				what.msisdn = a.payer("TIMEOUT")
				first, arguments = "check_expectations", map[string]any{"within_seconds": 1, "expect": []any{
					map[string]any{"merchant": map[string]any{"get": shop.url + "/orders/" + order, "json": map[string]any{"status": "open"}}},
				}}
			}
			if id := shop.sell(what); id != "" {
				if c.mistake == ignoresEnd {
					a.call("advance_clock", map[string]any{"by": "2h"})
				}
				a.await(id)
			}
			if c.refused {
				a.awaitRefusal()
			}
			if state, _ := shop.order(order); c.mistake == ignoresEnd && state != "paid" {
				t.Fatalf("the order is %q", state)
			}
			if cause := a.follow(first, arguments); cause != c.cause {
				t.Errorf("the cause is %q, want %q", cause, c.cause)
			}
			if a.calls > maxCalls {
				t.Errorf("it took %d calls", a.calls)
			}
			t.Logf("found in %d calls", a.calls)
		})
	}
}
