package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// runOrder is the order in which examples follow from one another.
var runOrder = []string{
	"getMeta",
	"getHealth",
	"getOpenAPI",
	"getOpenAPI30",
	"createPayment",
	"getPayment",
	"listPayments",
	"createRefund",
	"createDisbursement",
	"listLedgerAccounts",
	"listLedgerEntries",
	"listEvents",
	"getEvent",
	"compareEvent",
	"getWebhook",
	"resendEvent",
	"listTestClients",
	"getTestClient",
	"createTestClient",
	"patchTestClient",
	"startManual",
	"endManual",
	"getOneTimeCode",
	"deleteTestClient",
	"setFault",
	"listFaults",
	"removeFault",
	"removeFaults",
	"listPrompts",
	"answerPrompt",
	"listTestNumbers",
	"listRequests",
	"openStream",
	"createConsoleLink",
	"listConsoleSessions",
	"deleteConsoleSession",
	"deleteConsoleSessions",
	"resetSandbox",
	"evaluateExpectations",
	"createReceiverCheck",
	"getReceiverCheck",
	"getClock",
	"advanceClock",
}

// Every example is a request that can be made, and its answer is the one that comes.
func TestEveryExampleRuns(t *testing.T) {
	runExamples(t, func(f *fixture) sender { return f.sendExample })
}

// sender sends the request of an example. The parameter ids is about those of the examples, and what they are here.
type sender func(t *testing.T, id string, o describedOperation, e describedExample, ids map[string]string) response

func runExamples(t *testing.T, newSender func(*fixture) sender) {
	f := newFixture(t)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 1_000_000}
	f.config.Environments, f.config.TestNumbers = f.config.Environments[:1], payments.StandardTestNumbers
	f.allow()
	f.heard()
	f.client("alice", "+250788123456", 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	f.call("POST", "/v1/reset", nil) // so that the balances of the configuration are the ones that accounts open with

	send, operations := newSender(f), theContract(t).operations()
	if diff := cmp.Diff(slices.Sorted(slices.Values(runOrder)), slices.Sorted(maps.Keys(operations))); diff != "" {
		t.Fatalf("the operations of the document (-run +described):\n%s", diff)
	}
	ids := map[string]string{} // of the examples, to what they are here
	for _, id := range runOrder {
		if id == "listEvents" {
			f.exec("update events e set state = 'recorded', due_at = null")
			f.attempted(
				ids[operations[id].examples[0].answer["data"].([]any)[0].(object)["txId"].(string)],
				"failed",
				http.StatusGone,
				[]byte("moved away"),
			)
			f.exec(`update delivery_attempts set signed_at = now(), signature = 'sha256=0', standard_signature = 'v1,0', signed_with = $1`, "ba7816bf")
			f.exec(`insert into endpoint_health (tenant, failures, failing_since, delivered, failed, first_failed, first_failed_attempt, last_failed,
				last_failed_attempt, last_acked, last_acked_attempt)
				select tenant, 16, now(), 1162, 1, event_id, attempt, event_id, attempt, event_id, attempt from delivery_attempts`)
			f.exec("insert into unacknowledged_events (tenant, id, operator, created_at, attempt) select tenant, event_id, '', now(), attempt from delivery_attempts")
		}
		if id == "listLedgerAccounts" {
			stop := ledgertest.Verifies(t, f.db)
			f.call("GET", "/v1/ledger?verify=full", nil)
			stop()
		}
		if id == "listConsoleSessions" {
			f.exec(`insert into console_sessions (org_id, hash, session_id, made_with, role) select org_id, sha256('x'), 'cs_4GQ2BTZ7WQXKJ5UYV6ZJH3M2NA',
				sha256('` + key + `'), 'viewer' from organizations where name = 'checkout' and retained_at is null`)
		}
		if id == "listRequests" {
			f.call("POST", "/v1/payments", `{"amount":"25000","currency":"RWF","msisdn":"+250788123456","application":"shop","phone":1}`,
				func(r *http.Request) { r.Header.Set("X-Request-Id", "checkout-1042") })
			f.logged()
		}
		for _, e := range operations[id].examples {
			t.Run(id+"/"+e.name, func(t *testing.T) {
				if id == "advanceClock" && e.status == http.StatusOK {
					defer f.advances()()
				}
				checkExample(t, e, send(t, id, operations[id], e, ids), ids)
			})
		}
	}
}

type describedOperation struct {
	method, path string
	parameters   []any
	bodies       object // examples by name
	examples     []describedExample
}

type describedExample struct {
	name   string
	status int
	answer object
}

// operations are the operations of the document by id, with the examples of their results.
func (c *contract) operations() map[string]describedOperation {
	operations := map[string]describedOperation{}
	for path, item := range c.document["paths"].(object) {
		for method, described := range item.(object) {
			d := described.(object)
			o := describedOperation{
				method:     strings.ToUpper(method),
				path:       path,
				parameters: d["parameters"].([]any),
				bodies:     examplesOf(d["requestBody"]),
			}
			for status, answer := range d["responses"].(object) {
				code, _ := strconv.Atoi(status)
				if code >= 300 {
					continue
				}
				if code == http.StatusNoContent { // an answer without a body has no examples: those of the path are the requests
					examples, _ := d["parameters"].([]any)[0].(object)["examples"].(object)
					for name := range examples {
						o.examples = append(o.examples, describedExample{name: name, status: code})
					}
				}
				for name, e := range examplesOf(answer) {
					o.examples = append(o.examples, describedExample{name, code, e.(object)["value"].(object)})
				}
			}
			slices.SortFunc(o.examples, func(a, b describedExample) int { return strings.Compare(a.name, b.name) })
			operations[d["operationId"].(string)] = o
		}
	}
	return operations
}

func examplesOf(owner any) object {
	o, _ := owner.(object)
	content, _ := o["content"].(object)
	media, _ := content["application/json"].(object)
	examples, _ := media["examples"].(object)
	return examples
}

func (f *fixture) sendExample(_ *testing.T, _ string, o describedOperation, e describedExample, ids map[string]string) response {
	var body any
	if example, found := o.bodies[e.name].(object); found {
		body = example["value"]
	}
	return f.call(o.method, o.target(e.name, ids), body)
}

func checkExample(t *testing.T, e describedExample, got response, ids map[string]string) {
	t.Helper()
	if got.status != e.status {
		t.Fatalf("answered %d, want %d: %s", got.status, e.status, got.raw)
	}
	for _, name := range []string{"id", "tx_id"} {
		if id, isText := e.answer[name].(string); isText {
			ids[id], _ = got.body[name].(string)
		}
	}
	if diff := cmp.Diff(lasting(e.answer), lasting(got.body)); diff != "" {
		t.Errorf("the answer (-described +real):\n%s", diff)
	}
	if e.answer["id"] != nil && (e.answer["completedAt"] == nil) != (got.body["completedAt"] == nil) {
		t.Errorf("completedAt is %v", got.body["completedAt"])
	}
}

// target is the path and query of an example.
func (o describedOperation) target(example string, ids map[string]string) string {
	path, query := o.path, url.Values{}
	for _, parameter := range o.parameters {
		p := parameter.(object)
		examples, _ := p["examples"].(object)
		e, found := examples[example].(object)
		if !found {
			continue
		}
		if value := fmt.Sprint(e["value"]); p["in"] == "path" {
			if tx, is := ids["TX_"+strings.TrimPrefix(value, "evt_")]; is && strings.HasPrefix(value, "evt_") {
				value = eventOf(tx)
			}
			if id, is := ids[value]; is {
				value = id
			}
			path = strings.ReplaceAll(path, "{"+p["name"].(string)+"}", url.PathEscape(value))
		} else {
			query.Set(p["name"].(string), value)
		}
	}
	return path + "?" + query.Encode()
}

// lasting is an answer without what differs from one day, sandbox and program to another.
func lasting(answer object) object {
	kept := maps.Clone(answer)
	for _, name := range []string{"id", "tx_id", "parentTxId", "environmentId", "providerTxId", "createdAt", "completedAt", "expiresAt", "raw", "version",
		"txId", "manualUntil", "requestedAt", "nextAttemptAt", "startedAt", "body", "payload", "time",
		"organizationId", "now", "target", "verifiedAt", "evaluatedAt", "epoch", "nextCursor",
		"realStartedAt", "signature", "difference", "sentBytes", "causes", "failingSince", "firstFailure", "lastFailure", "lastDelivery", "waiting",
		"secret", "url", "otp", "advice", "unacknowledged", "unacknowledgedEvent", "setAt", "endsAt", "secondsLeft"} {
		if kept[name] == nil {
			continue
		}
		if _, is := kept[name]; is {
			kept[name] = "…"
		}
	}
	if reference, _ := kept["reference"].(string); strings.HasPrefix(reference, "SHOP-REF-") {
		kept["reference"] = "SHOP-REF-…" // generated, where it is left out
	}
	for _, name := range []string{"data", "attempts"} {
		if page, isPage := kept[name].([]any); isPage {
			var items []any
			for _, item := range page {
				items = append(items, lasting(item.(object)))
			}
			kept[name] = items
		}
	}
	return kept
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (f *fixture) listBy(path, parameter, value string) response {
	f.t.Helper()
	return f.call(http.MethodGet, path+"?"+url.Values{parameter: {value}}.Encode(), nil)
}

// valuesOf makes values that a schema takes and values that it does not take.
func valuesOf(schema object) (good, bad []string) {
	if values, is := schema["enum"].([]any); is {
		for _, v := range values {
			good = append(good, v.(string))
		}
		return good, []string{"", "none of them", strings.ToLower(good[0]) + "x"}
	}
	if least, is := schema["minimum"].(float64); is {
		most := schema["maximum"].(float64)
		return []string{fmt.Sprint(least), fmt.Sprint(most)}, []string{fmt.Sprint(least - 1), fmt.Sprint(most + 1), "1.5", "x", ""}
	}
	if schema["pattern"] == "^/" {
		return []string{"/", "/v1/é"}, []string{"", "v1", "/" + strings.Repeat("é", 200)}
	}
	if most, is := schema["maxLength"].(float64); is {
		return []string{"é", strings.Repeat("é", int(most))}, []string{"", strings.Repeat("é", int(most)+1)}
	}
	if schema["format"] == "date-time" {
		return []string{"2026-05-31T12:00:00Z", "2026-05-31T12:00:00.5+02:00"}, []string{"2026-05-31", "yesterday", ""}
	}
	if pattern, _ := schema["pattern"].(string); strings.HasPrefix(pattern, "^TX_") {
		return []string{"TX_00000000000000000000000000"}, []string{"", "TX_0", "evt_00000000000000000000000000"}
	}
	if schema["pattern"] != nil {
		return []string{"+250788123456"}, []string{"250788123456", "+0788", ""}
	}
	return nil, []string{"x", ""} // a cursor is one that was given
}
