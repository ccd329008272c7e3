package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// foreign is what belongs to the other sandbox: one value for each parameter of a path, and cursors of its lists.
type foreign struct {
	values  map[string][]string // by the parameter's name
	cursors map[string]string   // by the list's path
	words   []string            // that stand in nothing of ours
}

const foreignSIM = "+250788000077"

// neighbour fills the other sandbox with a test client, payments of every kind, events, and a prompt that waits.
func (f *fixture) neighbour() foreign {
	f.t.Helper()
	sim := sandboxes.TestClientConfig{
		UID: "22222222-2222-2222-2222-000000000001", Name: "neighbour", MSISDN: foreignSIM, Operator: payments.MTN, Country: payments.Rwanda,
		Behavior: payments.Manual, Balance: 50_000,
	}
	if _, err := f.store.ApplyTestClient(f.t.Context(), "22222222-2222-2222-2222-222222222222", sim); err != nil {
		f.t.Fatal(err)
	}
	as := withKey(otherKey)
	made := func(path string, body object) string {
		got := f.call("POST", path, body, as)
		for _, name := range []string{"id", "tx_id"} {
			if id, ok := got.body[name].(string); ok && got.status < 300 {
				return id
			}
		}
		f.t.Fatalf("%s answered %d %s", path, got.status, got.raw)
		return ""
	}
	theirs := object{"msisdn": foreignSIM}
	paid := made("/v1/payments", payment("foreign-paid", theirs, object{"scenario": "success"}))
	prompt := made("/v1/payments", payment("foreign-prompt", theirs))
	refund := made("/v1/payments/"+paid+"/refund", object{"amount": 100, "reference": "foreign-refund"})
	payout := made("/v1/disbursements", payment("foreign-payout", theirs, object{"amount": 10, "operator": "mtn", "country": "RW"}))

	neighbor := foreign{words: []string{"foreign-", foreignSIM, foreignSIM[1:], paid, prompt, refund, payout}, cursors: map[string]string{}}
	ids := []string{paid, prompt, refund, payout}
	for _, tx := range []string{paid, refund, payout} {
		event := strings.Replace(tx, "TX_", "evt_", 1)
		neighbor.words, ids = append(neighbor.words, event), append(ids, event)
	}
	neighbor.values = map[string][]string{
		"id": ids, "tx": {prompt, paid}, "msisdn": {foreignSIM, alice}, "answer": {"approve", "cancel", "wrong_pin"}, "session": {"cs_4GQ2BTZ7WQXKJ5UYV6ZJH3M2NA"}, "check": {"chk_0SGFHP2T6CKSRTNMP79EP8AFX4"},
		"fault": {"foreign-fault"},
	}
	return neighbor
}

// foreignBodies are requests to the endpoints that take a body, which name what is the other sandbox's.
func foreignBodies() map[string][]any {
	return map[string][]any{
		"POST /v1/payments": {
			payment("mine-1", object{"msisdn": foreignSIM}),
			payment("foreign-paid", object{"msisdn": alice}),
		},
		"POST /v1/disbursements": {
			payment("mine-2", object{"msisdn": foreignSIM, "amount": 10, "operator": "mtn", "country": "RW"}),
		},
		"POST /v1/payments/{id}/refund":           {object{"amount": 1, "reference": "mine-3"}, object{}},
		"POST /v1/events/{id}/resend":             {nil},
		"POST /v1/test_clients":                   {object{"msisdn": foreignSIM}},
		"PATCH /v1/test_clients/{msisdn}":         {object{"balance": 5}},
		"DELETE /v1/test_clients/{msisdn}":        {nil},
		"POST /v1/test_clients/{msisdn}/manual":   {nil},
		"DELETE /v1/test_clients/{msisdn}/manual": {nil},
		"POST /v1/expectations/evaluate": {
			object{"expect": []any{object{"transactions": object{"where": object{"status": "SUCCESS"}, "count": 0}}, object{"nothingElse": true}}},
			object{"expect": []any{object{"events": object{"count": 0}}, object{"nothingElse": true}}},
		},
		"POST /v1/receiver_checks":                             {object{"tx_id": "TX_041061050R3GG28A1C60T3GF20"}},
		"POST /v1/clock/advance":                               {object{"to": "nextDue", "wait": "0s"}},
		"POST /v1/reset":                                       {nil},
		"PUT /v1/faults/{fault}":                               {object{"webhook": object{"drop": true}}},
		"DELETE /v1/faults/{fault}":                            {nil},
		"DELETE /v1/faults":                                    {nil},
		"POST /v1/console_links":                               {nil},
		"DELETE /v1/console_sessions":                          {nil},
		"DELETE /v1/console_sessions/{session}":                {nil},
		"POST /v1/events/{id}/compare":                         {object{"body": "{}"}},
		"POST /v1/test_clients/{msisdn}/prompts/{tx}/{answer}": {nil},
	}
}

// create are the endpoints that make or end something of ours, whatever number or reference it names.
var create = []string{"POST /v1/payments", "POST /v1/disbursements", "POST /v1/test_clients", "POST /v1/clock/advance", "POST /v1/console_links",
	"DELETE /v1/console_sessions", "DELETE /v1/faults", "PUT /v1/faults/{fault}"}

// Every endpoint that the description names is called with what is another sandbox's. A new one is so too; one that takes a body
// has to be given one above.
func TestNoEndpointReachesAnotherSandbox(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.client("alice", alice, 50_000)
	neighbor := f.neighbour()
	before := f.rowsOf("other")
	tried := 0
	paths := theContract(t).document["paths"].(object)
	for _, making := range []bool{false, true} { // what makes something of ours comes last: it may bear the other's words
		for path, item := range paths {
			for method, described := range item.(object) {
				operation := strings.ToUpper(method) + " " + path
				if operation == "GET /v1/stream" {
					continue // see TestStreamsAreApart: it has no end
				}
				secured, declared := described.(object)["security"].([]any)
				if declared && len(secured) == 0 || slices.Contains(create, operation) != making {
					continue // open to all: it knows no sandbox
				}
				tried += f.tryForeign(neighbor, operation)
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d calls were tried", tried)
	}
	if diff := cmp.Diff(before, f.rowsOf("other")); diff != "" {
		t.Errorf("the other sandbox's rows changed (-before +after):\n%s", diff)
	}
}

// tryForeign calls one endpoint with everything that is the other sandbox's, and returns how often.
func (f *fixture) tryForeign(neighbor foreign, operation string) (tried int) {
	f.t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	bodies := []any{nil}
	if method != http.MethodGet {
		if bodies = foreignBodies()[operation]; bodies == nil {
			f.t.Errorf("%s is not tried: write in foreignBodies what a call with another sandbox's ids is", operation)
		}
	}
	for _, target := range neighbor.targets(f.t, path) {
		for _, body := range bodies {
			tried++
			neighbor.check(f.t, operation, target, f.call(method, target, body))
		}
	}
	return tried
}

// targets are the paths with every value of their parameters that is the other sandbox's.
func (f foreign) targets(t *testing.T, path string) []string {
	t.Helper()
	targets := []string{""}
	for _, part := range strings.SplitAfter(path, "/") {
		values := []string{part}
		if name, isParameter := strings.CutPrefix(strings.TrimSuffix(part, "/"), "{"); isParameter {
			name = strings.TrimSuffix(name, "}")
			if values = nil; f.values[name] == nil {
				t.Fatalf("%s: write in neighbour what values {%s} has", path, name)
			}
			for _, value := range f.values[name] {
				values = append(values, url.PathEscape(value)+strings.TrimPrefix(part, "{"+name+"}"))
			}
		}
		var longer []string
		for _, target := range targets {
			for _, value := range values {
				longer = append(longer, target+value)
			}
		}
		targets = longer
	}
	return targets
}

func (f foreign) check(t *testing.T, operation, target string, got response) {
	t.Helper()
	refused := []int{http.StatusNotFound, http.StatusBadRequest}
	switch own := strings.Contains(target, url.PathEscape(alice)) || !strings.Contains(operation, "{"); {
	case slices.Contains(create, operation):
		if got.status >= 300 {
			t.Errorf("%s: answered %d %s", operation, got.status, got.raw)
		}
	case own && got.status == http.StatusOK: // our own list or test client
		for _, word := range f.words {
			if strings.Contains(got.raw, word) {
				t.Errorf("%s: %s of another sandbox is in the answer: %s", target, word, got.raw)
			}
		}
	case own && got.status == http.StatusConflict: // our own test client, which is a resource's
	case !slices.Contains(refused, got.status):
		t.Errorf("%s: answered %d %s", target, got.status, got.raw)
	}
}

// A cursor is a place in a list, and not a right: with another sandbox's, and with filters for what is the other's, a list has
// nothing but one's own.
func TestForeignCursorsAndFiltersFindNothing(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	neighbor := f.neighbour()
	mine := f.call("POST", "/v1/payments", payment("mine", object{"scenario": "success"})).body["id"].(string)
	if mine == "" {
		t.Fatal("nothing was made")
	}
	lists := 0
	for path, item := range theContract(t).document["paths"].(object) {
		get, _ := item.(object)["get"].(object)
		names := parameterNames(theContract(t).document, get)
		if !slices.Contains(names, "cursor") {
			continue
		}
		lists++
		theirs := strings.NewReplacer("{msisdn}", url.PathEscape(foreignSIM)).Replace(path)
		ours := strings.NewReplacer("{msisdn}", url.PathEscape(alice)).Replace(path)
		queries := []string{"", "reference=foreign-paid", "msisdn=" + url.QueryEscape(foreignSIM), "order=foreign-paid", "tx=" + neighbor.words[3]}
		if cursor := f.cursorOf(theirs); cursor != "" {
			queries = append(queries, "cursor="+url.QueryEscape(cursor))
		}
		for _, query := range queries {
			name, _, _ := strings.Cut(query, "=")
			if name != "" && !slices.Contains(names, name) {
				continue
			}
			got := f.call("GET", ours+"?"+query, nil)
			if path == "/v1/ledger/entries" && name == "msisdn" && got.status == http.StatusNotFound {
				continue // it is no filter there: nobody has the account
			}
			for _, word := range neighbor.words {
				if got.status != http.StatusOK && got.status != http.StatusBadRequest || name != "msisdn" && strings.Contains(got.raw, word) {
					t.Errorf("%s?%s answered %d %s", ours, query, got.status, got.raw)
					break
				}
			}
		}
	}
	if lists < 4 {
		t.Errorf("only %d lists were found in the description", lists)
	}
}

// cursorOf is a cursor that the other sandbox gets for one of its lists, if that has more than one page.
func (f *fixture) cursorOf(path string) string {
	f.t.Helper()
	got := f.call("GET", path+"?limit=1", nil, withKey(otherKey))
	for _, name := range slices.Sorted(maps.Keys(got.body)) {
		if text, ok := got.body[name].(string); ok && strings.Contains(strings.ToLower(name), "cursor") {
			return text
		}
	}
	return ""
}

// parameterNames are those of an operation's query and path.
func parameterNames(document, operation object) (names []string) {
	list, _ := operation["parameters"].([]any)
	for _, p := range list {
		parameter := p.(object)
		if ref, ok := parameter["$ref"].(string); ok {
			parameter = document["components"].(object)["parameters"].(object)[ref[strings.LastIndex(ref, "/")+1:]].(object)
		}
		names = append(names, parameter["name"].(string))
	}
	return names
}

// rowsOf is all that the database holds of a sandbox, without what a reader changes.
func (f *fixture) rowsOf(name string) map[string]string {
	f.t.Helper()
	conn := ledgertest.Connect(f.t, f.db)
	rows := map[string]string{}
	for _, table := range []string{"organizations", "transactions", "events", "delivery_attempts", "floats", "sims", "adjustments", "quota_usage"} {
		var text string
		err := conn.QueryRow(f.t.Context(), fmt.Sprintf(`select coalesce(string_agg(x::text, E'\n' order by x::text), '') from %s x
			where tenant = (select tenant from organizations where name = $1)`, table), name).Scan(&text)
		if err != nil {
			f.t.Fatal(err)
		}
		rows[table] = text
	}
	return rows
}
