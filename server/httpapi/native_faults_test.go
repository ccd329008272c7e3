package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/payments"
)

// answerFaults are the faults of the api and of an operator that apply to answers, with the body of the answer, and
// whether the request is recorded by which it acts.
var answerFaults = map[string]struct {
	body     string
	recorded bool
}{
	`"api":{"status":429,"retryAfter":"7s"}`:          {`{"statusCode":429,"message":"Rate limit is exceeded. Try again later."}`, false},
	`"api":{"status":500}`:                            {mtnInternal, false},
	`"api":{"status":501}`:                            {`{"statusCode":501,"message":"Not Implemented"}`, false},
	`"api":{"status":502}`:                            {`{"statusCode":502,"message":"Bad Gateway"}`, false},
	`"api":{"status":503}`:                            {mtnUnavailable, false},
	`"api":{"status":504,"delay":"20ms"}`:             {`{"statusCode":504,"message":"Gateway Timeout"}`, false},
	`"api":{"dropConnection":"BeforeCommit"}`:         {"", false},
	`"api":{"dropConnection":"AfterCommit"}`:          {"", true},
	`"api":{"delay":"20ms"}`:                          {"", true},
	`"api":{"malformedBody":true}`:                    {"{", true},
	`"operator":{"status":401}`:                       {`{"error":"invalid_token"}`, false},
	`"operator":{"status":429}`:                       {`{"statusCode":429,"message":"Rate limit is exceeded. Try again later."}`, false},
	`"operator":{"status":500}`:                       {mtnInternal, false},
	`"operator":{"status":502,"delay":"20ms"}`:        {`{"statusCode":502,"message":"Bad Gateway"}`, false},
	`"operator":{"status":503}`:                       {mtnUnavailable, false},
	`"operator":{"dropConnection":"BeforeCommit"}`:    {"", false},
	`"operator":{"dropConnection":"AfterCommit"}`:     {"", true},
	`"operator":{"delay":"20ms","reason":"NOT_USED"}`: {"", true},
}

const (
	mtnUnavailable = `{"message":"Service temporarily unavailable, try again later.","code":"SERVICE_UNAVAILABLE"}`
	mtnInternal    = `{"message":"An internal error occurred while processing.","code":"INTERNAL_PROCESSING_ERROR"}`
)

// mtnOrder is a call of MTN's own API that records a transaction, and the one that tells what came of it.
type mtnOrder struct{ path, status, body string }

// mtnOrders are all of them, of 1 RWF each. The refunds are of a collection with the reference that is given.
func mtnOrders(paid string) []mtnOrder {
	payer := payBody(alice, "1", "RWF")
	payee := strings.Replace(payer, `payer"`, `payee"`, 1)
	refund := fmt.Sprintf(`{"amount": "1", "currency": "RWF", "referenceIdToRefund": %q}`, paid)
	return []mtnOrder{
		{"/collection/v1_0/requesttopay", "/collection/v1_0/requesttopay/", payer},
		{"/collection/v1_0/requesttowithdraw", "/collection/v1_0/requesttowithdraw/", payer},
		{"/collection/v2_0/requesttowithdraw", "/collection/v1_0/requesttowithdraw/", payer},
		{"/disbursement/v1_0/transfer", "/disbursement/v1_0/transfer/", payee},
		{"/remittance/v1_0/transfer", "/remittance/v1_0/transfer/", payee},
		{"/disbursement/v1_0/deposit", "/disbursement/v1_0/deposit/", payee},
		{"/disbursement/v2_0/deposit", "/disbursement/v1_0/deposit/", payee},
		{"/disbursement/v1_0/refund", "/disbursement/v1_0/refund/", refund},
		{"/disbursement/v2_0/refund", "/disbursement/v1_0/refund/", refund},
	}
}

// Each fault of the api and of an operator that applies to answers acts on the first of two alike requests to each call
// of MTN's own API that records a transaction, in MTN's form; what is recorded is the same as without it, and the
// transaction names it.
func TestEveryFaultOfAnswersOnEveryMTNCall(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 1_000_000)
	m := f.mtn(key)
	paid := m.pay(alice)
	f.settle()
	n := 0
	for fault, want := range answerFaults {
		n++
		name := fmt.Sprint("fault-", n)
		f.faulty(fmt.Sprintf(`[{"name":%q,%s}]`, name, fault))
		for _, o := range mtnOrders(paid) {
			what, reference := o.path+" with "+fault, newReference()
			header := m.authorized(o.path, "X-Reference-Id", reference)
			first := m.try("POST", o.path, o.body, header)
			m.checkFault(what, name, fault, want.body, first)
			if got := read[int](f, "select count(*) from transactions where reference = $1", reference) == 1; got != want.recorded {
				t.Errorf("%s: it is recorded: %t", what, got)
			}
			second := m.send("POST", o.path, o.body, header)
			if wanted := map[bool]int{true: 409, false: 202}[want.recorded]; second.status != wanted || second.header.Get("X-Cauri-Fault") != "" {
				t.Errorf("%s: the repetition is answered %d, want %d, with %v", what, second.status, wanted, second.header)
			}
			if got := m.call("GET", o.status+reference, ""); got.status != http.StatusOK || got.header.Get("X-Cauri-Fault") != "" {
				t.Errorf("%s: its status is answered %d %s, with %v", what, got.status, got.raw, got.header)
			}
			found := f.page("reference=" + reference).body["data"].([]any)
			if diff := cmp.Diff([]any{name}, found[0].(object)["faults"]); len(found) != 1 || diff != "" {
				t.Errorf("%s: there are %d transactions, and the first names (-want +got):\n%s", what, len(found), diff)
			}
		}
	}
	f.settle()
	f.conserved()
}

// checkFault fails unless a fault did to an answer what it says.
func (m *mtn) checkFault(what, name, fault, body string, got nativeAnswer) {
	m.f.t.Helper()
	var all map[string]struct {
		Status                     int
		DropConnection, RetryAfter string
	}
	if err := json.Unmarshal([]byte("{"+fault+"}"), &all); err != nil {
		m.f.t.Fatal(err)
	}
	f := all["api"]
	if operator, there := all["operator"]; there {
		f = operator
	}
	if got.dropped != (f.DropConnection != "") {
		m.f.t.Errorf("%s: the connection is dropped: %t", what, got.dropped)
	}
	status := f.Status
	if status == 0 {
		status = http.StatusAccepted
	}
	if got.dropped {
		return
	}
	if got.status != status || got.raw != body || got.header.Get("X-Cauri-Fault") != name {
		m.f.t.Errorf("%s: answered %d %s with %v, want %d %s", what, got.status, got.raw, got.header, status, body)
	}
	if f.RetryAfter != "" && got.header.Get("Retry-After") != strings.TrimSuffix(f.RetryAfter, "s") {
		m.f.t.Errorf("%s: Retry-After is %q", what, got.header.Get("Retry-After"))
	}
}

// A call that records nothing is changed only by a fault with its path, however it is written; one that records a
// transaction, by what is known of it.
func TestWhatAFaultOfAnMTNCallAsksFor(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 1_000_000)
	m := f.mtn(key)
	paid := m.pay(alice)
	f.settle()
	order := func(i int) func() nativeAnswer {
		o := mtnOrders(paid)[i]
		return func() nativeAnswer { return m.call("POST", o.path, o.body, "X-Reference-Id", newReference()) }
	}
	m.authorized("/collection")
	m.authorized("/disbursement") // the tokens, before a fault acts on them
	calls := []func() nativeAnswer{
		order(0), order(3), order(7),
		func() nativeAnswer { return m.token("collection", m.User, m.UserKey) },
		func() nativeAnswer { return m.call("GET", "/collection/v1_0/requesttopay/"+paid, "") },
		func() nativeAnswer { return m.call("GET", "/collection//v1_0/account/balance/", "") },
	}
	for when, acts := range map[string]string{ // on a request to pay, a transfer, a refund, a token, a status, the balance
		`{}`:                                  "yyynnn",
		`{"type":"refund"}`:                   "nnynnn",
		`{"operator":"mtn","country":"RW"}`:   "yyynnn",
		`{"operator":"orange"}`:               "nnnnnn",
		`{"store":"shop"}`:                    "yyynnn",
		`{"msisdn":"` + alice + `"}`:          "yyynnn",
		`{"reference":"*-8000-000000000000"}`: "yyynnn",
		`{"path":"/operators/mtn/collection/v1_0/requesttopay"}`:    "ynnnnn",
		`{"path":"/operators/mtn/collection/v1_0/requesttopay/*"}`:  "nnnnyn",
		`{"path":"/operators/mtn/*"}`:                               "yyyyyy",
		`{"path":"/operators/*/token"}`:                             "nnnynn",
		`{"path":"/operators/mtn/collection/v1_0/account/balance"}`: "nnnnny",
		`{"path":"/v1/*"}`:                                          "nnnnnn",
		`{"percent":0}`:                                             "nnnnnn",
	} {
		for kind, fault := range map[string]string{"api": `{"status":503}`, "operator": `{"status":503}`} {
			f.faulty(fmt.Sprintf(`[{"name":"f-%d","when":%s,%q:%s}]`, references.Add(1), when, kind, fault))
			got := ""
			for _, call := range calls {
				if answer := call(); answer.status == 503 && answer.raw == mtnUnavailable {
					got += "y"
				} else {
					got += "n"
				}
			}
			if got != acts {
				t.Errorf("%s of %s acts on %s, want %s", when, kind, got, acts)
			}
		}
	}
	// The first of the list that fits acts, whether it is of the api or of the operator. An operator's does not act on
	// /v1.
	f.faulty(`[{"name":"one","when":{"every":true,"first":1},"operator":{"status":502}},{"name":"two","api":{"status":503}}]`)
	if got := order(0)(); got.status != 502 || got.header.Get("X-Cauri-Fault") != "one" {
		t.Errorf("the first request is answered %d by %q", got.status, got.header.Get("X-Cauri-Fault"))
	}
	if got := order(0)(); got.status != 503 || got.header.Get("X-Cauri-Fault") != "two" {
		t.Errorf("the second request is answered %d by %q", got.status, got.header.Get("X-Cauri-Fault"))
	}
	f.faulty(`[{"name":"three","operator":{"status":503}}]`)
	if got := f.try("POST", "/v1/payments", payment("r1")); got.status != http.StatusCreated {
		t.Errorf("a fault of an operator acts on /v1: %d", got.status)
	}
	f.conserved()
}

// What an operator tells of a transaction is changed as often as it is asked for, and counts once. The sandbox's own
// API tells the truth.
func TestFaultsApplyToAnOperatorsAnswers(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 1_000_000)
	f.client("bob", bob, 0)
	m := f.mtn(key)
	paid := m.pay(alice)
	f.settle()
	asked := func(o mtnOrder, reference string) string {
		got := m.call("GET", o.status+reference, "")
		return fmt.Sprint(got.body["status"], " ", got.body["reason"], " ", got.header.Get("X-Cauri-Fault"))
	}
	truth := func(reference string) string {
		return fieldsOf(f.page("reference=" + reference).body["data"].([]any)[0].(object), "status", "faults")
	}
	for _, o := range mtnOrders(paid) {
		good, bad := newReference(), newReference()
		poor := strings.Replace(strings.Replace(o.body, alice[1:], bob[1:], 1), `"1"`, `"500000"`, 1)
		m.call("POST", o.path, o.body, "X-Reference-Id", good).is(t, http.StatusAccepted, "")
		fails := strings.Contains(o.path, "collection") || strings.Contains(o.path, "transfer") || strings.Contains(o.path, "deposit")
		if fails {
			m.call("POST", o.path, poor, "X-Reference-Id", bad).is(t, http.StatusAccepted, "")
		}
		f.settle()
		name := fmt.Sprint("pending-", references.Add(1))
		f.faulty(fmt.Sprintf(`[{"name":%q,"when":{"status":"SUCCESS","first":1},"operator":{"statusStaysPending":"1h"}},
			{"name":"because","operator":{"reason":"NOT_ALLOWED"}}]`, name))
		for range 2 {
			if got, want := asked(o, good), "PENDING <nil> "+name; got != want {
				t.Errorf("%s: it is told as %q, want %q", o.path, got, want)
			}
			if got, want := truth(good), "SUCCESS ["+name+"]"; got != want {
				t.Errorf("%s: /v1 tells %q, want %q", o.path, got, want)
			}
		}
		f.exec("update transactions set completed_at = completed_at - interval '1 hour' where reference = '" + good + "'")
		if got, want := asked(o, good), "SUCCESSFUL <nil> "; got != want {
			t.Errorf("%s: an hour later it is told as %q, want %q", o.path, got, want)
		}
		if n := read[int](f, "select acts::int from fault_counts where name = $1", name); n != 1 {
			t.Errorf("%s: %s acted %d times, want once", o.path, name, n)
		}
		if !fails {
			continue
		}
		for range 2 {
			if got, want := asked(o, bad), "FAILED NOT_ALLOWED because"; got != want {
				t.Errorf("%s: the failure is told as %q, want %q", o.path, got, want)
			}
		}
		if got := truth(bad); got != "INSUFFICIENT_FUNDS [because]" {
			t.Errorf("%s: /v1 tells the failure as %q", o.path, got)
		}
	}
	// A transaction that is told as pending cannot be notified of.
	f.faulty(`[{"name":"late","operator":{"statusStaysPending":"1h"}}]`)
	notify := m.call("POST", "/collection/v1_0/requesttopay/"+paid+"/deliverynotification", `{"notificationMessage":"Thank you"}`)
	if notify.status != http.StatusConflict || notify.header.Get("X-Cauri-Fault") != "late" {
		t.Errorf("the delivery notification is answered %d %s", notify.status, notify.raw)
	}
	f.conserved()
}

// The callback of each call that moves money comes before its answer, if a fault or a test number says so. All that a
// fault does to one transaction is one act.
func TestCallbackBeforeTheAnswer(t *testing.T) {
	f := newFixture(t)
	began := time.Now()
	f = f.serve(func(o *fronts.Options) { o.Now = func() time.Time { return began } }) // so that no wait ends by the time
	shop := newShopEndpoint(t)
	f.client("alice", alice, 1_000_000)
	f.config.TestNumbers = payments.StandardTestNumbers
	f.config.CallbackHosts = []string{"127.0.0.1"}
	f.sandbox(f.config, key)
	m := f.mtn(key)
	paid := m.pay(alice)
	f.settle()
	f.runWorker()
	came := func(path string) int {
		shop.mu.Lock()
		defer shop.mu.Unlock()
		return len(shop.came[path])
	}
	for _, o := range mtnOrders(paid) {
		reference := newReference()
		f.faulty(fmt.Sprintf(`[{"name":"first-%s","when":{"first":1},
			"operator":{"callback":{"beforeAnswer":true,"duplicate":2},"delay":"1ms","statusStaysPending":"1h"}}]`, reference))
		got := m.call("POST", o.path, o.body, "X-Reference-Id", reference, "X-Callback-Url", shop.URL+"/"+reference)
		if got.status != http.StatusAccepted || came("/"+reference) == 0 {
			t.Errorf("%s is answered %d %s, and %d callbacks came before", o.path, got.status, got.raw, came("/"+reference))
		}
		if other := m.call("POST", o.path, o.body, "X-Reference-Id", newReference()); other.header.Get("X-Cauri-Fault") != "" {
			t.Errorf("%s: the fault acts on another transaction", o.path)
		}
		if told := m.call("GET", o.status+reference, ""); told.body["status"] != "PENDING" {
			t.Errorf("%s: the status is told as %s", o.path, told.raw)
		}
		shop.wait(t, "/"+reference, 2)
	}
	f.faulty(`[]`)
	for suffix, want := range map[string]int{"910": 0, "911": 2, "912": 1} {
		reference := m.pay("+250790000"+suffix, "X-Callback-Url", shop.URL+"/"+suffix)
		if suffix == "912" && came("/912") == 0 {
			t.Error("the callback of the test number 912 does not come before the answer")
		}
		soon(t, "the callback of "+suffix+" is through", func() bool {
			return read[int](f, `select count(*) from native_callbacks n join transactions t using (tenant, id) where t.reference = $1
				and n.state in ('delivered', 'failed')`, reference) == 1
		})
		if came("/"+suffix) != want {
			t.Errorf("the callback of the test number %s came %d times, want %d", suffix, came("/"+suffix), want)
		}
	}
	f.conserved()
}
