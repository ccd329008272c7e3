package operators_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// fake is an operator's API. It gives a token to every client, and records the requests.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	came     []string // method, path, headers of interest, body
	clock    time.Time
	patience time.Duration // of the client
}

var ofInterest = []string{"Authorization", "X-Reference-Id", "X-Target-Environment", "Ocp-Apim-Subscription-Key", "X-Country", "X-Currency",
	"Content-Type"}

const grants = `{"access_token":"T","token":"T","expires_in":"180","expiresIn":180}`

// newFake returns a fake that answers requests for tokens itself, and all others by the function answer.
func newFake(t *testing.T, answer http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{clock: time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC), patience: time.Minute}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		line := r.Method + " " + r.URL.EscapedPath()
		for _, name := range ofInterest {
			if value := r.Header.Get(name); value != "" {
				line += "\n" + name + ": " + value
			}
		}
		f.mu.Lock()
		f.came = append(f.came, line+"\n"+string(body))
		f.mu.Unlock()
		if givesToken(r.URL.Path) {
			_, _ = io.WriteString(w, grants)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// givesToken reports whether a path is that of a request for a token.
func givesToken(path string) bool {
	return strings.Contains(path, "/token") || strings.HasSuffix(path, "/oauth/v1/generate")
}

func answers(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// api returns a client of the fake. The client follows no redirects, and waits at most f.patience for an answer.
func (f *fake) api(operator payments.Operator) adapter.Client {
	client := operators.NewClient(operator, f.access())
	if client == nil {
		panic("server/operators/operators.go has no row of " + operator)
	}
	return client
}

func (f *fake) access() adapter.Access {
	return adapter.Access{
		BaseURL: f.URL + "/below/", ClientID: "id", ClientSecret: "hush", SubscriptionKey: "key", MerchantKey: "mk",
		ShortCode: "600123", Passkey: "pk", Tokens: adapter.NewTokens(func() time.Time { return f.clock }),
		HTTP: &http.Client{
			Timeout: f.patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: f.Client().Transport,
		},
	}
}

// requested is the id of the transaction at Airtel, Orange and Moov.
var requested = payments.ID{1, 2, 3}.Code()

// checkout is the id of the push at M-Pesa.
const checkout = "ws_CO_310520261500000712000001"

func forwarded(operator payments.Operator) *payments.Transaction {
	t := &payments.Transaction{
		Details: payments.Details{Reference: "SHOP/1"}, ID: payments.ID{1, 2, 3}, Type: payments.Collection,
		Status: payments.Pending, Operator: operator, Amount: 25000,
	}
	switch operator {
	case payments.Orange:
		t.Country, t.Currency, t.MSISDN, t.Store = "CI", "FCFA", "+2250707000001", "shop"
		t.NativeRaw = json.RawMessage(`{"pay_token":"P","operator_order_id":"` + requested + `","payment_url":"https://page.example/"}`)
	case payments.Moov:
		t.Country, t.Currency, t.MSISDN = "TG", "XOF", "+22879000001"
	case payments.MPesa:
		t.Country, t.Currency, t.MSISDN = "KE", "KES", "+254712000001"
		t.NativeRaw = json.RawMessage(`{"MerchantRequestID":"M1","CheckoutRequestID":"` + checkout + `"}`)
	default:
		t.Country, t.Currency, t.MSISDN = "RW", "RWF", "+250788000001"
	}
	return t
}

// moovToken is 0:id:hush, encrypted with the key that all clients of Moov have.
const moovToken = "sNvX0b99R12HBe4EsHV93g=="

// password is the Base64 of the short code, the passkey and Nairobi's time.
const password = "NjAwMTIzcGsyMDI2MDUzMTE1MDAwMA=="

// Requests are as the operators document them.
func TestRequests(t *testing.T) {
	for operator, want := range map[payments.Operator][]string{
		payments.MTN: {
			"POST /below/collection/token/\nAuthorization: Basic aWQ6aHVzaA==\nX-Target-Environment: sandbox\nOcp-Apim-Subscription-Key: key\n",
			"POST /below/collection/v1_0/requesttopay\nAuthorization: Bearer T\nX-Reference-Id: <uuid>\nX-Target-Environment: sandbox\nOcp-Apim-Subscription-Key: key\nContent-Type: application/json\n" +
				`{"amount":"25000","currency":"RWF","externalId":"SHOP/1","payer":{"partyIdType":"MSISDN","partyId":"250788000001"},"payerMessage":"Payment","payeeNote":"SHOP/1"}`,
			"GET /below/collection/v1_0/requesttopay/<uuid>\nAuthorization: Bearer T\nX-Target-Environment: sandbox\nOcp-Apim-Subscription-Key: key\n",
		},
		payments.Airtel: {
			"POST /below/auth/oauth2/token\nContent-Type: application/json\n" +
				`{"client_id":"id","client_secret":"hush","grant_type":"client_credentials"}`,
			"POST /below/merchant/v1/payments/\nAuthorization: Bearer T\nX-Country: RW\nX-Currency: RWF\nContent-Type: application/json\n" +
				`{"reference":"` + requested +
				`","subscriber":{"country":"RW","currency":"RWF","msisdn":"788000001"},"transaction":{"amount":25000,"country":"RW","currency":"RWF","id":"` + requested + `"}}`,
			"GET /below/standard/v1/payments/" + requested + "\nAuthorization: Bearer T\nX-Country: RW\nX-Currency: RWF\n",
		},
		payments.Orange: {
			"POST /below/oauth/v3/token\nAuthorization: Basic aWQ6aHVzaA==\nContent-Type: application/x-www-form-urlencoded\ngrant_type=client_credentials",
			"POST /below/orange-money-webpay/dev/v1/webpayment\nAuthorization: Bearer T\nContent-Type: application/json\n" +
				`{"merchant_key":"mk","currency":"OUV","order_id":"` + requested + `","amount":25000,"return_url":"<host>/","cancel_url":"<host>/",` +
				`"notif_url":"<host>/","lang":"fr","reference":"shop"}`,
			"POST /below/orange-money-webpay/dev/v1/transactionstatus\nAuthorization: Bearer T\nContent-Type: application/json\n" +
				`{"order_id":"` + requested + `","amount":25000,"pay_token":"P"}`,
		},
		payments.Moov: {
			"POST /below/Flooz/DebitService/Debit\nAuthorization: " + moovToken + "\nContent-Type: application/json\n" +
				`{"amount":"25000","key":"id","mrchname":"","mrchrefid":"` + requested + `","msisdn":"22879000001","partnermsisdn":""}`,
			"POST /below/Flooz/DebitService/Verify\nAuthorization: " + moovToken + "\nContent-Type: application/json\n" +
				`{"mrchrefid":"` + requested + `","partnermsisdn":""}`,
		},
		payments.MPesa: {
			"GET /below/oauth/v1/generate\nAuthorization: Basic aWQ6aHVzaA==\n",
			"POST /below/mpesa/stkpush/v1/processrequest\nAuthorization: Bearer T\nContent-Type: application/json\n" +
				`{"BusinessShortCode":"600123","Password":"` + password + `","Timestamp":"20260531150000","TransactionType":"CustomerPayBillOnline",` +
				`"Amount":25000,"PartyA":"254712000001","PartyB":"600123","PhoneNumber":"254712000001","CallBackURL":"<host>/",` +
				`"AccountReference":"SHOP/1","TransactionDesc":"Payment"}`,
			"POST /below/mpesa/stkpushquery/v1/query\nAuthorization: Bearer T\nContent-Type: application/json\n" +
				`{"BusinessShortCode":"600123","Password":"` + password + `","Timestamp":"20260531150000","CheckoutRequestID":"` + checkout + `"}`,
		},
	} {
		t.Run(string(operator), func(t *testing.T) {
			f := newFake(t, answers(http.StatusAccepted, `{}`))
			api := f.api(operator)
			_, _ = api.Collect(t.Context(), forwarded(operator))
			_, _ = api.Ask(t.Context(), forwarded(operator))
			uuid := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
			var got []string
			for _, line := range f.came {
				got = append(got, strings.TrimSuffix(strings.ReplaceAll(uuid.ReplaceAllString(line, "<uuid>"), f.URL, "<host>"), "\n"))
			}
			for i := range want {
				want[i] = strings.TrimSuffix(want[i], "\n")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// A payment has the same id at its operator in every request. Two payments have different ids even with the same
// reference: several sandboxes may use one account of a merchant, and a reset makes references free again.
func TestRequestHasTheTransactionsID(t *testing.T) {
	for operator, named := range map[payments.Operator]string{
		payments.MTN: "X-Reference-Id: ", payments.Airtel: `"RWF","id":"`, payments.Orange: `"order_id":"`,
		payments.Moov: `"mrchrefid":"`,
	} {
		t.Run(string(operator), func(t *testing.T) {
			f := newFake(t, answers(http.StatusAccepted, `{"status":{"success":true}}`))
			other := forwarded(operator)
			other.ID[15] = 9
			for _, transaction := range []*payments.Transaction{forwarded(operator), forwarded(operator), other} {
				_, _ = f.api(operator).Collect(t.Context(), transaction)
			}
			var ids []string
			for _, line := range f.came {
				if _, rest, found := strings.Cut(line, named); found {
					ids = append(ids, rest[:strings.IndexAny(rest, "\"\n")])
				}
			}
			if len(ids) != 3 || ids[0] != ids[1] || ids[1] == ids[2] || len(ids[0]) < 26 {
				t.Errorf("ids: %v", ids)
			}
		})
	}
}

func TestHostileOperators(t *testing.T) {
	const inTime = "did not answer in time"
	endless := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		reason string
	}{
		"hangs":      {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, inTime},
		"drips":      {func(w http.ResponseWriter, r *http.Request) { drip(w, r) }, inTime},
		"breaks off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
		"lies": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, "broke off"},
		"talks a lot": {answers(200, `{"a":"`+endless+`"}`), "too long"},
		"garbage":     {answers(200, "<html>"), "cannot be read"},
		"a list":      {answers(200, "[]"), "cannot be read"},
		"another way": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		}, "302"},
	} {
		for _, operator := range payments.Operators {
			t.Run(name+" "+string(operator), func(t *testing.T) {
				t.Parallel()
				f := newFake(t, c.answer)
				if c.reason == inTime {
					f.patience = 300 * time.Millisecond
				}
				_, err := f.api(operator).Ask(t.Context(), forwarded(operator))
				if err == nil || !strings.Contains(err.Error(), c.reason) && !(name == "another way" && strings.Contains(err.Error(), "cannot be read")) {
					t.Errorf("got %v, want %q", err, c.reason)
				}
				if err != nil && (strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "/below")) {
					t.Errorf("the error shows too much: %v", err)
				}
			})
		}
	}
}

// drip sends one byte after another until the client gives up.
func drip(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestUnavailable(t *testing.T) {
	const reason = `it "was" away`
	for _, operator := range payments.Operators {
		raw := operators.Unavailable(forwarded(operator), reason)
		text, _ := json.Marshal(reason)
		if !json.Valid(raw) || !strings.HasPrefix(string(raw), `{"_simulated":true,`) || !strings.Contains(string(raw), string(text)) {
			t.Errorf("%s: %s", operator, raw)
		}
	}
	if operators.Unavailable(forwarded("nosuch"), reason) != nil || operators.NewClient("nosuch", adapter.Access{}) != nil {
		t.Error("there is an operator that does not exist")
	}
}

func TestOperatorThatIsAskedUnderAnEndedContext(t *testing.T) {
	f := newFake(t, answers(202, ""))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.api(payments.MTN).Collect(ctx, forwarded(payments.MTN)); err == nil {
		t.Error("no error")
	}
	bad := f.access()
	bad.BaseURL = "http://[broken"
	_, err := operators.NewClient(payments.MTN, bad).Collect(t.Context(), forwarded(payments.MTN))
	if refused := new(adapter.ErrRefused); !errors.As(err, refused) || fmt.Sprint(err) != "the base URL of the operator's API cannot be read" {
		t.Errorf("got %v", err)
	}
}
