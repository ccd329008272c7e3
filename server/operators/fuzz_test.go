package operators_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// roundTrip is a transport that answers by a function, without a network.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

func response(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// FuzzAnswers checks that any answer of an operator becomes a known outcome with a payload of JSON, or an error without
// a credential. An answer with a status other than 2xx is never a success.
func FuzzAnswers(f *testing.F) {
	for i, body := range []string{
		`{"amount":"25000","currency":"RWF","status":"SUCCESSFUL","financialTransactionId":"1","reason":{"code":"EXPIRED"}}`,
		`{"status":"SUCCESS","order_id":"` + requested + `","txnid":"MP1","amount":25000,"pay_token":"P","payment_url":"https://page.example/P"}`,
		`{"response-code":"0","externalReference":"SHOP/1","transactionId":"9"}`,
		`{"data":{"transaction":{"id":"SHOP/1","status":"TS","airtel_money_id":"A1"}},"status":{"success":true,"response_code":"DP00800001006","result_code":"ESB000010"}}`,
		`{"ResponseCode":"0","MerchantRequestID":"M1","CheckoutRequestID":"` + checkout + `","ResultCode":"0","ResultDesc":"x"}`,
		`{"status":"FAILED","reason":"NOT_ENOUGH_FUNDS"}`, `null`, `[]`, ``, `{"data":null}`, `{"status":1}`,
	} {
		for _, code := range []int{200, 202, 400, 409, 500} {
			f.Add(i%len(payments.Operators), code, body)
		}
	}
	f.Fuzz(func(t *testing.T, which, code int, body string) {
		if which < 0 || which >= len(payments.Operators) || code < 200 || code > 599 || code == http.StatusUnauthorized {
			return
		}
		operator := payments.Operators[which]
		api := operators.NewClient(operator, adapter.Access{
			BaseURL: "http://operator", ClientID: "the-user", ClientSecret: "hush-hush", SubscriptionKey: "sub-key", MerchantKey: "merchant-key",
			ShortCode: "600123", Passkey: "pass-key", Tokens: adapter.NewTokens(time.Now),
			HTTP: &http.Client{
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
				Transport: roundTrip(func(r *http.Request) *http.Response {
					if givesToken(r.URL.Path) {
						return response(http.StatusOK, `{"access_token":"the-token","token":"the-token","expires_in":180,"expiresIn":180}`)
					}
					return response(code, body)
				}),
			},
		})
		check := func(what string, answer adapter.Answer, err error) {
			t.Helper()
			if err != nil {
				for _, secret := range []string{"hush-hush", "sub-key", "merchant-key", "pass-key", "the-token"} {
					if strings.Contains(err.Error(), secret) && !strings.Contains(body, secret) {
						t.Errorf("%s: %v", what, err)
					}
				}
				return
			}
			if !slices.Contains(payments.Statuses, answer.Status) {
				t.Errorf("%s: %s answered %d %q, which is %q", what, operator, code, body, answer.Status)
			}
			if answer.Status == payments.Success && code > 299 {
				t.Errorf("%s: %s answered %d %q, which counts as a success", what, operator, code, body)
			}
			if len(answer.Raw) > 0 && !json.Valid(answer.Raw) {
				t.Errorf("%s: the payload of %q is %q", what, body, answer.Raw)
			}
			if len(answer.NativeID) > 128 || strings.ContainsFunc(answer.NativeID, func(r rune) bool { return r <= ' ' || r > '~' }) {
				t.Errorf("%s: the id of %q is %q", what, body, answer.NativeID)
			}
		}
		asked := forwarded(operator)
		answer, err := api.Collect(t.Context(), asked)
		check("payment", answer, err)
		answer, err = api.Ask(t.Context(), asked)
		check("question", answer, err)
	})
}

// FuzzTokens checks that a client uses an operator's token unchanged, and for at most a day. An answer without a token
// must not give one.
func FuzzTokens(f *testing.F) {
	for i, body := range []string{grants, `{"access_token":"T","expires_in":99999999999999}`, `{"access_token":"","expires_in":1}`,
		`{"access_token":"a b","expires_in":"x"}`, `{"expires_in":-1}`, `null`, "{\"access_token\":\"a\\nb\"}"} {
		f.Add(i%len(payments.Operators), 200, body)
		f.Add(i%len(payments.Operators), 401, body)
	}
	f.Fuzz(func(t *testing.T, which, code int, body string) {
		if which < 0 || which >= len(payments.Operators) || code < 200 || code > 599 || payments.Operators[which] == payments.Moov {
			return
		}
		var used []string
		clock, fetched := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC), 0
		api := operators.NewClient(payments.Operators[which], adapter.Access{
			BaseURL: "http://operator", ClientID: "the-user", ClientSecret: "hush-hush",
			Tokens: adapter.NewTokens(func() time.Time { return clock }),
			HTTP: &http.Client{
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
				Transport: roundTrip(func(r *http.Request) *http.Response {
					if givesToken(r.URL.Path) {
						fetched++
						return response(code, body)
					}
					used = append(used, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
					return response(http.StatusServiceUnavailable, "")
				}),
			},
		})
		for range 2 {
			if _, err := api.Ask(t.Context(), forwarded(payments.Operators[which])); err == nil {
				t.Errorf("a 503 is an answer")
			}
			clock = clock.Add(24 * time.Hour)
		}
		if len(used) > 0 && code > 299 {
			t.Errorf("%d %q was taken for a token: %q", code, body, used)
		}
		if len(used) > 0 && fetched != 2 {
			t.Errorf("the token of %q is used for longer than a day", body)
		}
		for _, token := range used {
			if token == "" {
				t.Errorf("%q is taken for a token", body)
			}
		}
	})
}

// FuzzDetect checks that a number belongs to at most one operator of one country, and that any other text belongs to
// none. A number without a known operator may still have a country.
func FuzzDetect(f *testing.F) {
	for _, seed := range []string{"+250788000001", "+2250700000001", "+2290195000001", "+22890000001", "+1234567", "", "+250"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, msisdn string) {
		operator, country, ok := operators.Detect(nil, msisdn)
		if !ok {
			if _, known := country.Currency(); operator != "" || country != "" && (!known || !payments.ValidMSISDN(msisdn)) {
				t.Errorf("%q is of nobody, and of %s in %s", msisdn, operator, country)
			}
			return
		}
		if _, known := country.Currency(); !known || !operator.Valid() || !payments.ValidMSISDN(msisdn) {
			t.Errorf("%q is of %s in %s", msisdn, operator, country)
		}
	})
}
