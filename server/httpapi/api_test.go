package httpapi_test

import (
	"bytes"
	gocmp "cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/httpserver"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	key      = "cauri_sk_test_checkout"
	otherKey = "cauri_sk_test_other"
	alice    = "+250788000001"
)

// fixture is a served database with the sandboxes team/checkout, whose answers are not held, and team/other.
type fixture struct {
	t       *testing.T
	store   *ledgertest.Store
	url     string // of the server
	db      string // of the database
	config  sandboxes.Config
	release chan struct{}
	log     *requests.Log
	clients payments.Operator // of test clients; empty: mtn
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	return newFixtureAlone(t)
}

// newFixtureAlone is newFixture for a test that measures the whole process.
func newFixtureAlone(t *testing.T) *fixture {
	t.Helper()
	db := ledgertest.URL(t)
	f := &fixture{t: t, store: ledgertest.Open(t, db), db: db, release: make(chan struct{})}
	limit := int64(2_000_000)
	f.config = sandboxes.Config{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "team", Name: "checkout", Stores: []string{"shop"},
		Environments: []sandboxes.EnvironmentConfig{
			{
				Operator:      payments.MTN,
				Country:       "RW",
				Enabled:       true,
				Terms:         payments.Terms{CommissionBPS: 150, AbsorptionPct: 100},
				UnknownPolicy: payments.Reject,
				MaxAmount:     &limit,
			},
			{Operator: payments.Airtel, Country: "RW", UnknownPolicy: payments.Reject},
			{
				Operator:      payments.Orange,
				Country:       "CI",
				Enabled:       true,
				Terms:         payments.Terms{CommissionBPS: 200},
				UnknownPolicy: payments.Passthrough,
			},
		},
		OpeningFloat: map[payments.Currency]int64{payments.RWF: 1000},
	}
	f.sandbox(f.config, key)
	other := f.config
	other.UID, other.Name = "22222222-2222-2222-2222-222222222222", "other"
	f.sandbox(other, otherKey)

	asAPI := ledgertest.OpenAs(t, db, ledgertest.API)
	f.log = requests.New(asAPI.DB, requests.Options{})
	o := frontstest.Options(asAPI)
	o.Requests, o.Draining, o.PINKey, o.CredentialKey = f.log, f.release, pinKey, credentialKey
	f.url = listen(t, fronts.New(o), httpserver.Default)
	return f
}

func (f *fixture) sandbox(config sandboxes.Config, key string) {
	f.t.Helper()
	if _, err := f.store.ApplySandbox(f.t.Context(), config); err != nil {
		f.t.Fatal(err)
	}
	c := sandboxes.Credentials{APIKeyHash: sha256.Sum256([]byte(key)), SigningSecret: "whsec_dGVzdA==", Native: nativeDigests(key)}
	if err := f.store.ApplyCredentials(f.t.Context(), config.UID, c); err != nil {
		f.t.Fatal(err)
	}
}

// allow lets the sandbox's key do everything that its resource can allow.
func (f *fixture) allow() {
	f.t.Helper()
	f.config.API.TestClients, f.config.API.Reset, f.config.API.Faults = true, true, true
	f.sandbox(f.config, key)
}

func (f *fixture) client(name, msisdn string, balance int64, change ...func(*sandboxes.TestClientConfig)) {
	f.t.Helper()
	c := sandboxes.TestClientConfig{
		UID: "33333333-3333-3333-3333-" + ("000000000000" + strings.TrimPrefix(msisdn, "+"))[len(msisdn)-1:], Name: name, MSISDN: msisdn,
		Operator: gocmp.Or(f.clients, payments.MTN), Country: "RW", Behavior: payments.Approve, Balance: balance,
	}
	for _, each := range change {
		each(&c)
	}
	if _, err := f.store.ApplyTestClient(f.t.Context(), f.config.UID, c); err != nil {
		f.t.Fatal(err)
	}
}

type object = map[string]any

type response struct {
	status int
	header http.Header
	body   object
	raw    string
}

func (f *fixture) call(method, path string, body any, change ...func(*http.Request)) response {
	f.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			f.t.Fatal(err)
		}
		reader = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, reader)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	for _, each := range change {
		each(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	got := response{status: answer.StatusCode, header: answer.Header, raw: string(text)}
	table := strings.HasPrefix(answer.Header.Get("Content-Type"), "text/csv")
	if err := json.Unmarshal(text, &got.body); err != nil && answer.StatusCode != http.StatusNoContent && !table {
		f.t.Fatalf("%s %s answered %d with what is no JSON: %s", method, path, got.status, text)
	}
	checkAnswer(f.t, r, answer, text)
	return got
}

func withKey(key string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }
}

// payment is a valid request for 1000 RWF; changes replace fields, and nil removes one.
func payment(reference string, changes ...object) object {
	body := object{"amount": 1000, "currency": "RWF", "msisdn": alice, "reference": reference, "application": "shop"}
	for _, change := range changes {
		for name, value := range change {
			if value == nil {
				delete(body, name)
			} else {
				body[name] = value
			}
		}
	}
	return body
}

func (f *fixture) transactions() int {
	f.t.Helper()
	var n int
	if err := ledgertest.Connect(f.t, f.db).QueryRow(f.t.Context(), "select count(*) from transactions").Scan(&n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

func TestPaymentIsPendingWithItsWholeRepresentation(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	got := f.call("POST", "/v1/payments", payment("r1", object{"description": "two <tickets> & more", "order_url": "https://shop.example/1"}))
	if got.status != http.StatusCreated {
		t.Fatalf("answered %d: %s", got.status, got.raw)
	}
	id, _ := got.body["id"].(string)
	if want := "/v1/payments/" + id; got.header.Get("Location") != want {
		t.Errorf("Location is %q, want %q", got.header.Get("Location"), want)
	}
	if !strings.Contains(got.raw, "two <tickets> & more") {
		t.Errorf("the description is not as it was sent: %s", got.raw)
	}
	for _, name := range []string{"id", "createdAt", "environmentId", "providerTxId"} {
		if text, _ := got.body[name].(string); text == "" {
			t.Errorf("%s is %v", name, got.body[name])
		}
		delete(got.body, name)
	}
	raw, _ := got.body["raw"].(object)
	if raw["_simulated"] != true || raw["status"] != "PENDING" {
		t.Errorf("raw is %v", raw)
	}
	delete(got.body, "raw")
	want := object{
		"type": "collection", "status": "PENDING", "amount": 1000.0, "commission": 15.0, "netAmount": 985.0, "customerTotal": 1000.0,
		"merchantAbsorptionPct": 100.0, "merchantShare": 15.0, "customerShare": 0.0, "commissionMode": "merchant",
		"currency": "RWF", "operator": "mtn", "country": "RW", "msisdn": alice, "reference": "r1", "orderRef": "r1",
		"orderUrl": "https://shop.example/1", "isUrlProtected": false, "parentTxId": nil, "application": "shop",
		"description": "two <tickets> & more", "scenario": nil, "source": "api", "latencyMs": 800.0, "completedAt": nil,
		"refundedAmount": 0.0, "refundableAmount": 0.0,
	}
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("representation (-want +got):\n%s", diff)
	}
	if read := f.call("GET", "/v1/payments/"+id, nil); read.status != http.StatusOK || read.body["id"] != id {
		t.Errorf("reading it answered %d: %s", read.status, read.raw)
	}
}

func TestLocationHasTheFormOfThePathThatWasCalled(t *testing.T) {
	f := newFixture(t)
	for i, prefix := range []string{"", "/api", "/sandboxes/team/checkout", "/sandboxes/team/checkout/api"} {
		got := f.call("POST", prefix+"/v1/payments", payment(fmt.Sprint("r", i), object{"scenario": "success"}))
		want := fmt.Sprintf("%s/v1/payments/%v", prefix, got.body["id"])
		if location := got.header.Get("Location"); location != want || f.call("GET", location, nil).status != http.StatusOK {
			t.Errorf("Location is %q, want %q", location, want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	f.client("blocked", "+250788000002", 50_000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	f.client("poor", "+250788000003", 999)
	f.client("abroad", "+250788000004", 50_000, func(c *sandboxes.TestClientConfig) { c.Operator, c.Country = "orange", "CI" })
	cases := map[string]struct {
		request object
		status  string
	}{
		"registered and able to pay":    {object{}, "PENDING"},
		"blocked":                       {object{"msisdn": "+250788000002"}, "ACCOUNT_BLOCKED"},
		"poor":                          {object{"msisdn": "+250788000003"}, "INSUFFICIENT_FUNDS"},
		"unregistered":                  {object{"msisdn": "+250788999999"}, "UNKNOWN_MSISDN"},
		"SIM of another currency":       {object{"msisdn": "+250788000004", "operator": "mtn", "country": "RW"}, "UNKNOWN_MSISDN"},
		"passthrough":                   {object{"msisdn": "+2250700000001", "currency": "FCFA"}, "PENDING"},
		"above the operator's limit":    {object{"amount": 2_000_001}, "LIMIT_EXCEEDED"},
		"at the operator's limit":       {object{"amount": 2_000_000}, "INSUFFICIENT_FUNDS"},
		"a scenario beats the limit":    {object{"amount": 2_000_001, "scenario": "pin_invalid"}, "PIN_INVALID"},
		"a scenario beats the registry": {object{"msisdn": "+250788000002", "scenario": "success"}, "SUCCESS"},
	}
	for _, scenario := range payments.Scenarios {
		status, _ := scenario.Status()
		cases["scenario "+string(scenario)] = struct {
			request object
			status  string
		}{object{"scenario": string(scenario)}, string(status)}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := f.call("POST", "/v1/payments", payment(name, c.request))
			if got.status != http.StatusCreated || got.body["status"] != c.status {
				t.Errorf("answered %d %v, want 201 %s: %s", got.status, got.body["status"], c.status, got.raw)
			}
			if (got.body["completedAt"] == nil) != (c.status == "PENDING") {
				t.Errorf("completedAt is %v", got.body["completedAt"])
			}
		})
	}
}

func TestPathFormsAndKeys(t *testing.T) {
	f := newFixture(t)
	id := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"].(string)
	cases := map[string]struct {
		path, authorization string
		status              int
	}{
		"public":                         {"/v1/payments/" + id, "Bearer " + key, 200},
		"self-hosted":                    {"/api/v1/payments/" + id, "Bearer " + key, 200},
		"of the sandbox":                 {"/sandboxes/team/checkout/v1/payments/" + id, "Bearer " + key, 200},
		"of the sandbox, self-hosted":    {"/sandboxes/team/checkout/api/v1/payments/" + id, "bearer " + key, 200},
		"key of another sandbox":         {"/sandboxes/team/other/v1/payments/" + id, "Bearer " + key, 401},
		"a sandbox that does not exist":  {"/sandboxes/team/none/v1/payments/" + id, "Bearer " + key, 401},
		"transaction of another sandbox": {"/v1/payments/" + id, "Bearer " + otherKey, 404},
		"unknown transaction":            {"/v1/payments/TX_00000000000000000000000000", "Bearer " + key, 404},
		"no transaction id at all":       {"/v1/payments/x%0A", "Bearer " + key, 404},
		"no key":                         {"/v1/payments/" + id, "", 401},
		"not a bearer":                   {"/v1/payments/" + id, "Basic " + key, 401},
		"unknown key":                    {"/v1/payments/" + id, "Bearer cauri_sk_test_x", 401},
		"live key":                       {"/v1/payments/" + id, "Bearer cauri_sk_live_x", 401},
		"unknown path":                   {"/v1/nothing", "Bearer " + key, 404},
		"unknown path of a sandbox":      {"/sandboxes/team/checkout/nothing", "Bearer " + key, 404},
		"health needs no key":            {"/api/v1/health", "", 200},
		"meta needs no key":              {"/sandboxes/team/checkout/api/v1/meta", "", 200},
	}
	codes := map[int]string{401: "unauthorized", 404: "not_found"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := f.call("GET", c.path, nil, func(r *http.Request) { r.Header.Set("Authorization", c.authorization) })
			if got.status != c.status {
				t.Fatalf("answered %d, want %d: %s", got.status, c.status, got.raw)
			}
			if code := codes[c.status]; code != "" && (got.body["error"] != code || got.body["message"] == "") {
				t.Errorf("error body is %s", got.raw)
			}
			if challenge := got.header.Get("WWW-Authenticate"); (c.status == 401) != (challenge == "Bearer") {
				t.Errorf("WWW-Authenticate is %q", challenge)
			}
			if got.header.Get("X-Service-Api-Version") != "2026-05-31" || got.header.Get("X-Request-Id") == "" {
				t.Errorf("headers are %v", got.header)
			}
		})
	}
}

func TestBadRequestsAreRefusedAndLeaveNothing(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("é", 81)
	cases := map[string]struct {
		body   any
		status int
		code   string
		fields []string
	}{
		"not JSON":      {"{", 400, "invalid_body", nil},
		"an array":      {"[]", 400, "invalid_body", nil},
		"null":          {"null", 400, "invalid_body", nil},
		"two objects":   {"{}{}", 400, "invalid_body", nil},
		"not UTF-8":     {"{\"amount\": \"\xff\"}", 400, "invalid_body", nil},
		"deeply nested": {strings.Repeat("[", 30_000), 400, "invalid_body", nil},
		"empty":         {"", 400, "invalid_body", nil},
		"nothing sent":  {"{}", 400, "invalid_body", []string{"amount", "application", "currency", "msisdn", "reference"}},
		"all wrong at once": {
			object{"amount": "1", "currency": 1, "msisdn": "250788000001", "reference": "", "application": true},
			400,
			"invalid_body",
			[]string{"amount", "application", "currency", "msisdn", "reference"},
		},
		"amount with a point": {
			`{"amount": 100.0, "currency":"RWF","msisdn":"+250788000001","reference":"r","application":"shop"}`,
			400,
			"invalid_body",
			[]string{"amount"},
		},
		"amount as a power": {
			`{"amount": 1e2, "currency":"RWF","msisdn":"+250788000001","reference":"r","application":"shop"}`,
			400,
			"invalid_body",
			[]string{"amount"},
		},
		"amount of nothing": {payment("r", object{"amount": 0}), 400, "invalid_body", []string{"amount"}},
		"amount too large":  {payment("r", object{"amount": 1_000_000_000_001}), 400, "invalid_body", []string{"amount"}},
		"amount beyond int64": {
			`{"amount": 99999999999999999999, "currency":"RWF","msisdn":"+250788000001","reference":"r","application":"shop"}`,
			400,
			"invalid_body",
			[]string{"amount"},
		},
		"names in capitals": {
			`{"Amount": 100, "currency":"RWF","msisdn":"+250788000001","reference":"r","application":"shop"}`,
			400,
			"invalid_body",
			[]string{"amount"},
		},
		"reference too long":     {payment(long), 400, "invalid_body", []string{"reference"}},
		"NUL in a string":        {payment("a\x00b"), 400, "invalid_body", []string{"reference"}},
		"order URL not absolute": {payment("r", object{"order_url": "/orders/1"}), 400, "invalid_body", []string{"order_url"}},
		"order URL with a zone":  {payment("r", object{"order_url": "http://[::1%25x.shop.example]/1"}), 400, "invalid_body", []string{"order_url"}},
		"unknown scenario":       {payment("r", object{"scenario": "win"}), 400, "invalid_body", []string{"scenario"}},
		"another currency":       {payment("r", object{"currency": "XOF"}), 400, "invalid_body", []string{"currency"}},
		"operator not to detect": {payment("r", object{"msisdn": "+33612345678"}), 400, "invalid_body", []string{"country", "operator"}},
		"unknown store":          {payment("r", object{"application": "kiosk"}), 404, "not_found", nil},
		"no environment":         {payment("r", object{"operator": "moov", "country": "BJ", "currency": "XOF"}), 404, "env_not_found", nil},
		"disabled environment":   {payment("r", object{"operator": "airtel", "country": "RW"}), 404, "env_not_found", nil},
		"too large":              {`{"x":"` + strings.Repeat("x", 64<<10) + `"}`, 413, "body_too_large", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := f.call("POST", "/v1/payments", c.body)
			if got.status != c.status || got.body["error"] != c.code {
				t.Fatalf("answered %d %v, want %d %s: %s", got.status, got.body["error"], c.status, c.code, got.raw)
			}
			detail, _ := got.body["detail"].(object)
			wrong, _ := detail["fieldErrors"].(object)
			var names []string
			for _, name := range []string{"amount", "application", "country", "currency", "msisdn", "operator", "order_url", "reference", "scenario"} {
				if wrong[name] != nil {
					names = append(names, name)
				}
			}
			if diff := cmp.Diff(c.fields, names); diff != "" {
				t.Errorf("wrong fields (-want +got):\n%s\n%s", diff, got.raw)
			}
		})
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d transactions were recorded", n)
	}
}

// What a sandbox does not have is answered with what it has.
func TestRefusalsListWhatThereIs(t *testing.T) {
	f := newFixture(t)
	for said, body := range map[string]object{
		`has no store \"kiosk\". Send one of its stores as application: shop.`: payment("r", object{"application": "kiosk"}),
		"no enabled environment for the operator moov in BJ. It has: mtn in ":  payment("r", object{"operator": "moov", "country": "BJ", "currency": "XOF"}),
	} {
		if got := f.call("POST", "/v1/payments", body); got.status != 404 || !strings.Contains(string(got.raw), said) {
			t.Errorf("answered %d %s, not %s", got.status, got.raw, said)
		}
	}
}

func TestWrongMethodAndContentType(t *testing.T) {
	f := newFixture(t)
	if got := f.call(
		"DELETE",
		"/api/v1/payments",
		nil,
	); got.status != 405 || got.body["error"] != "method_not_allowed" ||
		got.header.Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("answered %d: %s", got.status, got.raw)
	}
	got := f.call("POST", "/v1/payments", payment("r"), func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
	if got.status != 415 || got.body["error"] != "unsupported_media_type" {
		t.Errorf("answered %d: %s", got.status, got.raw)
	}
	got = f.call(
		"POST",
		"/v1/payments",
		payment("r", object{"scenario": "success"}),
		func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=utf-8") },
	)
	if got.status != 201 {
		t.Errorf("answered %d: %s", got.status, got.raw)
	}
}

func TestBodyOfTheLargestSizeIsRead(t *testing.T) {
	f := newFixture(t)
	body := `{"amount": 1000, "currency": "RWF", "msisdn": "+250788000001", "reference": "r", "application": "shop", "scenario": "success", "x": "`
	body += strings.Repeat("x", 64<<10-len(body)-2) + `"}`
	if got := f.call("POST", "/v1/payments", body); got.status != 201 {
		t.Errorf("answered %d: %s", got.status, got.raw)
	}
}

func TestReplaysAndConflicts(t *testing.T) {
	f := newFixture(t)
	first := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"}))
	again := func(name string, want int, body object) {
		t.Helper()
		got := f.call("POST", "/v1/payments", body)
		if got.status != want {
			t.Errorf("%s: answered %d, want %d: %s", name, got.status, want, got.raw)
		}
		if want == 200 && (got.body["id"] != first.body["id"] || got.header.Get("Idempotent-Replayed") != "true") {
			t.Errorf("%s: not a replay: %v %s", name, got.header, got.raw)
		}
	}
	again("the same", 200, payment("r1", object{"scenario": "success"}))
	again("the same with an unknown field", 200, payment("r1", object{"scenario": "success", "sdk": "x"}))
	again("another amount", 409, payment("r1", object{"scenario": "success", "amount": 999}))
	again("a field more", 409, payment("r1", object{"scenario": "success", "operator": "mtn"}))
	again("another request that would be refused anyhow", 409, payment("r1", object{"scenario": "success", "application": "kiosk"}))

	f.config.Stores = []string{"elsewhere"}
	f.config.Environments = f.config.Environments[1:]
	f.sandbox(f.config, key)
	again("the same, its store and environment gone", 200, payment("r1", object{"scenario": "success"}))
	again("a new one, its store gone", 404, payment("r2", object{"scenario": "success"}))
	if n := f.transactions(); n != 1 {
		t.Errorf("%d transactions were recorded, want 1", n)
	}
}

func TestNewConfigurationHoldsAtOnce(t *testing.T) {
	f := newFixture(t)
	f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"}))
	f.config.Environments[0].Terms.CommissionBPS = 1000
	f.config.Stores = []string{"shop", "kiosk"}
	f.sandbox(f.config, key)
	got := f.call("POST", "/v1/payments", payment("r2", object{"scenario": "success", "application": "kiosk"}))
	if got.status != 201 || got.body["commission"] != 100.0 {
		t.Errorf("the present configuration does not hold: %d %s", got.status, got.raw)
	}
	f.sandbox(f.config, "cauri_sk_test_new")
	if got := f.call("POST", "/v1/payments", payment("r3", object{"scenario": "success"})); got.status != 401 {
		t.Errorf("a key that was replaced made a payment: %d %s", got.status, got.raw)
	}
	if got := f.call("POST", "/v1/payments", payment("r3", object{"scenario": "success"}), withKey("cauri_sk_test_new")); got.status != 201 {
		t.Errorf("the new key does not work at once: %d %s", got.status, got.raw)
	}
}

func TestAnswersAreHeldAndReleasedAtTheEnd(t *testing.T) {
	f := newFixture(t)
	f.config.LatencyPercent = 100
	f.sandbox(f.config, key)
	begun := time.Now()
	got := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "duplicate"}))
	if took := time.Since(begun); took < 200*time.Millisecond || got.body["latencyMs"] != 200.0 {
		t.Errorf("answered after %s with a latency of %v ms, want 200 ms", took, got.body["latencyMs"])
	}
	done := make(chan response)
	go func() { done <- f.call("POST", "/v1/payments", payment("r2", object{"scenario": "timeout"})) }()
	deadline := time.Now().Add(time.Minute)
	for f.transactions() < 2 {
		if time.Now().After(deadline) {
			t.Fatal("a held transaction is not recorded")
		}
		time.Sleep(5 * time.Millisecond)
	}
	select {
	case <-done:
		t.Fatal("the answer was not held")
	default:
	}
	close(f.release)
	if got := <-done; got.body["status"] != "TIMEOUT" {
		t.Errorf("answered %s", got.raw)
	}
}

func TestRequestID(t *testing.T) {
	f := newFixture(t)
	got := f.call("GET", "/v1/meta", nil, func(r *http.Request) { r.Header.Set("X-Request-Id", "my.id-1_2") })
	if got.header.Get("X-Request-Id") != "my.id-1_2" {
		t.Errorf("X-Request-Id is %q", got.header.Get("X-Request-Id"))
	}
	got = f.call("GET", "/v1/meta", nil, func(r *http.Request) { r.Header.Set("X-Request-Id", "not an id") })
	if id := got.header.Get("X-Request-Id"); id == "not an id" || id == "" {
		t.Errorf("X-Request-Id is %q", id)
	}
}

func TestDatabaseUnavailable(t *testing.T) {
	t.Parallel()
	db, err := ledgertest.OpenWith("postgres://u:p@127.0.0.1:1/x", ledgertest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	server := httptest.NewServer(fronts.New(frontstest.Options(db)))
	t.Cleanup(server.Close)
	f := &fixture{t: t, url: server.URL}
	if got := f.call("GET", "/v1/health", nil); got.status != 503 || got.body["status"] != "unavailable" {
		t.Errorf("health answered %d: %s", got.status, got.raw)
	}
	if got := f.call(
		"POST",
		"/v1/payments",
		payment("r"),
	); got.status != 503 || got.body["error"] != "unavailable" ||
		got.header.Get("Retry-After") == "" {
		t.Errorf("a payment answered %d: %s", got.status, got.raw)
	}
	if got := f.call("GET", "/v1/meta", nil); got.status != 200 {
		t.Errorf("meta answered %d: %s", got.status, got.raw)
	}
}
