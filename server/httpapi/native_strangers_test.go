package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	missingKey = `{"statusCode":401,"message":"Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API."}`
	invalidKey = `{"statusCode":401,"message":"Access denied due to invalid subscription key. Make sure to provide a valid key for an active subscription."}`
	noRoute    = `{"statusCode":404,"message":"Resource not found"}`
)

// Every route of the operators' own APIs is in the router, and answers nobody without the right credentials, in every form of its path.
func TestStrangersGetNothingFromOperators(t *testing.T) {
	f := newFixture(t).withRoots()
	f.sandbox(f.config, revokedKey)
	f.sandbox(f.config, key)
	m, other, revoked := f.mtn(key), f.mtn(otherKey), f.mtn(revokedKey)
	wrongTokens := map[string]string{"none": "", "the API key": "Bearer " + key, "no scheme": m.Key}
	tokenOf := func(c *mtn, product string) string {
		got := c.token(product, c.User, c.UserKey)
		if got.status != http.StatusOK {
			t.Fatalf("the token call answered %d %s", got.status, got.raw)
		}
		return "Bearer " + got.body["access_token"].(string)
	}
	wrongTokens["of the other sandbox"] = tokenOf(other, "collection")
	ofProduct := map[string]string{
		"collection": tokenOf(m, "disbursement"), "disbursement": tokenOf(m, "remittance"), "remittance": tokenOf(m, "collection"),
	}
	if got := revoked.token("collection", revoked.User, revoked.UserKey); got.status != http.StatusUnauthorized {
		t.Errorf("a revoked key gets a token: %d", got.status)
	}

	served, root := map[string]int{}, f.rootOf("checkout", payments.MTN)
	walk := func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		served[method+" "+strings.TrimPrefix(pattern, "/sandboxes/{namespace}/{name}")]++
		return nil
	}
	if err := chi.Walk(fronts.New(fronts.Options{}).Routes(), walk); err != nil {
		t.Fatal(err)
	}
	unknown := operatorapi.Route{Method: http.MethodDelete, Path: "/collection/v1_0/requesttopay"}
	for _, route := range append(operators.NativeAPI(payments.MTN).Routes, unknown) {
		if n := served[route.Method+" /operators/mtn"+route.Path]; n != 2 && route.Handle != nil {
			t.Errorf("%s %s is served in %d forms of its path, want 2", route.Method, route.Path, n)
		}
		path := strings.NewReplacer("{reference}", newReference(), "{id}", newReference(), "{type}", "msisdn", "{holder}", alice[1:],
			"{currency}", "RWF").Replace(route.Path)
		check := func(c *mtn, base, body, what string, header map[string]string) {
			t.Helper()
			at := *c
			at.base = base
			if strings.HasPrefix(base, "http:") {
				at.f, at.base = f.at(base), ""
			}
			if got := at.send(route.Method, path, "{}", header); got.status != http.StatusUnauthorized || got.raw != body {
				t.Errorf("%s %s%s with %s answered %d %s", route.Method, base, path, what, got.status, got.raw)
			}
		}
		for _, base := range []string{"/operators/mtn", "/sandboxes/team/checkout/operators/mtn", "/sandboxes/team/none/operators/mtn", root} {
			check(m, base, missingKey, "no key", map[string]string{"Ocp-Apim-Subscription-Key": ""})
			check(m, base, invalidKey, "a wrong key", map[string]string{"Ocp-Apim-Subscription-Key": "wrong"})
			check(m, base, invalidKey, "the API key", map[string]string{"Ocp-Apim-Subscription-Key": key})
			check(revoked, base, invalidKey, "a revoked key", nil)
		}
		check(m, "/sandboxes/team/other/operators/mtn", invalidKey, "the key of another sandbox", nil)
		check(m, f.rootOf("other", payments.MTN), invalidKey, "the key of another sandbox", nil)
		check(other, root, invalidKey, "the key of another sandbox", nil)
		check(m, "/sandboxes/team/none/operators/mtn", invalidKey, "the key of another sandbox", nil)
		check(other, "/sandboxes/team/checkout/operators/mtn", invalidKey, "the key of another sandbox", nil)
		switch {
		case route.Handle == nil:
			m.send(route.Method, path, "", nil).is(t, http.StatusNotFound, noRoute)
		case route.Access == operatorapi.ByToken:
			for what, token := range wrongTokens {
				check(m, m.base, `{"error":"invalid_token"}`, "a token that is "+what, map[string]string{"Authorization": token})
				check(m, root, `{"error":"invalid_token"}`, "a token that is "+what, map[string]string{"Authorization": token})
			}
			check(m, m.base, `{"error":"invalid_token"}`, "a token of another product", map[string]string{"Authorization": ofProduct[route.Product]})
		case route.Access == operatorapi.ByUser:
			for _, pair := range [][2]string{{"", ""}, {m.User, "wrong"}, {other.User, other.UserKey}, {newReference(), m.UserKey}, {m.User, ""}} {
				m.token(route.Product, pair[0], pair[1]).is(t, http.StatusUnauthorized, `{"error":"login_failed"}`)
			}
			check(m, m.base, `{"error":"login_failed"}`, "a token", map[string]string{"Authorization": wrongTokens["the API key"]})
		}
	}
	f.conserved()
}

// The tests of strangers send to each route in the table of an operator. So the router has no route beside these tables but
// what anybody may read, the page of an operator, and what is answered as an unknown path.
func TestEveryRouteOfAnOperatorIsInItsTable(t *testing.T) {
	known := map[string]bool{}
	for _, api := range operators.NativeAPIs() {
		base := "/operators/" + string(api.Operator)
		for _, r := range api.Routes {
			known[r.Method+" "+base+r.Path] = true
		}
		for _, f := range api.Files {
			known["GET "+base+f.Path] = true
		}
		known["GET "+base+"/openapi.json"] = true
		if api.Page != nil {
			known["GET "+base+api.Page.Path], known["POST "+base+api.Page.Path], known["GET "+base+"/assets/{file}"] = true, true, true
		}
		for _, unknown := range []string{base, base + "/*"} {
			for _, method := range []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"} {
				known[method+" "+unknown] = true
			}
		}
	}
	walk := func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		path := strings.TrimPrefix(pattern, "/sandboxes/{namespace}/{name}")
		if strings.Contains(pattern, "/operators/") && !known[method+" "+path] {
			t.Errorf("%s %s is served and in no table", method, pattern)
		}
		return nil
	}
	if err := chi.Walk(fronts.New(fronts.Options{}).Routes(), walk); err != nil {
		t.Fatal(err)
	}
}

// HEAD is answered as GET, without the body (RFC 9110, section 9.3.2): to strangers what they may read, and to others nothing else.
func TestHeadOfWhatOperatorsServe(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	paths := []string{strings.TrimPrefix(o.place("o-1").page, f.url)}
	for _, api := range operators.NativeAPIs() {
		base := "/operators/" + string(api.Operator)
		read := []string{base + "/openapi.json", base + "/none"}
		for _, f := range api.Files {
			read = append(read, base+f.Path)
		}
		for _, r := range api.Routes {
			if r.Method == http.MethodGet {
				read = append(read, base+r.Path)
			}
		}
		if api.Page != nil {
			read = append(read, base+"/assets/"+assets.Named("console.css"), base+"/assets/none.css")
		}
		for _, path := range read {
			paths = append(paths, path, "/sandboxes/team/checkout"+path)
		}
	}
	for _, path := range paths {
		get, head := f.headerOf(http.MethodGet, path), f.headerOf(http.MethodHead, path)
		if diff := cmp.Diff(get, head); diff != "" {
			t.Errorf("HEAD %s is not answered as GET (-GET +HEAD):\n%s", path, diff)
		}
	}
}

// headerOf returns status and headers of an answer to a stranger, without those that differ each time or are those of a body.
func (f *fixture) headerOf(method, path string) map[string]string {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	all := map[string]string{"status": answer.Status}
	for name := range answer.Header {
		all[name] = answer.Header.Get(name)
	}
	for _, name := range []string{"Date", "X-Request-Id", "Content-Length", "Content-Encoding"} {
		delete(all, name)
	}
	return all
}

// What is another sandbox's is not found: payments, users.
func TestOperatorsReachNoOtherSandbox(t *testing.T) {
	f := newFixture(t)
	f.neighbour()
	m, other := f.mtn(key), f.mtn(otherKey)
	theirs := other.pay(foreignSIM)
	made := newReference()
	user := `{"providerCallbackHost": "shop.example"}`
	other.send("POST", "/v1_0/apiuser", user, map[string]string{"X-Reference-Id": made}).is(t, http.StatusCreated, "")
	before := f.rowsOf("other")

	const notFound = `{"message":"Requested resource was not found.","code":"RESOURCE_NOT_FOUND"}`
	m.call("GET", "/collection/v1_0/requesttopay/"+theirs, "").is(t, http.StatusNotFound, notFound)
	m.send("GET", "/v1_0/apiuser/"+made, "", nil).is(t, http.StatusNotFound, notFound)
	m.send("POST", "/v1_0/apiuser/"+made+"/apikey", "", nil).is(t, http.StatusNotFound, notFound)
	m.call("GET", "/collection/v1_0/accountholder/msisdn/"+foreignSIM[1:]+"/active", "").is(t, http.StatusNotFound, notFound)
	for _, parent := range []string{theirs, "foreign-paid"} {
		refund := fmt.Sprintf(`{"amount": "100", "currency": "RWF", "referenceIdToRefund": %q}`, parent)
		m.call("POST", "/disbursement/v1_0/refund", refund, "X-Reference-Id", newReference()).is(t, http.StatusNotFound, notFound)
	}
	// What is ours may have the names of theirs.
	m.send("POST", "/v1_0/apiuser", user, map[string]string{"X-Reference-Id": made}).is(t, http.StatusCreated, "")
	m.call("POST", "/collection/v1_0/requesttopay", payBody(foreignSIM, "100", "RWF"), "X-Reference-Id", theirs).is(t, http.StatusAccepted, "")
	if after := f.rowsOf("other"); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the other sandbox's rows changed")
	}
}

func TestSuspendedSandboxesAndLimitsInTheShapeOfTheOperator(t *testing.T) {
	f := newFixture(t)
	m := f.mtn(key)
	m.call("GET", "/collection/v1_0/account/balance", "").is(t, http.StatusOK, `{"availableBalance":"1000","currency":"RWF"}`)
	f.config.RateLimit = new(int32(1))
	f.sandbox(f.config, key)
	m.refresh()
	limited := false
	for range 5 {
		got := m.send("GET", "/v1_0/apiuser/"+m.User, "", nil)
		if got.status == http.StatusTooManyRequests {
			limited = true
			got.is(t, http.StatusTooManyRequests, `{"statusCode":429,"message":"Rate limit is exceeded. Try again later."}`)
			if got.header.Get("Retry-After") == "" || got.header.Get("X-Cauri-Reason") != "rate_limited" {
				t.Errorf("the headers are %v", got.header)
			}
		}
	}
	if !limited {
		t.Error("five requests were answered, although the limit is one a minute")
	}
	const unavailable = `{"message":"Service temporarily unavailable, try again later.","code":"SERVICE_UNAVAILABLE"}`
	f.config.RateLimit, f.config.MonthlyQuota = nil, new(int64(1))
	f.sandbox(f.config, key)
	m.refresh()
	m.pay(alice)
	over := m.call("POST", "/collection/v1_0/requesttopay", payBody(alice, "100", "RWF"), "X-Reference-Id", newReference())
	over.is(t, http.StatusServiceUnavailable, unavailable)
	if over.header.Get("X-Cauri-Reason") != "quota_exceeded" {
		t.Errorf("the reason is %q", over.header.Get("X-Cauri-Reason"))
	}
	f.config.Suspended = true
	f.sandbox(f.config, key)
	m.refresh()
	m.call("GET", "/collection/v1_0/account/balance", "").is(t, http.StatusServiceUnavailable, unavailable)
	m.send("GET", "/v1_0/apiuser/"+m.User, "", map[string]string{"Ocp-Apim-Subscription-Key": "wrong"}).is(t, http.StatusUnauthorized, invalidKey)
}

// A sandbox without an enabled environment of the operator has no API of it.
func TestNoAPIOfAnOperatorThatTheSandboxDoesNotHave(t *testing.T) {
	f := newFixture(t)
	f.config.Environments[0].Enabled = false
	f.sandbox(f.config, key)
	f.mtn(key).send("GET", "/v1_0/apiuser/x", "", nil).is(t, http.StatusUnauthorized, invalidKey)
}
