package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/requests"
)

// What a request to MTN's API asked for, and why it was refused, is in the request log, as for /v1.
func TestRequestLogHasWhatFailedAtMTN(t *testing.T) {
	f := newFixture(t)
	m := f.mtn(key)
	m.pay("+250788999999")
	m.call("POST", "/collection/v1_0/requesttopay", payBody(alice, "1.5", "RWF"), "X-Reference-Id", newReference())
	m.call("POST", "/collection/v1_0/requesttopay", payBody(alice, "5", "USD"), "X-Reference-Id", newReference(), "X-Request-Id", "try-1")
	m.base = "/sandboxes/team/checkout/operators/mtn"
	m.call("GET", "/collection/v1_0/requesttopay/"+newReference()+"?status=x", "")
	m.send("GET", "/collection/v1_0/none", "", nil)
	m.send("GET", "/collection/v1_0/account/balance", "", map[string]string{"Authorization": "Bearer wrong"})

	got := f.requests("")
	var told []string
	for _, entry := range got {
		told = append(told, fieldsOf(entry, "method", "path", "status", "error"))
	}
	want := []string{
		"GET /operators/mtn/collection/v1_0/account/balance 401 token_invalid",
		"GET /operators/mtn/collection/v1_0/none 404 no_route",
		"GET /operators/mtn/collection/v1_0/requesttopay/{...} 404 not_found",
		"POST /operators/mtn/collection/v1_0/requesttopay 500 wrong_currency",
		"POST /operators/mtn/collection/v1_0/requesttopay 400 invalid_request",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Fatalf("the log (-want +got):\n%s", diff)
	}
	refused := got[3]
	sent := object{
		"amount": "5", "currency": "USD", "externalId": "order-1042", "payerMessage": "Two tickets", "payeeNote": "shop",
		"payer": object{"partyIdType": "MSISDN", "partyId": alice[1:]},
	}
	if diff := cmp.Diff(any(sent), refused["requestBody"]); diff != "" {
		t.Errorf("the request's body (-sent +kept):\n%s", diff)
	}
	answer := object{"message": "Currency not supported.", "code": "INVALID_CURRENCY"}
	if diff := cmp.Diff(any(answer), refused["responseBody"]); diff != "" {
		t.Errorf("the answer's body (-want +kept):\n%s", diff)
	}
	if hint := "currency: expected RWF"; refused["hint"] != hint {
		t.Errorf("the hint is %v, want %s", refused["hint"], hint)
	}
	if fmt.Sprint(refused["notKept"]) != "[]" || refused["requestId"] != "try-1" || fmt.Sprint(got[2]["notKept"]) != "[status]" {
		t.Errorf("kept are %v and %v", refused, got[2])
	}

	m.base = "/operators/mtn"
	m.call("GET", "/collection/v1_0/account/balance", "")
	if all := f.requests("&all=true"); len(all) != 5 {
		t.Errorf("before somebody looked, %d requests are kept, want the 5 that failed", len(all))
	}
	m.refresh()
	m.call("GET", "/collection/v1_0/account/balance", "")
	balance := object{"availableBalance": "1000", "currency": "RWF"}
	if all := f.requests("&all=true"); len(all) != 6 || all[0]["status"] != 200.0 || !cmp.Equal(all[0]["responseBody"], any(balance)) {
		t.Errorf("while somebody watches: %d requests, %v", len(all), all)
	}
	if others := f.requests("", withKey(otherKey)); len(others) != 0 {
		t.Errorf("the other sandbox has %v", others)
	}
}

// No credential of MTN's API, in any place of a request or of an answer, comes into the request log.
func TestRequestLogHasNoSecretOfMTN(t *testing.T) {
	f := newFixture(t)
	m := f.mtn(key)
	f.requests("&all=true") // what succeeds is kept too
	m.refresh()
	user := newReference()
	m.send("POST", "/v1_0/apiuser", `{"providerCallbackHost": "shop.example"}`, map[string]string{"X-Reference-Id": user})
	made := m.send("POST", "/v1_0/apiuser/"+user+"/apikey", "", nil).body["apiKey"].(string)
	m.token("collection", user, made)
	m.call("GET", "/collection/v1_0/account/balance", "")
	m.call("GET", "/disbursement/v1_0/account/balance", "")
	basic := base64.StdEncoding.EncodeToString([]byte(m.User + ":" + m.UserKey))

	const pay, token = "/collection/v1_0/requesttopay", "/collection/token/"
	send := func(method, path, body string, header ...string) {
		t.Helper()
		all := map[string]string{"Authorization": "Bearer " + m.tokens["collection"]}
		if strings.HasPrefix(path, "/disbursement") {
			all["Authorization"] = "Bearer " + m.tokens["disbursement"]
		}
		for i := 0; i < len(header); i += 2 {
			all[header[i]] = header[i+1]
		}
		m.send(method, path, body, all)
	}
	// Wherever it stands, also in a field that is kept, for these have a form of their own.
	formed := map[string]string{
		"subscription key": m.Key, "subscription key in capitals": strings.ToUpper(m.Key), "API key of the Secret": m.UserKey,
		"API key of a user": made, "access token": m.tokens["collection"], "basic": "Basic " + basic,
		"bearer":     "Bearer " + m.tokens["collection"],
		"key of /v1": key,
	}
	secrets := map[string]string{"password of a user": basic, "opaque": "opaque-7f3a9c51d2"}
	for name, secret := range formed {
		secrets[name] = secret
		quoted, _ := json.Marshal("x " + secret)
		for _, field := range []string{"amount", "currency", "externalId", "payerMessage", "payeeNote", "referenceIdToRefund"} {
			send("POST", pay, fmt.Sprintf(`{%q: %s}`, field, quoted), "X-Reference-Id", newReference())
			send("POST", "/disbursement/v1_0/refund", fmt.Sprintf(`{%q: %s}`, field, quoted), "X-Reference-Id", newReference())
			for _, nested := range []string{`{"payer":{%q:%s}}`, `{"payee":[{%q:%s}]}`, `{"status":{"amount":[[{%q:%s}]]}}`} {
				send("POST", pay, fmt.Sprintf(nested, field, quoted), "X-Reference-Id", newReference())
			}
		}
		told := strings.Replace(payBody(alice, "100", "RWF"), `"order-1042"`, string(quoted), 1)
		reference := newReference()
		send("POST", pay, told, "X-Reference-Id", reference)
		send("GET", pay+"/"+reference, "") // repeats it
		send("POST", pay+"/"+reference+"/deliverynotification", fmt.Sprintf(`{"notificationMessage": %s}`, quoted))
		send("POST", "/v1_0/apiuser", fmt.Sprintf(`{"providerCallbackHost": %s}`, quoted), "X-Reference-Id", newReference())
		if !strings.Contains(secret, " ") { // which no id may have
			send("GET", pay+"/x", "", "X-Request-Id", secret)
		}
	}
	for _, secret := range secrets {
		quoted, _ := json.Marshal(secret)
		escaped := url.QueryEscape(secret)
		for _, header := range []string{
			"Cookie", "X-Api-Key", "X-Reference-Id", "X-Callback-Url", "X-Target-Environment", "User-Agent", "Proxy-Authorization",
		} {
			send("POST", pay, "{}", header, secret)
		}
		for _, path := range []string{
			pay + "/%s", "/v1_0/apiuser/%s", "/v1_0/apiuser/%s/apikey", "/collection/v1_0/accountholder/msisdn/%s/active", "/%s",
			"/collection/v1_0/account/balance/%s",
		} {
			send("GET", fmt.Sprintf(path, url.PathEscape(secret)), "")
		}
		for _, query := range []string{"?subscription-key=%s", "?%s=1", "?%s", "?status=%s", "?amount=%s;currency=1"} {
			send("GET", pay+"/x"+fmt.Sprintf(query, escaped), "")
		}
		for _, body := range []string{
			"%s", "grant_type=%s", `["%s"]`, `{"amount":1,%s`, `{"token":"%s"}`, `{"access_token":"%s","amount":"x"}`, `{"apiKey":"%s"`,
			`{"%s":1}`, `{"payer":{"pin":"%s","partyIdType":"MSISDN"}}`, `{"amount":{"token":{"amount":"%s"}}}`, `{"currency":[{"password":["%s"]}]}`,
		} {
			send("POST", pay, fmt.Sprintf(body, strings.Trim(string(quoted), `"`)), "X-Reference-Id", newReference())
			send("POST", token, fmt.Sprintf(body, secret), "Authorization", "Basic "+basic)
		}
		// What the request presents, in a form that nobody knows.
		for _, scheme := range []string{"Bearer ", "Basic ", ""} {
			presented := []string{"Authorization", scheme + secret, "X-Request-Id", strings.Trim(strings.ReplaceAll(secret, " ", ""), "=")}
			send("POST", pay, fmt.Sprintf(`{"payerMessage":%s}`, quoted), presented...)
			send("POST", token, fmt.Sprintf(`{"payerMessage":%s}`, quoted), presented...)
		}
		f.logged()
	}
	opaque := base64.StdEncoding.EncodeToString([]byte("somebody:opaque-7f3a9c51d2"))
	m.send("POST", pay, "{}", map[string]string{"Authorization": "Basic " + opaque})
	f.logged()
	if n := read[int](f, "select count(*) from requests"); n < 400 {
		t.Fatalf("only %d requests are logged: the test does not show anything", n)
	}
	rows := read[string](f, "select string_agg(r::text, chr(10)) from requests r")
	for name, secret := range secrets {
		_, bare, _ := strings.Cut(secret, " ")
		for _, part := range []string{secret, bare} {
			if at := strings.Index(strings.ToLower(rows), strings.ToLower(part)); at >= 0 && part != "" {
				t.Errorf("the %s is in the log: %s", name, rows[max(0, at-300):min(len(rows), at+100)])
			}
		}
	}
}

// Requests with a key that opens nothing leave an entry where the path names a sandbox, as for /v1.
func TestRequestLogKeepsStrangersToMTNApart(t *testing.T) {
	f := newFixture(t)
	m := f.mtn(key)
	wrong := map[string]string{"Ocp-Apim-Subscription-Key": "wrong"}
	m.send("POST", "/collection/v1_0/requesttopay?a=b", payBody(alice, "5", "RWF"), wrong)
	m.base = "/sandboxes/team/checkout/operators/mtn"
	m.send("POST", "/collection/v1_0/requesttopay?a=b", payBody(alice, "5", "RWF"), wrong)
	got := f.requests("")
	if len(got) != 1 || fieldsOf(got[0], "method", "path", "status", "error", "query", "requestBody", "responseBody") !=
		fmt.Sprintf("POST /operators/mtn/collection/v1_0/requesttopay %d key_invalid <nil> <nil> <nil>", http.StatusUnauthorized) {
		t.Errorf("the log has %v", got)
	}
}

// In the log a path has everything but its parameters.
func TestRequestLogHasThePathsOfEveryCall(t *testing.T) {
	parameter, keeper := regexp.MustCompile(`\{\w+\}`), requests.NewRedactor(nil)
	for _, api := range operators.NativeAPIs() {
		for _, route := range api.Routes {
			if got, want := keeper.Path(route.Path), parameter.ReplaceAllString(route.Path, "{...}"); got != want {
				t.Errorf("%s is kept as %s", route.Path, got)
			}
		}
	}
}
