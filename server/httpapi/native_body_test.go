package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// A call for a token whose body is too large is answered as one with a wrong user, whichever operator it is: the operators
// document nothing else. A call that needs no body is answered as without one.
func TestBodiesThatAreTooLarge(t *testing.T) {
	f := newFixture(t)
	f.config.Environments[1].Enabled = true
	f.config.Environments = append(f.config.Environments, moovEnvironments()...)
	f.sandbox(f.config, key)
	padding := strings.Repeat("x", 70_000)
	for _, api := range operators.NativeAPIs() {
		c := api.Derive(key)
		refused := api.Refuse(&operatorapi.Refusal{Reason: operatorapi.UserInvalid, Basic: true})
		want, err := json.Marshal(refused.Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range api.Routes {
			if r.Access != operatorapi.ByUser {
				continue
			}
			query, body := "", "grant_type=client_credentials&padding="+padding
			switch api.Operator {
			case payments.Moov:
				query = "?" + url.Values{"username": {c.User}, "password": {c.UserKey}}.Encode()
			case payments.Airtel:
				body = `{"client_id": "` + c.User + `", "client_secret": "` + c.UserKey + `", "grant_type": "client_credentials", ` +
					`"padding": "` + padding + `"}`
			}
			got := f.sendNative(r.Method, "/operators/"+string(api.Operator)+r.Path+query, body, c)
			drawn := regexp.MustCompile(`"requestId":"[^"]*"`) // another one in each answer
			if got.status != refused.Status || drawn.ReplaceAllString(strings.TrimSpace(got.raw), "") != drawn.ReplaceAllString(string(want), "") {
				t.Errorf("%s %s of %s is answered %d %s, want %d %s", r.Method, r.Path, api.Operator, got.status, got.raw, refused.Status, want)
			}
		}
	}
	m := f.mtn(key)
	made := newReference()
	user := `{"providerCallbackHost": "shop.example"}`
	m.send("POST", "/v1_0/apiuser", user, map[string]string{"X-Reference-Id": made}).is(t, http.StatusCreated, "")
	if got := m.send("POST", "/v1_0/apiuser/"+made+"/apikey", padding, nil); got.status != http.StatusCreated {
		t.Errorf("a call that needs no body is answered %d %s", got.status, got.raw)
	}
}

// sendNative makes a request with the credentials of an operator's own API in its headers.
func (f *fixture) sendNative(method, path, body string, c operatorapi.Credentials) nativeAnswer {
	f.t.Helper()
	o := &orange{f: f, base: ""}
	r, _ := http.NewRequestWithContext(f.t.Context(), method, f.url, nil)
	r.SetBasicAuth(c.User, c.UserKey)
	return o.send(method, path, body, "Authorization", r.Header.Get("Authorization"), "Ocp-Apim-Subscription-Key", c.Key)
}

// The browser keeps no number of a payer whose confirmation was refused: no answer has it in its address, its body, a cookie
// or a header, nothing is stored, and the browser does not offer what was typed.
func TestOrangePageKeepsNoNumber(t *testing.T) {
	f, o := withOrange(t, payments.Manual)
	p := o.place("o-1")
	for _, typed := range []string{"0707000001", "+225 07 07 00 00 01", "07-07-00-00-01", "x0707000001"} {
		for _, code := range []string{wrongCode(f.code(awa)), "12345"} {
			form := url.Values{"msisdn": {typed}, "otp": {code}, "action": {"confirm"}}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.page, strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer, err := http.DefaultTransport.RoundTrip(r) // which follows no redirect
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if at := answer.Header.Get("Location"); answer.StatusCode == http.StatusSeeOther && at != "?" || len(answer.Cookies()) > 0 ||
				answer.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s is answered %d to %q with %v", typed, answer.StatusCode, at, answer.Header)
			}
			shown := p.open("msisdn", typed, "otp", code, "action", "confirm")
			digits := strings.NewReplacer(" ", "", "\u202f", "", "\u00a0", "", "-", "").Replace(shown.text)
			if strings.Contains(digits, "0707000001") || strings.Contains(shown.text, typed) {
				t.Errorf("the page after %s and %s has the number", typed, code)
			}
			if strings.Contains(shown.text, `id="msisdn"`) && !strings.Contains(shown.text, `autocomplete="off"`) {
				t.Error("the browser keeps what is typed")
			}
		}
	}
}
