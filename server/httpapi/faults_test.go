package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// faulty gives the sandbox faults, and makes the server know them.
func (f *fixture) faulty(faults string) {
	f.t.Helper()
	f.config.Faults = []byte(faults)
	f.sandbox(f.config, key)
	f.follow()
}

// faulted is what came of a request to which faults may apply.
type faulted struct {
	dropped   bool // the connection ended without an answer
	malformed bool // what came is no JSON
	response
}

// try makes a request on which faults may act, on a connection of its own.
func (f *fixture) try(method, path string, body any) faulted {
	f.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		f.t.Fatal(err)
	}
	var sent io.Reader = http.NoBody
	if body != nil {
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, sent)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Close = true // a client repeats what fails on a connection that it used before
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if errors.Is(err, io.EOF) {
		return faulted{dropped: true}
	}
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	got := faulted{response: response{status: answer.StatusCode, header: answer.Header, raw: string(raw)}}
	got.malformed = json.Unmarshal(raw, &got.body) != nil
	if !got.malformed {
		checkAnswer(f.t, r, answer, raw)
	}
	return got
}

// apiFaults is every fault of the api, with whether the request is recorded by which it acts.
var apiFaults = map[string]bool{
	`{"status":429,"retryAfter":"7s"}`:                false,
	`{"status":500}`:                                  false,
	`{"status":501}`:                                  false,
	`{"status":502}`:                                  false,
	`{"status":503}`:                                  false,
	`{"status":504,"delay":"20ms"}`:                   false,
	`{"dropConnection":"BeforeCommit"}`:               false,
	`{"dropConnection":"AfterCommit"}`:                true,
	`{"dropConnection":"AfterCommit","delay":"20ms"}`: true,
	`{"delay":"20ms"}`:                                true,
	`{"malformedBody":true}`:                          true,
	`{"malformedBody":true,"delay":"20ms"}`:           true,
}

// TestEveryFaultOfTheAPIOnEveryKindOfRequest makes each request twice, as a careful client does: a fault acts on the first one only, what
// is recorded is the same as without the fault, and the transaction names the fault.
func TestEveryFaultOfTheAPIOnEveryKindOfRequest(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.heard()
	f.client("alice", alice, 1_000_000)
	f.client("bob", bob, 1000, manual)
	parent := f.paid("parent", object{"amount": 100_000})
	sent := f.paid("sent")
	kinds := map[string]struct {
		method, path string
		body         func(reference string) any
		recorded     int  // the status of the answer that records
		replayed     bool // the repetition finds a transaction
	}{
		"pending payment":            {"POST", "/v1/payments", func(r string) any { return payment(r) }, 201, true},
		"final payment":              {"POST", "/v1/payments", func(r string) any { return payment(r, object{"scenario": "success"}) }, 201, true},
		"failed payment":             {"POST", "/v1/payments", func(r string) any { return payment(r, object{"scenario": "timeout"}) }, 201, true},
		"refund":                     {"POST", "/v1/payments/" + parent + "/refund", func(r string) any { return object{"amount": 1, "reference": r} }, 201, true},
		"disbursement":               {"POST", "/v1/disbursements", func(r string) any { return disbursement(r, object{"amount": 1}) }, 200, true},
		"resend":                     {"POST", "/v1/events/" + eventOf(sent) + "/resend", func(string) any { return nil }, 202, false},
		"change of a test client":    {"PATCH", "/v1/test_clients/" + alice, func(string) any { return object{"balance": 1_000_000} }, 409, false},
		"deletion of a test client":  {"DELETE", "/v1/test_clients/" + alice, func(string) any { return nil }, 409, false},
		"advance without permission": {"POST", "/v1/test_clients/" + bob + "/prompts/TX_0/approve", func(string) any { return nil }, 404, false},
	}
	n := 0
	for fault, recorded := range apiFaults {
		n++
		name := fmt.Sprint("fault-", n)
		f.faulty(fmt.Sprintf(`[{"name":%q,"api":%s}]`, name, fault))
		for kind, k := range kinds {
			reference := strings.ReplaceAll(fmt.Sprint(kind, "-", n), " ", "-")
			what := kind + " with " + fault
			first := f.try(k.method, k.path, k.body(reference))
			if k.replayed {
				if got := read[int](f, "select count(*) from transactions where reference = $1", reference) == 1; got != recorded {
					t.Errorf("%s: it is recorded: %t", what, got)
				}
			}
			f.checkFault(what, name, fault, first, k.recorded)
			second := f.try(k.method, k.path, k.body(reference))
			if second.dropped || second.malformed || second.header.Get("X-Cauri-Fault") != "" {
				t.Errorf("%s: the fault acts again: %+v", what, second)
				continue
			}
			want := k.recorded
			if k.replayed && recorded {
				want = http.StatusOK
			}
			if second.status != want {
				t.Errorf("%s: the repetition is answered %d, want %d: %s", what, second.status, want, second.raw)
			}
			if !k.replayed {
				continue
			}
			if diff := cmp.Diff([]any{name}, second.body["faults"]); diff != "" {
				t.Errorf("%s: the repetition names (-want +got):\n%s", what, diff)
			}
			found := f.page("reference=" + reference).body["data"].([]any)
			if len(found) != 1 {
				t.Fatalf("%s: there are %d transactions", what, len(found))
			}
			if diff := cmp.Diff([]any{name}, found[0].(object)["faults"]); diff != "" {
				t.Errorf("%s: the transaction names (-want +got):\n%s", what, diff)
			}
		}
	}
	f.settle()
	f.conserved()
}

// checkFault fails unless a fault did to an answer what it says.
func (f *fixture) checkFault(what, name, fault string, got faulted, status int) {
	f.t.Helper()
	var each struct {
		Status                     int
		DropConnection, RetryAfter string
		MalformedBody              bool
	}
	if err := json.Unmarshal([]byte(fault), &each); err != nil {
		f.t.Fatal(err)
	}
	if got.dropped != (each.DropConnection != "") {
		f.t.Errorf("%s: the connection is dropped: %t", what, got.dropped)
	}
	if got.dropped {
		return
	}
	if each.Status != 0 {
		status = each.Status
	}
	if got.status != status || got.malformed != each.MalformedBody && status != http.StatusNoContent || got.header.Get("X-Cauri-Fault") != name {
		f.t.Errorf("%s: answered %d, want %d, with %v: %s", what, got.status, status, got.header, got.raw)
	}
	if each.RetryAfter != "" && got.header.Get("Retry-After") != strings.TrimSuffix(each.RetryAfter, "s") {
		f.t.Errorf("%s: Retry-After is %q", what, got.header.Get("Retry-After"))
	}
}

// A fault of the api asks for what a request says, or what it is about, and for how often its reference came.
func TestWhatAFaultOfTheAPIAsksFor(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 1_000_000)
	f.client("moved", "+250788000009", 1_000_000, manual)
	parent := f.paid("parent", object{"amount": 1000})
	pay := func(r string) faulted { return f.try("POST", "/v1/payments", payment(r)) }
	refund := func(r string) faulted {
		return f.try("POST", "/v1/payments/"+parent+"/refund", object{"amount": 1, "reference": r})
	}
	disburse := func(r string) faulted {
		return f.try("POST", "/v1/disbursements", disbursement(r, object{"amount": 1}))
	}
	list := func(string) faulted { return f.try("GET", "/sandboxes/team/checkout/api/v1/payments", nil) }
	n := 0
	for when, acts := range map[string][]bool{ // on a payment, a refund, a disbursement, a list
		`{}`:                                {true, true, true, false},
		`{"type":"refund"}`:                 {false, true, false, false},
		`{"operator":"mtn","country":"RW"}`: {true, true, true, false},
		`{"operator":"orange"}`:             {false, false, false, false},
		`{"store":"shop"}`:                  {true, true, true, false},
		`{"msisdn":"` + alice + `"}`:        {true, true, true, false},
		`{"msisdn":"+250788000008"}`:        {false, false, false, false},
		`{"reference":"r*-0"}`:              {true, false, false, false},
		`{"path":"/v1/payments"}`:           {true, false, false, true},
		`{"path":"/v1/payments/*/refund"}`:  {false, true, false, false},
		`{"attempt":2}`:                     {false, false, false, false},
		`{"percent":0}`:                     {false, false, false, false},
		`{"percent":100}`:                   {true, true, true, false},
		`{"from":"2999-01-01T00:00:00Z"}`:   {false, false, false, false},
		`{"until":"2999-01-01T00:00:00Z"}`:  {true, true, true, false},
	} {
		n++
		f.faulty(fmt.Sprintf(`[{"name":"f%d","when":%s,"api":{"status":503}}]`, n, when))
		for i, call := range []func(string) faulted{pay, refund, disburse, list} {
			if got := call(fmt.Sprintf("r%d-%d", n, i)); (got.status == 503) != acts[i] {
				t.Errorf("%s: on request %d it is answered %d, want that it acts: %t", when, i, got.status, acts[i])
			}
		}
	}
	for when, want := range map[string]string{
		`{"attempt":2}`:              "201 503 200 200",
		`{"every":true}`:             "503 503 503 503",
		`{"every":true,"first":2}`:   "503 503 201 200",
		`{"first":1}`:                "503 201 200 200",
		`{"every":true,"attempt":3}`: "201 200 503 200",
	} {
		n++
		f.faulty(fmt.Sprintf(`[{"name":"f%d","when":%s,"api":{"status":503}}]`, n, when))
		var got []string
		for range 4 {
			got = append(got, strconv.Itoa(pay(fmt.Sprint("again", n)).status))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: answers (-want +got):\n%s", when, diff)
		}
	}
	f.conserved()
}

// The first fault that fits acts, alone; one that has acted leaves the place to the next. A fault acts on a repetition too, and the
// transaction names it.
func TestFaultsOfTheAPIFollowOneAnother(t *testing.T) {
	f := newFixture(t)
	registry := prometheus.NewRegistry()
	f = f.serve(func(o *fronts.Options) { o.Metrics = telemetry.NewAPI(registry) })
	f.client("alice", alice, 1_000_000)
	f.faulty(`[{"name":"one","api":{"status":502}},{"name":"two","api":{"dropConnection":"AfterCommit"}},{"name":"three","api":{"malformedBody":true}}]`)
	pay := func() faulted { return f.try("POST", "/v1/payments", payment("r1", object{"scenario": "success"})) }
	if got := pay(); got.status != 502 || got.header.Get("X-Cauri-Fault") != "one" || f.transactions() != 0 {
		t.Errorf("the first request is answered %+v", got)
	}
	if got := pay(); !got.dropped || f.transactions() != 1 {
		t.Errorf("the second request is answered %+v", got)
	}
	if got := pay(); !got.malformed || got.status != 200 || got.header.Get("X-Cauri-Fault") != "three" {
		t.Errorf("the third request is answered %+v", got)
	}
	got := pay()
	if diff := cmp.Diff([]any{"one", "two", "three"}, got.body["faults"]); got.status != 200 || diff != "" {
		t.Errorf("the fourth request is answered %d, with faults (-want +got):\n%s", got.status, diff)
	}
	if conflict := f.try("POST", "/v1/payments", payment("r1", object{"amount": 7})); conflict.status != 409 {
		t.Errorf("another request with its reference is answered %d", conflict.status)
	}
	if n := countedFaults(t, registry, "api"); n != 3 {
		t.Errorf("%v acts are counted, want 3", n)
	}
	f.conserved()
}

// countedFaults is how many acts of a kind a process counted.
func countedFaults(t *testing.T, registry *prometheus.Registry, kind string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "cauri_faults_total" && m.GetLabel()[0].GetValue() == kind {
				return m.GetCounter().GetValue()
			}
		}
	}
	return -1
}

// A request that is refused before, for its key, the sandbox's suspension or its body, meets no fault; one that is refused later does.
func TestPlaceOfTheFaultsOfTheAPI(t *testing.T) {
	f := newFixture(t)
	f.faulty(`[{"name":"f","when":{"every":true},"api":{"status":500}}]`)
	f.call("POST", "/v1/payments", payment("r1", object{"amount": "x"})).is(t, 400, "invalid_body")
	f.call("POST", "/v1/payments", payment("r1"), withKey("cauri_sk_test_x")).is(t, 401, "unauthorized")
	f.call("POST", "/v1/payments", payment("r1", object{"application": "none"})).is(t, 500, "internal")
	f.call("GET", "/v1/payments/TX_0", nil).is(t, 404, "not_found")
	f.call("GET", "/v1/meta", nil)
	f.suspend(true)
	f.follow()
	f.call("POST", "/v1/payments", payment("r1")).is(t, 503, "suspended")
	f.suspend(false)
	f.follow()
	f.allow()
	if got := f.call("POST", "/v1/reset", nil); got.status != http.StatusOK {
		t.Errorf("a reset is answered %d: %s", got.status, got.raw)
	}
}

// A delay ends with the process, and does not go beyond the bound of held answers.
func TestDelayByAFaultIsAHeldAnswer(t *testing.T) {
	f := newFixture(t)
	f.faulty(`[{"name":"slow","api":{"delay":"60s"}}]`)
	done := make(chan faulted)
	begun := time.Now()
	go func() { done <- f.try("POST", "/v1/payments", payment("r1", object{"scenario": "success"})) }()
	soon(t, "it is recorded", func() bool { return f.transactions() == 1 })
	close(f.release)
	if got := <-done; got.status != 201 || time.Since(begun) >= time.Minute {
		t.Errorf("released, it is answered %d after %s", got.status, time.Since(begun))
	}
}
