package httpapi_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// access is what a route answers: to the sandbox that its path's parameters belong to, to another sandbox with its own key, and to
// everybody else, 401 if it is not said. {n} in a body is another number each time.
type access struct {
	own, other, anybody int
	body                string
}

// routesAccess has every route that the server answers. A new one gets a line here.
var routesAccess = map[string]access{
	"POST /v1/payments": {
		own:   201,
		other: 201,
		body:  `{"amount":10,"currency":"RWF","operator":"mtn","country":"RW","msisdn":"+250788000001","reference":"p{n}","application":"shop","scenario":"success"}`,
	},
	"GET /v1/payments":              {own: 200, other: 200},
	"GET /v1/payments/{id}":         {own: 200, other: 404},
	"POST /v1/payments/{id}/refund": {own: 201, other: 404, body: `{"amount":1,"reference":"r{n}"}`},
	"POST /v1/disbursements": {own: 200, other: 200,
		body: `{"amount":1,"currency":"RWF","operator":"mtn","country":"RW","msisdn":"+250788000001","reference":"d{n}","application":"shop"}`},
	"GET /v1/events":                                       {own: 200, other: 200},
	"GET /v1/events/{id}":                                  {own: 200, other: 404},
	"POST /v1/events/{id}/resend":                          {own: 202, other: 404},
	"POST /v1/events/{id}/compare":                         {own: 200, other: 404, body: `{"body":"{}"}`},
	"GET /v1/stream":                                       {own: 200, other: 200},
	"GET /v1/test_clients":                                 {own: 200, other: 200},
	"GET /v1/test_clients/{msisdn}":                        {own: 200, other: 404},
	"GET /v1/test_clients/{msisdn}/otp":                    {own: 200, other: 404},
	"POST /v1/test_clients":                                {own: 201, other: 403, body: `{"msisdn":"+330000{n}","operator":"mtn","country":"RW"}`},
	"PATCH /v1/test_clients/{msisdn}":                      {own: 409, other: 403, body: `{"balance":5}`},
	"DELETE /v1/test_clients/{msisdn}":                     {own: 409, other: 403},
	"POST /v1/reset":                                       {own: 403, other: 200}, // the other has nothing to lose
	"GET /v1/test_clients/{msisdn}/prompts":                {own: 200, other: 404},
	"POST /v1/test_clients/{msisdn}/manual":                {own: 200, other: 404},
	"DELETE /v1/test_clients/{msisdn}/manual":              {own: 200, other: 404},
	"POST /v1/test_clients/{msisdn}/prompts/{tx}/{answer}": {own: 200, other: 404},
	"GET /v1/test_numbers":                                 {own: 200, other: 200},
	"GET /v1/webhook":                                      {own: 200, other: 200},
	"POST /v1/receiver_checks":                             {own: 400, other: 400, body: `{"tx_id":"TX_041061050R3GG28A1C60T3GF20"}`},
	"GET /v1/receiver_checks/{check}":                      {own: 404, other: 404},
	"GET /v1/faults":                                       {own: 200, other: 200},
	"PUT /v1/faults/{fault}":                               {own: 403, other: 403, body: `{"webhook":{"drop":true}}`},
	"DELETE /v1/faults/{fault}":                            {own: 403, other: 403},
	"DELETE /v1/faults":                                    {own: 403, other: 403},
	"GET /v1/clock":                                        {own: 200, other: 200},
	"POST /v1/clock/advance":                               {own: 422, other: 422, body: `{"to":"2020-01-01T00:00:00Z"}`},
	"POST /v1/expectations/evaluate":                       {own: 200, other: 200, body: `{"expect":[{"nothingElse":true}]}`},
	"GET /v1/requests":                                     {own: 200, other: 200},
	"POST /v1/console_links":                               {own: 201, other: 201},
	"GET /v1/console_sessions":                             {own: 200, other: 200},
	"DELETE /v1/console_sessions":                          {own: 204, other: 204},
	"DELETE /v1/console_sessions/{session}":                {own: 404, other: 404},
	"GET /v1/ledger":                                       {own: 200, other: 200},
	"GET /v1/ledger/entries":                               {own: 200, other: 200},
	"GET /v1/meta":                                         {own: 200, other: 200, anybody: 200},
	"GET /v1/health":                                       {own: 200, other: 200, anybody: 200},
	"GET /v1/openapi.json":                                 {own: 200, other: 200, anybody: 200},
	"GET /v1/openapi-3.0.json":                             {own: 200, other: 200, anybody: 200},
	"GET /docs":                                            {own: 200, other: 200, anybody: 200},
	"POST /docs":                                           {own: 200, other: 200, anybody: 200}, // the page, after the appearance was set
	"GET /docs/mtn":                                        {own: 200, other: 200, anybody: 200},
	"GET /docs/airtel":                                     {own: 200, other: 200, anybody: 200},
	"GET /docs/mpesa":                                      {own: 200, other: 200, anybody: 200},
	"POST /docs/mpesa":                                     {own: 200, other: 200, anybody: 200},
	"GET /docs/moov":                                       {own: 200, other: 200, anybody: 200},
	"POST /docs/mtn":                                       {own: 200, other: 200, anybody: 200},
	"POST /docs/airtel":                                    {own: 200, other: 200, anybody: 200},
	"POST /docs/moov":                                      {own: 200, other: 200, anybody: 200},
	"GET /docs/orange":                                     {own: 200, other: 200, anybody: 200},
	"POST /docs/orange":                                    {own: 200, other: 200, anybody: 200},
	"GET /llms.txt":                                        {own: 200, other: 200, anybody: 200},
	"GET /llms-full.txt":                                   {own: 200, other: 200, anybody: 200},
	"GET /docs.md":                                         {own: 200, other: 200, anybody: 200},
	"GET /docs/*":                                          {own: 404, other: 404, anybody: 404},
	"GET /docs/assets/{file}":                              {own: 404, other: 404, anybody: 404},
}

const revokedKey = "cauri_sk_test_revoked"

// credentials are headers Authorization, with the sandbox that each belongs to, empty for none.
var credentials = map[string]string{
	"":                              "",
	"Bearer":                        "",
	"Bearer ":                       "",
	key:                             "",
	"Basic " + key:                  "",
	"Bearer cauri_sk_live_checkout": "",
	"Bearer \t":                     "",
	"Bearer " + key + "x":           "",
	"Bearer " + key + " " + key:     "",
	"Bearer " + revokedKey:          "",
	"Bearer " + key:                 "checkout",
	"bearer " + key:                 "checkout",
	"Bearer " + otherKey:            "other",
}

// Everything that the server answers is in its router, and everybody gets from each route what the table says, in every form of its path.
func TestStrangersGetNothing(t *testing.T) {
	f := newFixture(t)
	other := f.config
	other.UID, other.Name, other.API.Reset = "22222222-2222-2222-2222-222222222222", "other", true
	f.sandbox(other, otherKey)
	f.config.API.TestClients = true
	f.sandbox(f.config, revokedKey)
	f.sandbox(f.config, key)
	f.exec("update organizations set webhook_url = 'http://127.0.0.1:1/'")
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	paid := f.paid("paid")
	forms := map[string]int{}
	walk := func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if strings.Contains(pattern, "/operators/") {
			return nil // see TestStrangersGetNothingFromOperators
		}
		path := strings.TrimPrefix(strings.TrimPrefix(pattern, "/sandboxes/{namespace}/{name}"), "/api")
		route := method + " " + path
		a, listed := routesAccess[route]
		if !listed {
			t.Errorf("%s %s is answered: say in routesAccess to whom", method, pattern)
			return nil
		}
		forms[route]++
		named, inPath := []string{""}, strings.HasPrefix(pattern, "/sandboxes/")
		if inPath {
			named = []string{"checkout", "other", "none", ""}
		}
		for _, sandbox := range named {
			for header, owner := range credentials {
				want := cmp.Or(a.anybody, http.StatusUnauthorized)
				switch {
				case inPath && sandbox != owner:
				case owner == "checkout":
					want = a.own
				case owner == "other":
					want = a.other
				}
				tx := paid
				if strings.Contains(pattern, "{tx}") && want == a.own {
					tx = f.call("POST", "/v1/payments", payment(fmt.Sprint("prompt", next()))).body["id"].(string)
				}
				target := strings.NewReplacer("{namespace}", "team", "{name}", sandbox, "/events/{id}", "/events/"+strings.Replace(paid, "TX_", "evt_", 1), "{id}", paid,
					"{msisdn}", url.PathEscape(alice), "{tx}", tx, "{answer}", "cancel", "{fault}", "f").
					Replace(pattern)
				f.accessed(method, target, header, a.body, want)
				if method == http.MethodGet { // HEAD is answered as GET (RFC 9110, section 9.3.2)
					f.accessed(http.MethodHead, target, header, "", want)
				}
			}
		}
		return nil
	}
	if err := chi.Walk(fronts.New(fronts.Options{}).Routes(), walk); err != nil {
		t.Fatal(err)
	}
	for route := range routesAccess {
		if want := map[bool]int{true: 4, false: 2}[strings.Contains(route, " /v1/")]; forms[route] != want {
			t.Errorf("%s is answered in %d forms of its path, want %d", route, forms[route], want)
		}
	}
	f.conserved()
}

var numbers atomic.Int64

// next is another number each time, in tests that run at the same time too.
func next() int64 { return numbers.Add(1) }

// accessed makes a request with a header Authorization, none if it is empty, and looks at the status. All who are refused are told the
// same.
func (f *fixture) accessed(method, target, authorization, body string, want int) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(
		f.t.Context(),
		method,
		f.url+target,
		strings.NewReader(strings.ReplaceAll(body, "{n}", fmt.Sprint(next()))),
	)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	var text []byte
	if answer.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" { // which does not end
		text, err = io.ReadAll(answer.Body)
	}
	if err != nil || answer.StatusCode != want {
		f.t.Errorf(
			"%s %s with %q answered %d, want %d: %s %v",
			method,
			target,
			authorization,
			answer.StatusCode,
			want,
			text[:min(len(text), 200)],
			err,
		)
	}
	const refusal = `{"error":"unauthorized","message":"Send the sandbox's API key as ` + "`Authorization: Bearer <key>`" + `. It is missing, malformed or not valid here.","detail":null}`
	told := method == http.MethodHead || strings.TrimSpace(string(text)) == refusal
	if answer.StatusCode == http.StatusUnauthorized && (!told || answer.Header.Get("WWW-Authenticate") != "Bearer") {
		f.t.Errorf("%s %s with %q is refused by %s", method, target, authorization, text)
	}
}
