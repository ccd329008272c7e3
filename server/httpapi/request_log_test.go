package httpapi_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpapi"
	"github.com/cauri-dev/cauri/server/operators"
)

// logged writes what was recorded since the last time.
func (f *fixture) logged() {
	f.t.Helper()
	if err := f.log.Flush(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// requests are the entries of the request log, newest first.
func (f *fixture) requests(query string, change ...func(*http.Request)) (entries []object) {
	f.t.Helper()
	f.logged()
	got := f.call("GET", "/v1/requests?limit=100"+query, nil, change...)
	if got.status != http.StatusOK {
		f.t.Fatalf("the request log answered %d: %s", got.status, got.raw)
	}
	for _, entry := range got.body["data"].([]any) {
		entries = append(entries, entry.(object))
	}
	return entries
}

// fieldsOf are some fields of an entry, as text.
func fieldsOf(entry object, names ...string) string {
	var values []string
	for _, name := range names {
		values = append(values, fmt.Sprint(entry[name]))
	}
	return strings.Join(values, " ")
}

func TestRequestLogHasWhatFailed(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	f.call("POST", "/v1/payments", payment("fine"))
	f.call("POST", "/v1/payments", payment("r1", object{"amount": "much", "ammount": 5, "pin": 1234, "note2": "n"}),
		func(r *http.Request) { r.Header.Set("X-Request-Id", "try-1") })
	f.call("GET", "/sandboxes/team/checkout/api/v1/payments?status=DONE&page=2", nil)
	f.call("POST", "/api/v1/payments/TX_00000000000000000000000000/refund", object{"amount": 5})
	f.call("DELETE", "/v1/payments", nil)
	f.call("GET", "/sandboxes/team/checkout/v1/paymnts/7", nil)
	f.accessed("HEAD", "/v1/events?limit=1000", "Bearer "+key, "", http.StatusBadRequest)

	got := f.requests("")
	var told []string
	for _, entry := range got {
		told = append(told, fieldsOf(entry, "method", "path", "status", "error"))
	}
	want := []string{
		"HEAD /v1/events 400 invalid_params",
		"GET /v1/paymnts/{...} 404 not_found",
		"DELETE /v1/payments 405 method_not_allowed",
		"POST /v1/payments/TX_00000000000000000000000000/refund 404 not_found",
		"GET /v1/payments 400 invalid_params",
		"POST /v1/payments 400 invalid_body",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Fatalf("the log (-want +got):\n%s", diff)
	}
	if head := got[0]; fmt.Sprint(head["query"]) != "map[limit:1000]" || head["responseBody"] != nil {
		t.Errorf("HEAD is kept with the query %v and the answer %v", head["query"], head["responseBody"])
	}
	got = got[1:]
	refused := got[4]
	if refused["requestId"] != "try-1" || refused["fault"] != nil {
		t.Errorf("requestId is %v, fault %v", refused["requestId"], refused["fault"])
	}
	sent := object{"amount": "much", "currency": "RWF", "msisdn": alice, "reference": "r1", "application": "shop"}
	if diff := cmp.Diff(any(sent), refused["requestBody"]); diff != "" {
		t.Errorf("the request's body (-sent +kept):\n%s", diff)
	}
	if diff := cmp.Diff(any([]any{"ammount", "a field", "pin"}), refused["notKept"]); diff != "" {
		t.Errorf("what is not kept (-want +got):\n%s", diff)
	}
	answer, _ := refused["responseBody"].(object)
	if answer["error"] != "invalid_body" || fmt.Sprint(answer["detail"]) != "map[fieldErrors:map[amount:[expected integer, for example 25000]]]" {
		t.Errorf("the answer's body is %v", answer)
	}
	if listed := got[3]; fmt.Sprint(listed["query"]) != "map[status:DONE]" || fmt.Sprint(listed["notKept"]) != "[page]" {
		t.Errorf("the query is %v, without %v", listed["query"], listed["notKept"])
	}
	if others := f.requests("", withKey(otherKey)); len(others) != 0 {
		t.Errorf("the other sandbox has %v", others)
	}
}

func TestRequestLogIsFilteredAndPaged(t *testing.T) {
	f := newFixture(t)
	for i := range 5 {
		f.call("GET", fmt.Sprintf("/v1/payments?limit=%d", 1000+i), nil)
		f.call("GET", "/v1/events/evt_00000000000000000000000000", nil)
	}
	for query, want := range map[string]int{
		"": 10, "&status=404": 5, "&status=201": 0, "&error=invalid_params": 5, "&path=/v1/events": 5, "&path=/v1": 10, "&path=/v1/payments&status=404": 0,
	} {
		if got := f.requests(query); len(got) != want {
			t.Errorf("%q: %d requests, want %d", query, len(got), want)
		}
	}
	seen, cursor := map[any]bool{}, ""
	for {
		page := f.call("GET", "/v1/requests?limit=3"+cursor, nil)
		for _, entry := range page.body["data"].([]any) {
			seen[entry.(object)["id"]] = true
		}
		if page.body["nextCursor"] == nil {
			break
		}
		cursor = "&cursor=" + page.body["nextCursor"].(string)
	}
	if len(seen) != 10 {
		t.Errorf("the pages have %d requests, want 10", len(seen))
	}
}

func TestRequestLogHasEverythingWhileSomebodyWatches(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	f.call("POST", "/v1/payments", payment("before"))
	if got := f.requests("&all=true"); len(got) != 0 {
		t.Fatalf("before somebody looked: %v", got)
	}
	made := f.call("POST", "/v1/payments", payment("after"))
	got := f.requests("&all=true")
	if len(got) != 1 || fieldsOf(got[0], "method", "path", "status", "error") != "POST /v1/payments 201 <nil>" {
		t.Fatalf("while somebody watches: %v", got)
	}
	if answer := got[0]["responseBody"].(object); answer["id"] != made.body["id"] || answer["raw"] != nil {
		t.Errorf("the answer's body is %v", answer)
	}
	if failed := f.requests(""); len(failed) != 0 {
		t.Errorf("among those that failed: %v", failed)
	}
	version := read[int64](f, "select version from config_version")
	f.requests("&all=true")
	if again := read[int64](f, "select version from config_version"); again != version {
		t.Errorf("watching on changed the configuration again, from %d to %d", version, again)
	}
	f.exec(`with b as (update config_version set version = version + 1 returning version)
		update organizations o set requests_logged_until = now() - interval '1 second', version = b.version from b where name = 'checkout'`)
	f.requests("") // the directory
	f.call("POST", "/v1/payments", payment("too late"))
	if n := read[int](f, "select count(*) from requests"); n != 1 {
		f.logged()
		t.Errorf("%d requests are kept, want only the one that somebody looked", n)
	}
}

// secrets are credentials of every kind, in the form in which they may come to stand somewhere.
var secrets = map[string]string{
	"API key":                  key,
	"API key of another":       otherKey,
	"webhook secret":           "whsec_dGVzdA==",
	"bearer token":             "opaque-7f3a9c51d2",
	"JWT":                      "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln",
	"basic":                    base64.StdEncoding.EncodeToString([]byte("user:hunter2hunter2")),
	"subscription key":         "0123456789abcdef0123456789abcdef",
	"password":                 "hunter2-Hunter2!",
	"PIN":                      "48392017465", // long enough that no id and no time has it by chance
	"one-time code":            "71920458316",
	"URL with a token":         "https://user:hunter2@shop.example/orders?token=hunter2-token",
	"authorization as a whole": "Bearer " + otherKey,
}

// ownForms are those that are replaced wherever they stand: their forms are known. The others are kept out by where they stand.
var ownForms = []string{
	"API key", "API key of another", "webhook secret", "JWT", "authorization as a whole", "URL with a token", "subscription key",
}

// No secret of any kind, in any place of a request, comes into the request log: headers, path, query, fields, names of fields, and bodies
// that are no JSON.
func TestRequestLogHasNoSecret(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	f.requests("&all=true") // what succeeds is kept too
	valid := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }
	for name, secret := range secrets {
		quoted, _ := json.Marshal(secret)
		escaped := url.QueryEscape(secret)
		for _, header := range []string{"Cookie", "X-Api-Key", "Ocp-Apim-Subscription-Key", "X-Callback-Url", "User-Agent", "Proxy-Authorization"} {
			f.call("GET", "/v1/payments?limit=0", nil, func(r *http.Request) { r.Header.Set(header, secret) })
		}
		for _, path := range []string{
			"/v1/payments/%s", "/v1/events/%s", "/v1/test_clients/%s", "/v1/%s", "/%s", "/v1/payments/%s/refund",
			"/sandboxes/team/checkout/v1/payments/%s", "/sandboxes/team/checkout/%s",
		} {
			f.call("GET", fmt.Sprintf(path, url.PathEscape(secret)), nil)
		}
		for _, query := range []string{"?token=%s", "?api_key=%s&limit=0", "?%s=1&limit=0", "?limit=0&%s", "?pin=%s;limit=0"} {
			f.call("GET", "/v1/payments"+fmt.Sprintf(query, escaped), nil)
			f.call("GET", "/v1/requests"+fmt.Sprintf(query, escaped), nil)
		}
		for _, field := range []string{"pin", "password", "api_key", "apiKey", "token", "access_token", "authorization", "client_secret", "otp", "x"} {
			f.call("POST", "/v1/payments", payment("s", object{field: secret, "amount": 0}))
			f.call("POST", "/v1/payments", payment("s", object{"amount": object{field: secret}, "currency": []string{secret}}))
			f.call("POST", "/v1/disbursements", object{field: secret})
		}
		for _, body := range []string{
			"%s", "pin=%s", `"%s"`, `["%s"]`, `{"amount":1,%s`, `{"amount":1} %s`, "<pin>%s</pin>", `{"pin":"%s"`, `{"amount":"x","pin":%s}`,
		} {
			f.call("POST", "/v1/payments", fmt.Sprintf(body, secret))
		}
		f.call("POST", "/v1/payments", fmt.Sprintf(`{%s:1}`, quoted))
		f.call("POST", "/v1/payments", strings.Repeat(" ", 5000)+fmt.Sprintf(`{"pin":%s}`, quoted))
		f.call("POST", "/v1/payments", fmt.Sprintf(`{"description":%q,"pin":%s}`, strings.Repeat("é", 3000), quoted))
		if slices.Contains(ownForms, name) {
			for _, field := range []string{"amount", "currency", "msisdn", "reference", "application", "order_ref", "order_url", "description", "scenario"} {
				f.call("POST", "/v1/payments", payment("k", object{"amount": 0, field: "x " + secret}))
				f.call("POST", "/v1/payments", payment(secret[:min(len(secret), 80)], object{"application": "none"}))
			}
			for _, parameter := range []string{"reference", "msisdn", "order_ref", "cursor", "status"} {
				f.call("GET", "/v1/payments?limit=0&"+parameter+"="+escaped, nil)
			}
			f.call("GET", "/v1/requests?path=%2F"+escaped+"&limit=0", nil)
			f.call("GET", "/v1/payments?limit=0", nil, func(r *http.Request) { r.Header.Set("X-Request-Id", strings.Trim(secret, "=")) })
		}
		// A token that the request presents, in a form that nobody knows, is replaced wherever it stands beside.
		for _, scheme := range []string{"Bearer ", "Basic ", ""} {
			presented := func(r *http.Request) {
				r.Header.Set("Authorization", scheme+secret)
				r.Header.Set("X-Request-Id", strings.Trim(secret, "="))
			}
			for _, form := range []string{"", "/sandboxes/team/checkout"} {
				f.call("POST", form+"/v1/payments?reference="+escaped, payment("u", object{"description": secret}), presented)
				f.call("GET", form+"/v1/"+url.PathEscape(secret), nil, presented)
			}
		}
		f.call("GET", "/v1/payments?limit=0", nil, valid)
		f.logged()
	}
	if n := read[int](f, "select count(*) from requests"); n < 500 {
		t.Fatalf("only %d requests are logged: the test does not show anything", n)
	}
	rows := read[string](f, "select string_agg(r::text, chr(10)) from requests r")
	for name, secret := range secrets {
		parts := []string{secret}
		if name == "URL with a token" {
			parts = []string{"hunter2", "token=", "user:"}
		}
		for _, part := range parts {
			if at := strings.Index(rows, part); at >= 0 {
				t.Errorf("the %s is in the log: %s", name, rows[max(0, at-300):min(len(rows), at+100)])
			}
		}
	}
}

// Requests without a valid key are apart: they are few, have no body, and push nothing out.
func TestRequestLogKeepsStrangersApart(t *testing.T) {
	f := newFixture(t)
	f.call("GET", "/v1/payments?limit=0", nil)
	wrong := withKey("cauri_sk_test_wrong")
	for range 25 {
		for range 3 { // all of one second
			f.call("POST", "/sandboxes/team/checkout/v1/payments?reference=r", payment("r"), wrong)
		}
		f.call("GET", "/sandboxes/team/none/v1/payments", nil, wrong)
		f.call("GET", "/v1/payments", nil, wrong)
		f.logged()
	}
	got := f.requests("")
	if len(got) != 21 || got[20]["error"] != "invalid_params" {
		t.Fatalf("the log has %d requests, want 20 of strangers and the one with a key", len(got))
	}
	stranger := got[0]
	if fieldsOf(stranger, "method", "path", "status", "error", "query", "requestBody", "responseBody") !=
		"POST /v1/payments 401 unauthorized <nil> <nil> <nil>" {
		t.Errorf("a stranger's request is %v", stranger)
	}
	if others := f.requests("", withKey(otherKey)); len(others) != 0 {
		t.Errorf("the other sandbox has %v", others)
	}
}

func TestRequestLogEndsWithAReset(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.call("GET", "/v1/payments?limit=0", nil)
	f.logged()
	f.call("GET", "/v1/payments?limit=0", nil) // written after the reset
	f.call("POST", "/v1/reset", nil)
	if got := f.requests(""); len(got) != 0 {
		t.Errorf("after a reset the log has %v", got)
	}
}

// A large body is answered as ever, and the log has its beginning at most.
func TestRequestLogOfLargeBodies(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	big := payment("big", object{"amount": 0})
	text, _ := json.Marshal(big)
	padded := string(text[:len(text)-1]) + `,"zz":"` + strings.Repeat("z", 60_000) + `"}`
	if got := f.call("POST", "/v1/payments", padded); got.status != http.StatusBadRequest {
		t.Fatalf("60 KB answered %d: %s", got.status, got.raw)
	}
	if got := f.call("POST", "/v1/payments", padded+strings.Repeat(" ", 10_000)); got.status != http.StatusRequestEntityTooLarge {
		t.Fatalf("70 KB answered %d: %s", got.status, got.raw)
	}
	fine := strings.Replace(padded, `"amount":0`, `"amount":1000`, 1)
	if got := f.call("POST", "/v1/payments", fine); got.status != http.StatusCreated {
		t.Fatalf("60 KB that are fine answered %d: %s", got.status, got.raw)
	}
	for _, entry := range f.requests("") {
		body, _ := entry["requestBody"].(object)
		if body["reference"] != "big" || fmt.Sprint(entry["notKept"]) != "[zz the rest of the body]" && fmt.Sprint(entry["notKept"]) != "[the rest of the body]" {
			t.Errorf("kept is %v, without %v", body, entry["notKept"])
		}
	}
	if n := read[int](f, "select max(length(request_body::text)) from requests"); n > 4096 {
		t.Errorf("%d bytes of a body are kept", n)
	}
}

// A request of which the connection ends, and one whose handler panics, are logged with what is known.
func TestRequestLogHasWhatBroke(t *testing.T) {
	f := newFixture(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"+
		`{"amount":1000,"reference":"cut-off","cur`, key)
	_ = conn.(*net.TCPConn).CloseWrite()
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != http.StatusBadRequest {
		t.Fatalf("a body that ends early: %v, %v", answer, err)
	}
	_ = conn.Close()

	broken := f.serve(func(o *fronts.Options) { o.Requests, o.Random = f.log, panicking{} })
	if got := broken.call("POST", "/v1/payments", payment("panics", object{"scenario": "success"})); got.status != http.StatusInternalServerError {
		t.Fatalf("a panic answered %d: %s", got.status, got.raw)
	}
	got := f.requests("")
	if len(got) != 2 || fieldsOf(got[0], "status", "error") != "500 internal" || fieldsOf(got[1], "status", "error") != "400 invalid_body" {
		t.Fatalf("the log has %v", got)
	}
	if body := got[0]["requestBody"].(object); body["reference"] != "panics" {
		t.Errorf("of the one that panicked: %v", body)
	}
	if diff := cmp.Diff(any(object{"amount": 1000.0, "reference": "cut-off"}), got[1]["requestBody"]); diff != "" {
		t.Errorf("of the one that ended early (-sent +kept):\n%s", diff)
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("no randomness") }

// credentialName is what the name of a field that has a credential looks like.
var credentialName = regexp.MustCompile(`(?i)key|secret|token|passw|authoriz|credential|signature|otp|cookie|(^|_)pin($|_)`)

// The log keeps what the API's description names: a route that takes or gives a credential has to say so where the fields are collected.
func TestNoFieldOfTheRequestLogIsACredential(t *testing.T) {
	t.Parallel()
	fields := httpapi.LoggedFields()
	if len(fields) < 50 {
		t.Fatalf("only %d fields are kept", len(fields))
	}
	for _, api := range operators.NativeAPIs() {
		for _, name := range api.Logged {
			fields[name] = true
		}
	}
	for name := range fields {
		if credentialName.MatchString(name) {
			t.Errorf("the request log keeps the field %s", name)
		}
	}
}
