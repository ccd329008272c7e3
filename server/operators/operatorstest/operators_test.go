package operatorstest_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/operators/operatorstest"
	"github.com/cauri-dev/cauri/server/payments"
)

// fixture is a server of all operators. Its clock does not move by itself.
type fixture struct {
	*operatorstest.Operators
	t     *testing.T
	url   string
	http  *http.Client
	clock time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{t: t, clock: time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)}
	w.Operators = &operatorstest.Operators{Now: func() time.Time { return w.clock }, Answer: time.Second}
	server := httptest.NewServer(w.Operators)
	t.Cleanup(server.Close)
	w.url, w.http = server.URL, server.Client()
	return w
}

func (w *fixture) do(operator payments.Operator, c call) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), c.method, operatorstest.BaseURL(w.url+"/", operator)+c.path, strings.NewReader(c.body))
	if err != nil {
		w.t.Fatal(err)
	}
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	answer, err := w.http.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(body))
}

// forEach runs a test for every operator.
func forEach(t *testing.T, test func(t *testing.T, d dialect)) {
	for _, d := range dialects {
		t.Run(string(d.operator), func(t *testing.T) { test(t, d) })
	}
}

// in replaces the placeholders of an expected answer by values that differ from run to run.
func in(want string, what ...string) string {
	id := strings.Join(what, "")
	token := strings.Repeat(id, 64)[:min(64, 64*len(id))]
	return strings.NewReplacer("{id}", id, "{token}", token, "{token:32}", token[:len(token)/2]).Replace(want)
}

// answers makes a call with a token and compares its answer.
func (w *fixture) answers(d dialect, c call, token, what, want string, id ...string) {
	w.t.Helper()
	code, body := w.do(d.operator, c.with("Authorization", "Bearer "+token))
	if i := strings.Index(body, `"timestamp":"`); i >= 0 {
		body = body[:i+13] + "<time>" + body[i+13+len(time.RFC3339)-5:]
	}
	if diff := cmp.Diff(in(want, id...), fmt.Sprintf("%d %s", code, body)); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// token gets a token.
func (w *fixture) token(d dialect, id, secret string) string {
	w.t.Helper()
	code, body := w.do(d.operator, d.token(id, secret))
	var said struct {
		AccessToken string `json:"access_token"`
		Token       string `json:"token"`
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil || code != http.StatusOK || said.AccessToken+said.Token == "" {
		w.t.Fatalf("no token: %d %s", code, body)
	}
	return said.AccessToken + said.Token
}

func TestTokens(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		w := newFixture(t)
		missing, invalid := in(d.badToken, "missing"), in(d.badToken, "invalid or has expired")
		for _, c := range []call{d.pay, d.find} {
			for what, header := range map[string]string{
				missing: "", " " + missing: "Basic abc", invalid: "Bearer abc", " " + invalid: "bearer \xff",
			} {
				code, body := w.do(d.operator, c.with("Authorization", header))
				if diff := cmp.Diff(strings.TrimSpace(what), fmt.Sprintf("%d %s", code, body)); diff != "" {
					t.Errorf("%s with %q (-want +got):\n%s", c.path, header, diff)
				}
			}
		}
		token := w.token(d, "anybody", "anything")
		for _, other := range dialects {
			if other.operator != d.operator {
				w.answers(other, other.find, token, "a token of another operator", other.badToken, "invalid or has expired")
			}
		}
		w.answers(d, d.find, token, "a token", d.unknown)
		w.Expire()
		w.answers(d, d.find, token, "an expired token", d.badToken, "invalid or has expired")
	})
}

func TestTokensLiveAsLongAsTheOperatorSays(t *testing.T) {
	for operator, want := range map[payments.Operator]string{
		payments.MTN:    `{"access_token":"*","expires_in":3600,"token_type":"access_token"}`,
		payments.Airtel: `{"access_token":"*","expires_in":"180","token_type":"bearer"}`,
		payments.Orange: `{"access_token":"*","expires_in":3600,"token_type":"Bearer"}`,
	} {
		t.Run(string(operator), func(t *testing.T) {
			w := newFixture(t)
			for _, d := range dialects {
				if d.operator != operator {
					continue
				}
				_, body := w.do(operator, d.token("a", "b"))
				if i := strings.Index(body, `token":"`) + len(`token":"`); i > 8 {
					body = body[:i] + "*" + body[i+len(rand.Text()):]
				}
				if diff := cmp.Diff(want, body); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestBadRequests(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		w := newFixture(t)
		token := w.token(d, "a", "b")
		replace := func(old, replacement string) call {
			c := d.pay
			if c.body = strings.ReplaceAll(c.body, old, replacement); c.body == d.pay.body {
				t.Fatalf("there is no %s in %s", old, c.body)
			}
			return c
		}
		currency := "OUV"
		if strings.Contains(d.pay.body, "RWF") {
			currency = "RWF"
		}
		calls := map[string]call{
			"nothing": {method: "POST", path: d.pay.path, header: d.pay.header}, "no JSON": replace("{", "["), "no amount": replace("5000", "0"),
			"a negative amount": replace("5000", "-1"), "too much": replace("5000", "1000000000001"), "a fraction": replace("5000", "1.5"),
			"another currency": replace(currency, "EUR"), "a wrong type": replace(`"`+currency+`"`, "1"),
			"too long": replace("r1", strings.Repeat("x", 70_000)),
		}
		if d.operator == payments.Orange {
			calls["no URL"], calls["no merchant key"] = replace("https://c", "c"), replace(`"m"`, `""`)
		} else {
			calls["a plus sign"] = replace(`"2`, `"+2`)
		}
		if d.operator == payments.MTN {
			calls["no reference id"] = d.pay.with("X-Reference-Id", "")
			calls["a reference id that is no UUID"] = d.pay.with("X-Reference-Id", "r1")
			calls["a UUID of another version"] = d.pay.with("X-Reference-Id", "6f1f7e0e-3c1c-1a0b-9d55-0123456789ab")
			calls["no target"] = d.pay.with("X-Target-Environment", "")
			calls["another party"] = replace("MSISDN", "EMAIL")
		} else {
			calls["no reference"] = replace("r1", "")
			calls["a NUL"] = replace("r1", `\u0000`)
			calls["a long reference"] = replace("r1", strings.Repeat("x", 129))
		}
		if d.operator == payments.Airtel {
			calls["no country"], calls["another country"] = d.pay.with("X-Country", ""), replace(`"RW"`, `"CI"`)
			calls["no currency"] = d.pay.with("X-Currency", "XOF")
		}
		kept := map[payments.Operator]string{payments.MTN: `400 {"code":"BAD_REQUEST"`, payments.Airtel: `400 {"status":{"code":"400"`,
			payments.Orange: `400 {"code":24`}
		for what, c := range calls {
			code, body := w.do(d.operator, c.with("Authorization", "Bearer "+token))
			if got := fmt.Sprintf("%d %s", code, body); !strings.HasPrefix(got, kept[d.operator]) {
				t.Errorf("%s: %.300s", what, got)
			}
		}
		if made := w.Payments(); len(made) != 0 {
			t.Errorf("%d payments were made", len(made))
		}
	})
}

// A reference may contain any text. None leads to another payment, or out of the operator's paths.
func TestReferencesOfAnyForm(t *testing.T) {
	w := newFixture(t)
	d := dialects[1] // of Airtel
	token := w.token(d, "a", "b")
	for _, c := range []struct{ reference, escaped string }{
		{"..", "%2E%2E"}, {"a/b", "a%2Fb"}, {"a b?c#d", "a%20b%3Fc%23d"}, {"é%2F", "%C3%A9%252F"}, {"<&>", "%3C&%3E"},
	} {
		pay, find := d.pay, d.find
		text, _ := json.Marshal(c.reference)
		pay.body = strings.ReplaceAll(pay.body, `"r1"`, string(text))
		if code, body := w.do(d.operator, pay.with("Authorization", "Bearer "+token)); code != http.StatusOK {
			t.Errorf("%s: %d %s", c.reference, code, body)
		}
		find.path = "/standard/v1/payments/" + c.escaped
		code, body := w.do(d.operator, find.with("Authorization", "Bearer "+token))
		made := w.Payments()
		if last := made[len(made)-1]; code != http.StatusOK || last.Reference != c.reference || !strings.Contains(body, `"`+last.NativeID+`"`) {
			t.Errorf("%s: %d %s", c.reference, code, body)
		}
	}
}

func TestRequestsForOnePaymentAtOnce(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		w := newFixture(t)
		token := w.token(d, "a", "b")
		var mu sync.Mutex
		codes := map[int]int{}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				code, _ := w.do(d.operator, d.pay.with("Authorization", "Bearer "+token))
				mu.Lock()
				codes[code]++
				mu.Unlock()
			})
		}
		wg.Wait()
		accepted := codes[http.StatusOK] + codes[http.StatusAccepted] + codes[http.StatusCreated]
		if accepted != 1 || codes[http.StatusConflict]+codes[http.StatusBadRequest]+codes[http.StatusForbidden] != 9 {
			t.Errorf("answers: %v", codes)
		}
	})
}

// A payment is made once, and is pending until its payer answers. Only its reference finds it.
func TestPayment(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		w := newFixture(t)
		token := w.token(d, "anybody", "anything")
		w.answers(d, d.find, token, "before it is made", d.unknown)
		code, body := w.do(d.operator, d.pay.with("Authorization", "Bearer "+token))
		made := w.Payments()
		if len(made) != 1 {
			t.Fatalf("%d payments were made", len(made))
		}
		id := made[0].NativeID
		want := strings.ReplaceAll(in(d.accepted, id), "<time>", w.clock.Format(time.RFC3339))
		if diff := cmp.Diff(want, fmt.Sprintf("%d %s", code, body)); diff != "" {
			t.Errorf("making it (-want +got):\n%s", diff)
		}
		w.answers(d, d.pay, token, "the same again", d.duplicate)
		d.find.body = in(d.find.body, id)
		w.answers(d, d.find, token, "before the payer answers", d.pending, id)
		w.clock = w.clock.Add(time.Second)
		w.answers(d, d.find, token, "after the payer answered", d.success, id)
		w.answers(d, d.pay, token, "the same again", d.duplicate)

		other := d.find
		other.body = strings.Replace(d.find.body, "5000", "5001", 1)
		if other.body == "" {
			other.path = d.again
		}
		w.answers(d, other, token, "another payment", d.unknown)
		other.path = d.find.path + "/more"
		w.answers(d, other, token, "another path", d.unknownPath)
		if d.again != "" {
			other.path = d.find.path[:strings.LastIndexByte(d.find.path, '/')+1] + "%00%ff"
			w.answers(d, other, token, "what is no reference", d.unknown)
		}
		other = d.find
		other.method = "DELETE"
		w.answers(d, other, token, "another method", d.unknownPath)
	})
}

func TestCredentials(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		w := newFixture(t)
		refused := func(c call) {
			t.Helper()
			code, body := w.do(d.operator, c)
			if diff := cmp.Diff(d.badCredentials, fmt.Sprintf("%d %s", code, body)); diff != "" {
				t.Errorf("credentials (-want +got):\n%s", diff)
			}
		}
		for _, c := range []call{d.token("", ""), d.token("id", ""), d.token("", "secret"),
			{method: "POST", path: d.token("", "").path, body: "{"}} {
			refused(c)
		}
		w.token(d, "anybody", "anything")
		w.Clients = map[payments.Operator][]operatorstest.ClientSecret{d.operator: {{ID: "shop", Secret: "one"}, {ID: "kiosk", Secret: "two"}}}
		refused(d.token("anybody", "anything"))
		refused(d.token("shop", "two"))
		w.token(d, "shop", "one")
		w.token(d, "kiosk", "two")
	})
}
