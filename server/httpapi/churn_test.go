package httpapi_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// churn resets a sandbox and rotates its key and its signing secret, once for each signal. The key stays valid.
func (f *fixture) churn(signals <-chan struct{}) (stopped <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		i := 0
		for range signals {
			i++
			config := f.config
			config.Reset = fmt.Sprint("reset ", i)
			if _, err := f.store.ApplySandbox(f.t.Context(), config); err != nil {
				f.t.Error(err)
			}
			c := sandboxes.Credentials{
				APIKeyHash: sha256.Sum256([]byte(key)), SigningSecret: fmt.Sprintf("whsec_%08d", i%7), Native: nativeDigests(key), Grace: time.Hour,
			}
			if i%2 == 0 {
				replaced, other := c.APIKeyHash, fmt.Sprint(key, "_", i)
				c.APIKeyHash, c.Native, c.Replaces = sha256.Sum256([]byte(other)), nativeDigests(other), &replaced
			}
			if err := f.store.ApplyCredentials(f.t.Context(), f.config.UID, c); err != nil {
				f.t.Error(err)
			}
		}
	}()
	return done
}

// failed reports whether an answer says that the service failed, and not only that the request has to come again.
func failed(status int, header http.Header) bool {
	return status >= http.StatusInternalServerError && (status != http.StatusServiceUnavailable || header.Get("Retry-After") == "")
}

// exampleBodies are valid bodies of the routes of /v1 that need one, with %s for a reference.
var exampleBodies = map[string]string{
	"POST /v1/payments":             `{"amount": 100, "currency": "RWF", "msisdn": "` + alice + `", "reference": %q, "application": "shop"}`,
	"POST /v1/payments/{id}/refund": `{"amount": 1, "reference": %q}`,
	"POST /v1/disbursements": `{"amount": 1, "currency": "RWF", "operator": "mtn", "country": "RW", "msisdn": "` + alice +
		`", "reference": %q, "application": "shop"}`,
	"POST /v1/clock/advance":                               `{"by": "1ms", "wait": "50ms"}`,
	"POST /v1/expectations/evaluate":                       `{"expect": [{"nothingElse": true}]}`,
	"POST /v1/test_clients":                                `{"msisdn": "+250788000099", "balance": 5}`,
	"PATCH /v1/test_clients/{msisdn}":                      `{"balance": 7}`,
	"POST /v1/events/{id}/resend":                          "",
	"POST /v1/events/{id}/compare":                         `{"body": "{}"}`,
	"POST /v1/reset":                                       "",
	"PUT /v1/faults/{fault}":                               `{"webhook": {"duplicate": 2}}`,
	"DELETE /v1/faults/{fault}":                            "",
	"DELETE /v1/faults":                                    "",
	"POST /v1/console_links":                               "",
	"POST /v1/receiver_checks":                             "",
	"DELETE /v1/console_sessions":                          "",
	"DELETE /v1/console_sessions/{session}":                "",
	"DELETE /v1/test_clients/{msisdn}":                     "",
	"POST /v1/test_clients/{msisdn}/manual":                "",
	"DELETE /v1/test_clients/{msisdn}/manual":              "",
	"POST /v1/test_clients/{msisdn}/prompts/{tx}/{answer}": "",
}

// churnCall is one call of a route.
type churnCall struct {
	name string
	make func() (status int, header http.Header, text string)
}

// callsOfV1 are calls of all routes of /v1, with the fields of the path as they are.
func (f *fixture) callsOfV1(fields *strings.Replacer) (calls []churnCall) {
	document := f.call("GET", "/v1/openapi.json", nil)
	for path, item := range document.body["paths"].(object) {
		for method := range item.(object) {
			route := strings.ToUpper(method) + " " + path
			body, known := exampleBodies[route]
			if !known && method != "get" {
				f.t.Errorf("%s has no body: write one into exampleBodies", route)
				continue
			}
			queries := []string{""}
			if path == "/v1/ledger" {
				queries = append(queries, "?verify=full")
			}
			for _, query := range queries {
				calls = append(calls, churnCall{route + query, func() (int, http.Header, string) {
					text := body
					if strings.Contains(body, "%q") {
						text = fmt.Sprintf(body, newReference())
					}
					if path == "/v1/stream" {
						return f.beginning(path)
					}
					got := f.call(strings.ToUpper(method), fields.Replace(path)+query, text)
					return got.status, got.header, got.raw
				}})
			}
		}
	}
	return calls
}

// beginning is the beginning of an answer that does not end.
func (f *fixture) beginning(path string) (int, http.Header, string) {
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text := make([]byte, 16)
	if answer.StatusCode != http.StatusOK {
		text, _ = io.ReadAll(answer.Body)
	} else if _, err := io.ReadFull(answer.Body, text); err != nil {
		f.t.Errorf("a stream ended at once: %v", err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

// callsOfMTN are calls of all routes of MTN's own API, each with a token that may have ended.
func (f *fixture) callsOfMTN() (calls []churnCall) {
	fields := strings.NewReplacer("{type}", "msisdn", "{holder}", alice[1:], "{currency}", "RWF",
		"{id}", newReference(), "{reference}", newReference())
	for _, route := range operators.NativeAPI(payments.MTN).Routes {
		calls = append(calls, churnCall{route.Method + " " + route.Path, func() (int, http.Header, string) {
			m := f.mtn(key)
			header := map[string]string{"X-Reference-Id": newReference()}
			switch route.Access {
			case operatorapi.ByUser:
				got := m.token(route.Product, m.User, m.UserKey)
				return got.status, got.header, got.raw
			case operatorapi.ByToken:
				got := m.token(route.Product, m.User, m.UserKey)
				if got.status != http.StatusOK {
					return got.status, got.header, got.raw
				}
				header["Authorization"] = "Bearer " + got.body["access_token"].(string)
			}
			got := m.send(route.Method, fields.Replace(route.Path), strings.ReplaceAll(route.Doc.Body, "250788123456", alice[1:]), header)
			return got.status, got.header, got.raw
		}})
	}
	return calls
}

// A reset and a rotation are answered to nobody as a failure of the service: a request that cannot keep up with them is told to come again.
func TestNoRouteFailsBesideResetsAndRotations(t *testing.T) {
	f := newFixture(t)
	quota, rate := int64(1_000_000), int32(1_000_000)
	f.config.MonthlyQuota, f.config.RateLimit = &quota, &rate
	f.config.Faults, _ = json.Marshal([]object{{"name": "late", "when": object{"attempt": 1}, "api": object{"delay": "1ms"}}})
	f.allow()
	f.client("alice", alice, 50_000)
	ledgertest.Verifies(t, f.db)
	made := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"].(string)
	calls := append(f.callsOfMTN(), f.callsOfV1(strings.NewReplacer("{id}", made, "{tx}", made, "{answer}", "approve", "{msisdn}", alice))...)
	signals := make(chan struct{}, 1)
	stopped := f.churn(signals)
	var mu sync.Mutex
	done, answered := 0, map[string]map[int]int{}
	queue := make(chan churnCall)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for c := range queue {
				status, header, text := c.make()
				if failed(status, header) {
					t.Errorf("%s answered %d %s (%s)", c.name, status, text, header.Get("X-Cauri-Reason"))
				}
				mu.Lock()
				if done++; done%4 == 0 {
					select {
					case signals <- struct{}{}:
					default: // a change is under way
					}
				}
				if answered[c.name] == nil {
					answered[c.name] = map[int]int{}
				}
				answered[c.name][status]++
				mu.Unlock()
			}
		})
	}
	for range 12 {
		for _, c := range calls {
			queue <- c
		}
	}
	close(queue)
	callers.Wait()
	close(signals)
	<-stopped
	for _, name := range slices.Sorted(maps.Keys(answered)) {
		if len(answered[name]) == 1 && answered[name][http.StatusServiceUnavailable] > 0 {
			t.Errorf("%s was never answered", name)
		}
	}
}
