package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
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

const (
	wanjiku    = "+254712000001" // a test client of M-Pesa
	mpesaToken = "/oauth/v1/generate?grant_type=client_credentials"
	mpesaPush  = "/mpesa/stkpush/v1/processrequest"
	mpesaQuery = "/mpesa/stkpushquery/v1/query"

	// What clients of Safaricom's sandbox have built in.
	publicShortCode = "174379"
	publicPasskey   = "bfb279f9aa9bdbcf158e97dd71a467cd2e0c893059b10f78e6b72ada1ed2c919"
	mpesaTime       = "20261128101500"
)

// mpesa is a client of M-Pesa's own API in a sandbox.
type mpesa struct {
	f    *fixture
	base string
	operatorapi.Credentials
	bearer string
}

func (f *fixture) mpesa(key string) *mpesa {
	return &mpesa{f: f, base: "/operators/mpesa", Credentials: operators.NativeAPI(payments.MPesa).Derive(key)}
}

func mpesaEnvironment() sandboxes.EnvironmentConfig {
	return sandboxes.EnvironmentConfig{Operator: payments.MPesa, Country: "KE", Enabled: true, UnknownPolicy: payments.Reject}
}

// withMPesa is a fixture whose sandbox has an environment of M-Pesa and a payer with this behavior.
func withMPesa(t *testing.T, behavior payments.Behavior) (*fixture, *mpesa) {
	f := newFixture(t)
	f.config.CallbackHosts = []string{"shop.example", "127.0.0.1"}
	f.config.Environments = append(f.config.Environments, mpesaEnvironment())
	f.config.OpeningFloat = map[payments.Currency]int64{"KES": 5000}
	f.sandbox(f.config, key)
	m := f.mpesa(key)
	m.client("wanjiku", wanjiku, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = behavior })
	return f, m
}

// client adds a test client in Kenya.
func (m *mpesa) client(name, msisdn string, balance int64, change ...func(*sandboxes.TestClientConfig)) {
	m.f.t.Helper()
	in := func(c *sandboxes.TestClientConfig) { c.Operator, c.Country = payments.MPesa, "KE" }
	m.f.client(name, msisdn, balance, append([]func(*sandboxes.TestClientConfig){in}, change...)...)
}

func prepareMPesa(f *fixture) {
	f.config.TestNumbers = payments.StandardTestNumbers
	f.config.Environments = append(f.config.Environments, mpesaEnvironment())
	f.config.OpeningFloat = map[payments.Currency]int64{"KES": 5000}
	f.sandbox(f.config, key)
	m := f.mpesa(key)
	m.client("wanjiku-njeri", wanjiku, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	m.client("poor-ke", "+254712000002", 10)
}

func mpesaNamed(f *fixture, name string) string {
	m := f.mpesa(key)
	switch name {
	case "token":
		return m.token()
	case "shortcode":
		return m.Secret["mpesa-shortcode"]
	case "initiator":
		return m.Secret["mpesa-initiator-name"]
	case "credential":
		return m.credential(m.Secret["mpesa-initiator-password"])
	case "receipt":
		checkout := m.pushed(m.push("", wanjiku, 500))
		f.approve(wanjiku)
		return m.receipt(checkout)
	case "pushpassword":
		return m.password(m.Secret["mpesa-shortcode"], m.Secret["mpesa-passkey"], mpesaTime)
	case "publicpassword":
		return m.password(publicShortCode, publicPasskey, mpesaTime)
	}
	return ""
}

func mpesaExamples(f *fixture) pageExamples {
	m := f.mpesa(key)
	m.client("achieng", "+254712345678", 50_000)
	checkout := ""
	return pageExamples{
		variables: []string{
			"PASSWORD=" + mpesaNamed(f, "pushpassword"), "SECURITY_CREDENTIAL=" + mpesaNamed(f, "credential"),
		},
		bearer: func(*operatorapi.Route) string { return m.token() },
		replaced: func(r *operatorapi.Route) []string {
			own := []string{"https://shop.example/callbacks", "https://shop.example/callbacks"}
			f.finish() // a phone has one prompt at a time
			if r.Name == "stkpushquery" {
				checkout = m.pushed(m.push("345678", "+254712345678", 5))
				own = append(own, "ws_CO_281120261015003712345678", checkout)
			}
			f.finish()
			// The password of the example is of the timestamp of the examples.
			return append(own, "20261128101500", mpesaTime)
		},
	}
}

// send makes a request. Headers come in pairs; an empty value removes one.
func (m *mpesa) send(method, path, body string, header ...string) nativeAnswer {
	m.f.t.Helper()
	r, err := http.NewRequestWithContext(m.f.t.Context(), method, m.f.url+m.base+path, strings.NewReader(body))
	if err != nil {
		m.f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			r.Header.Del(header[i])
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		m.f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		m.f.t.Fatal(err)
	}
	got := nativeAnswer{status: answer.StatusCode, header: answer.Header, raw: string(text)}
	isJSON := strings.HasPrefix(got.header.Get("Content-Type"), "application/json")
	if isJSON && len(text) > 0 && json.Unmarshal(text, &got.body) != nil {
		m.f.t.Fatalf("%s %s answered %s", method, path, text)
	}
	return got
}

// basic is the header of a request for a token.
func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

func (m *mpesa) token() string {
	m.f.t.Helper()
	got := m.send("GET", mpesaToken, "", "Authorization", basic(m.User, m.UserKey))
	token, _ := got.body["access_token"].(string)
	if got.status != http.StatusOK || token == "" {
		m.f.t.Fatalf("the token call answered %d %s", got.status, got.raw)
	}
	return token
}

// call makes a request with a token.
func (m *mpesa) call(method, path, body string, header ...string) nativeAnswer {
	m.f.t.Helper()
	if m.bearer == "" {
		m.bearer = m.token()
	}
	return m.send(method, path, body, append([]string{"Authorization", "Bearer " + m.bearer}, header...)...)
}

func (*mpesa) password(shortCode, passkey, timestamp string) string {
	return base64.StdEncoding.EncodeToString([]byte(shortCode + passkey + timestamp))
}

// signed are the first fields of a request of M-Pesa Express, of the public short code.
func (m *mpesa) signed() string {
	return fmt.Sprintf(`"BusinessShortCode":%q,"Password":%q,"Timestamp":%q`, publicShortCode, m.password(publicShortCode, publicPasskey, mpesaTime), mpesaTime)
}

// pushBody is the body of a push, with a URL of callbacks below the path.
func (m *mpesa) pushBody(callback, msisdn string, amount any) string {
	text, _ := json.Marshal(amount)
	number := strings.TrimPrefix(msisdn, "+")
	return fmt.Sprintf(`{%s,"TransactionType":"CustomerPayBillOnline","Amount":%s,"PartyA":%q,"PartyB":"174379","PhoneNumber":%[3]q,
		"CallBackURL":%q,"AccountReference":"order-1042","TransactionDesc":"Two tickets"}`, m.signed(), text, number, callback)
}

func (m *mpesa) push(_, msisdn string, amount any) nativeAnswer {
	m.f.t.Helper()
	return m.call("POST", mpesaPush, m.pushBody("https://shop.example/callbacks", msisdn, amount))
}

// pushed returns the CheckoutRequestID of a push that was accepted.
func (m *mpesa) pushed(got nativeAnswer) string {
	m.f.t.Helper()
	id, _ := got.body["CheckoutRequestID"].(string)
	if got.status != http.StatusOK || id == "" {
		m.f.t.Fatalf("a push is answered %d %s", got.status, got.raw)
	}
	return id
}

func (m *mpesa) query(checkout string) nativeAnswer {
	m.f.t.Helper()
	return m.call("POST", mpesaQuery, fmt.Sprintf(`{%s,"CheckoutRequestID":%q}`, m.signed(), checkout))
}

// result is the code and the text of a query, or else status and code of an error.
func (m *mpesa) result(checkout string) string {
	m.f.t.Helper()
	got := m.query(checkout)
	if code, isError := got.body["errorCode"]; isError {
		return fmt.Sprint(got.status, " ", code, " ", got.body["errorMessage"])
	}
	return fmt.Sprint(got.body["ResultCode"], " ", got.body["ResultDesc"])
}

func TestMPesaTokens(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	got := m.send("GET", mpesaToken, "", "Authorization", basic(m.User, m.UserKey))
	form := regexp.MustCompile(`^\{"access_token":"[0-9A-Za-z]{28}","expires_in":"3599"\}$`)
	if !form.MatchString(got.raw) {
		t.Errorf("the token call answers %s", got.raw)
	}
	older := got.body["access_token"].(string)
	newer := m.token()
	for _, token := range []string{older, newer} {
		m.bearer = token
		if got := m.query("ws_CO_281120261015003712345678"); got.body["errorCode"] != "500.001.1001" {
			t.Errorf("a token is answered %d %s", got.status, got.raw)
		}
	}
	for name, c := range map[string]struct{ path, authorization, want string }{
		"no credentials":  {mpesaToken, "", "400.008.01"},
		"another secret":  {mpesaToken, basic(m.User, m.UserKey[:39]+"0"), "400.008.01"},
		"another key":     {mpesaToken, basic(strings.Repeat("a", 48), m.UserKey), "400.008.01"},
		"a short key":     {mpesaToken, basic("A", m.UserKey), "400.008.01"},
		"another scheme":  {mpesaToken, "Bearer " + newer, "400.008.01"},
		"no grant type":   {"/oauth/v1/generate", basic(m.User, m.UserKey), "400.008.02"},
		"another grant":   {"/oauth/v1/generate?grant_type=password", basic(m.User, m.UserKey), "400.008.02"},
		"the whole key":   {mpesaToken, basic(m.Key, m.UserKey), "400.008.01"},
		"a foreign store": {mpesaToken, basic(f.mpesa(otherKey).User, f.mpesa(otherKey).UserKey), "400.008.01"},
	} {
		if got := m.send("GET", c.path, "", "Authorization", c.authorization); got.status != http.StatusBadRequest || got.body["errorCode"] != c.want {
			t.Errorf("%s is answered %d %s", name, got.status, got.raw)
		}
	}
	for _, token := range []string{"", newer[:27], newer + "0", newer[:14] + strings.Repeat("0", 14), strings.Repeat("0", 28)} {
		got := m.send("POST", mpesaQuery, "{}", "Authorization", "Bearer "+token)
		if got.status != http.StatusNotFound || got.body["errorCode"] != "404.001.03" || got.body["errorMessage"] != "Invalid Access Token" {
			t.Errorf("the token %q is answered %d %s", token, got.status, got.raw)
		}
	}
}

func TestMPesaPush(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	f.startClock()
	got := m.push("", wanjiku, 500)
	checkout := m.pushed(got)
	form := regexp.MustCompile(`^ws_CO_[0-9]{15}712000001$`)
	request := regexp.MustCompile(`^[0-9a-f]{4}(-[0-9a-f]{4}){2}-[0-9a-f]{12}[0-9]{4,7}$`)
	if !form.MatchString(checkout) || !request.MatchString(got.body["MerchantRequestID"].(string)) || got.body["ResponseCode"] != "0" {
		t.Errorf("a push is answered %s", got.raw)
	}
	made, err := time.ParseInLocation("02012006150405", checkout[6:20], time.FixedZone("EAT", 3*60*60))
	if away := time.Since(made).Abs(); err != nil || away > time.Hour {
		t.Errorf("%s is not of now in Nairobi, but %s away", checkout, away)
	}
	if got := m.result(checkout); got != "4999 The transaction is still under processing" {
		t.Errorf("while the phone rings the query answers %s", got)
	}
	f.approve(wanjiku)
	if got := m.result(checkout); got != "0 The service request is processed successfully." {
		t.Errorf("after the payment the query answers %s", got)
	}
	t.Run("v1 says the same", func(t *testing.T) {
		found := f.call("GET", "/v1/payments?reference="+checkout, nil)
		for _, part := range []string{`"SUCCESS"`, `"order-1042"`, `"KES"`, `"raw":{"_simulated":true,"MerchantRequestID":`} {
			if strings.Count(found.raw, checkout) < 2 || !strings.Contains(strings.ReplaceAll(found.raw, `": `, `":`), part) {
				t.Errorf("/v1 says %s", found.raw)
			}
		}
	})
	t.Run("own short code", func(t *testing.T) {
		code := m.Secret["mpesa-shortcode"]
		own := strings.NewReplacer(
			publicShortCode, code, m.password(publicShortCode, publicPasskey, mpesaTime), m.password(code, m.Secret["mpesa-passkey"], mpesaTime),
		).Replace(m.pushBody("https://shop.example/x", wanjiku, 10))
		m.pushed(m.call("POST", mpesaPush, own))
	})
}

// A phone has one prompt at a time.
func TestMPesaLocks(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	m.pushed(m.push("", wanjiku, 500))
	got := m.push("", wanjiku, 500)
	if got.status != http.StatusInternalServerError || got.body["errorCode"] != "500.001.1001" ||
		!strings.HasPrefix(got.body["errorMessage"].(string), "Unable to lock subscriber") {
		t.Errorf("a second push is answered %d %s", got.status, got.raw)
	}
	if n := f.transactions(); n != 1 {
		t.Errorf("%d transactions were recorded", n)
	}
	f.approve(wanjiku)
	m.pushed(m.push("", wanjiku, 500)) // the same amount again
}

// One of several pushes that come at once rings, and the others are refused.
func TestMPesaLocksAtOnce(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	f.config.Clock = sandboxes.ClockConfig{Mode: sandboxes.ManualClock, Start: new(time.Date(2026, 11, 28, 7, 15, 0, 0, time.UTC))}
	f.sandbox(f.config, key)
	f.follow()
	m.bearer = m.token()
	var all sync.WaitGroup
	answers := make(chan nativeAnswer, 8)
	for range cap(answers) {
		all.Go(func() { answers <- m.push("", wanjiku, 500) })
	}
	all.Wait()
	close(answers)
	counts := map[string]int{}
	for got := range answers {
		counts[fmt.Sprint(got.status, " ", got.body["errorMessage"])]++
	}
	if counts["200 <nil>"] != 1 || len(counts) != 2 || f.transactions() != 1 {
		t.Errorf("the answers are %v, and %d payments were recorded", counts, f.transactions())
	}
}

func TestMPesaPromptEnds(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	checkout := m.pushed(m.push("", wanjiku, 500))
	var seconds float64
	err := ledgertest.Connect(t, f.db).QueryRow(t.Context(), "select extract(epoch from expires_at - created_at) from transactions").Scan(&seconds)
	if err != nil || seconds < 60 || seconds > 61 {
		t.Errorf("the prompt ends after %v s (%v)", seconds, err)
	}
	f.finish()
	if got := m.result(checkout); got != "1037 DS timeout user cannot be reached." {
		t.Errorf("after a minute the query answers %s", got)
	}
}

func TestMPesaTimestamps(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	m.pushed(m.push("", wanjiku, 5)) // a timestamp of long ago
	f.finish()
	f.config.Environments[3].Quirks = map[string]bool{"mpesaStrictTimestamp": true}
	f.sandbox(f.config, key)
	f.follow()
	for name, c := range map[string]struct {
		at   time.Time
		want int
	}{
		"Nairobi's": {time.Now().In(time.FixedZone("EAT", 3*60*60)), http.StatusOK},
		"UTC":       {time.Now().UTC(), http.StatusBadRequest},
	} {
		at := c.at.Format("20060102150405")
		signed := func(at string) string { return m.password(publicShortCode, publicPasskey, at) }
		body := strings.NewReplacer(mpesaTime, at, signed(mpesaTime), signed(at)).
			Replace(m.pushBody("https://shop.example/callbacks", wanjiku, 5))
		got := m.call("POST", mpesaPush, body)
		if got.status != c.want || c.want != http.StatusOK && got.body["errorMessage"] != "Bad Request - Invalid Timestamp" {
			t.Errorf("the time of %s is answered %d %s", name, got.status, got.raw)
		}
	}
}

func TestMPesaRefusals(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	good := m.pushBody("https://shop.example/callbacks", wanjiku, 5)
	field := func(name, value string) string {
		var all map[string]json.RawMessage
		if err := json.Unmarshal([]byte(good), &all); err != nil {
			t.Fatal(err)
		}
		if all[name] = json.RawMessage(value); value == "" {
			delete(all, name)
		}
		text, _ := json.Marshal(all)
		return string(text)
	}
	const failed = "500.001.1001 "
	for name, c := range map[string]struct {
		body, want string
		status     int
	}{
		"no JSON":              {"{", "400.002.02 Bad Request - Invalid BusinessShortCode", 400},
		"nothing":              {"", "400.002.02 Bad Request - Invalid BusinessShortCode", 400},
		"no short code":        {field("BusinessShortCode", ""), "400.002.02 Bad Request - Invalid BusinessShortCode", 400},
		"another short code":   {field("BusinessShortCode", "600000"), failed + "Merchant does not exist", 500},
		"no time":              {field("Timestamp", ""), "400.002.02 Bad Request - Invalid Timestamp", 400},
		"no such time":         {field("Timestamp", `"20261328101500"`), "400.002.02 Bad Request - Invalid Timestamp", 400},
		"another time":         {field("Timestamp", `"20261128101501"`), failed + "Wrong credentials", 500},
		"no password":          {field("Password", ""), "400.002.02 Bad Request - Invalid Password", 400},
		"another password":     {field("Password", `"x"`), failed + "Wrong credentials", 500},
		"another type":         {field("TransactionType", `"CustomerPayBill"`), "400.002.02 Bad Request - Invalid TransactionType", 400},
		"an object":            {field("Amount", `{}`), "400.002.02 Bad Request - Invalid Amount", 400},
		"zero":                 {field("Amount", `0`), "400.002.02 Bad Request - Invalid Amount", 400},
		"a fraction":           {field("Amount", `"1.5"`), "400.002.02 Bad Request - Invalid Amount", 400},
		"a national number":    {field("PhoneNumber", `"0712000001"`), "400.002.02 Bad Request - Invalid PhoneNumber", 400},
		"a plus sign":          {field("PartyA", `"+254712000001"`), "400.002.02 Bad Request - Invalid PartyA", 400},
		"no till":              {field("PartyB", `"x"`), "400.002.02 Bad Request - Invalid PartyB", 400},
		"no URL":               {field("CallBackURL", `"x"`), "400.002.02 Bad Request - Invalid CallBackURL", 400},
		"a URL of another":     {field("CallBackURL", `"https://other.example/x"`), "400.002.02 Bad Request - Invalid CallBackURL", 400},
		"a URL without port":   {field("CallBackURL", `"http://127.0.0.1:99999/x"`), "400.002.02 Bad Request - Invalid CallBackURL", 400},
		"no reference":         {field("AccountReference", ""), "400.002.02 Bad Request - Invalid AccountReference", 400},
		"a long reference":     {field("AccountReference", `"`+strings.Repeat("x", 81)+`"`), "400.002.02 Bad Request - Invalid AccountReference", 400},
		"no description":       {field("TransactionDesc", ""), "400.002.02 Bad Request - Invalid Remarks", 400},
		"small letters":        {strings.ReplaceAll(good, "PartyA", "partyA"), "400.002.02 Bad Request - Invalid PartyA", 400},
		"other capitals":       {strings.ReplaceAll(good, "CallBackURL", "CallbackUrl"), "400.002.02 Bad Request - Invalid CallBackURL", 400},
		"a list as short code": {field("BusinessShortCode", `[]`), "400.002.02 Bad Request - Invalid BusinessShortCode", 400},
	} {
		got := m.call("POST", mpesaPush, c.body)
		if told := fmt.Sprint(got.body["errorCode"], " ", got.body["errorMessage"]); got.status != c.status || told != c.want {
			t.Errorf("%s is answered %d %s, want %s", name, got.status, got.raw, c.want)
		}
		if got.header.Get("X-Cauri-Reason") == "" || got.body["requestId"] == "" {
			t.Errorf("%s has no reason or id: %v %s", name, got.header, got.raw)
		}
	}
	if got := m.call("POST", mpesaPush, good, "Content-Type", "text/plain"); got.body["errorMessage"] != "Bad Request - Invalid BusinessShortCode" {
		t.Errorf("another content type is answered %d %s", got.status, got.raw)
	}
	for call, want := range map[string]string{
		"GET " + mpesaPush: "405 405.001", "POST /mpesa/none": "404 404.001.01", "POST ": "404 404.001.01", "POST /": "404 404.001.01", "POST /oauth/v1/generate": "405 405.001",
	} {
		method, path, _ := strings.Cut(call, " ")
		if got := m.call(method, path, ""); fmt.Sprint(got.status, " ", got.body["errorCode"]) != want {
			t.Errorf("%s is answered %d %s", call, got.status, got.raw)
		}
	}
	if got := m.result("ws_CO_281120261015003712345678"); got != "500 500.001.1001 The transaction does not Exist" {
		t.Errorf("an unknown push is answered %s", got)
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d transactions were recorded", n)
	}
	for i, change := range [][2]string{
		{`"Amount":5`, `"Amount":"5.0"`}, {`"PhoneNumber":"254712000001"`, `"PhoneNumber":254712000001`}, {`"order-1042"`, `"fifteen-letters"`},
		{`"CustomerPayBillOnline"`, `"CustomerBuyGoodsOnline"`}, {`"CustomerPayBillOnline"`, `"CustomerPayBillOnline "`},
		{`"PartyB":"174379"`, `"PartyB":600000`}, {`"BusinessShortCode":"174379"`, `"BusinessShortCode":174379`},
		{`"Amount":5`, `"Amount":5,"amount":999`},
	} {
		if got := m.call("POST", mpesaPush, strings.Replace(good, change[0], change[1], 1)); got.status != http.StatusOK {
			t.Errorf("%d is answered %s", i, got.raw)
		}
		f.finish()
	}
	if most := read[int64](f, "select max(amount) from transactions"); most != 5 {
		t.Errorf("somebody pays %d", most)
	}
}

// Each outcome is told by the query, in the callback, and by /v1.
func TestMPesaOutcomes(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	f.config.TestNumbers = payments.StandardTestNumbers
	f.sandbox(f.config, key)
	m.client("poor", "+254712000002", 1)
	m.client("blocked", "+254712000003", 50_000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	for number, behavior := range map[string]payments.Behavior{"4": payments.Cancel, "5": payments.WrongPIN, "6": payments.Ignore} {
		m.client("client-"+number, "+25471200000"+number, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = behavior })
	}
	most := int64(1000)
	f.config.Environments[3].MaxAmount = &most
	for _, vague := range []bool{false, true} {
		f.config.Environments[3].Vague = vague
		f.sandbox(f.config, key)
		f.follow()
		for number, want := range map[string]string{
			"+254712000001": "0 The service request is processed successfully.", "+254712000002": "1 The balance is insufficient for the transaction.",
			"+254712000003": "8006 The security credential is locked.", "+254712000004": "1032 Request Cancelled by user.",
			"+254712000005": "2001 The initiator information is invalid.", "+254712000006": "1037 DS timeout user cannot be reached.",
			"+254712999999": "1037 DS timeout user cannot be reached.",
		} {
			checkout := m.pushed(m.push("", number, 500))
			f.finish()
			if vague && number != "+254712000001" {
				want = "9999 The transaction failed."
			}
			if got := m.result(checkout); got != want {
				t.Errorf("%s, vague %t: the query answers %s, want %s", number, vague, got, want)
			}
		}
	}
	f.config.Environments[3].Vague = false
	f.sandbox(f.config, key)
	f.follow()
	checkout := m.pushed(m.push("", wanjiku, 1001))
	f.finish()
	if got := m.result(checkout); got != "3 Declined due to limit rule: greater than the maximum transaction amount." {
		t.Errorf("beyond the limit the query answers %s", got)
	}
}

// shopOfCallbacks keeps the callbacks that come, with their headers.
func shopOfCallbacks(t *testing.T, answer int) (address string, came chan *http.Request) {
	came = make(chan *http.Request, 100)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		came <- r
		w.WriteHeader(answer)
	}))
	t.Cleanup(shop.Close)
	return shop.URL, came
}

// A callback comes once, whatever the shop answers. It has the types and the texts of Safaricom's, and no signature.
func TestMPesaCallbacks(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	m.client("cancels", "+254712000004", 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Cancel })
	shop, came := shopOfCallbacks(t, http.StatusInternalServerError)
	f.runWorker()
	for number, form := range map[string]string{
		wanjiku: `^\{"Body":\{"stkCallback":\{"MerchantRequestID":"[0-9a-f-]+","CheckoutRequestID":"CHECKOUT","ResultCode":0,` +
			`"ResultDesc":"The service request is processed successfully\.","CallbackMetadata":\{"Item":\[\{"Name":"Amount","Value":500\.00\},` +
			`\{"Name":"MpesaReceiptNumber","Value":"[A-Z][A-L][1-9A-V][0-9A-Z]{7}"\},\{"Name":"Balance"\},\{"Name":"TransactionDate","Value":[0-9]{14}\},` +
			`\{"Name":"PhoneNumber","Value":254712000001\}\]\}\}\}\}$`,
		"+254712000004": `^\{"Body":\{"stkCallback":\{"MerchantRequestID":"[0-9a-f-]+","CheckoutRequestID":"CHECKOUT","ResultCode":1032,` +
			`"ResultDesc":"Request cancelled by user"\}\}\}$`,
	} {
		checkout := m.pushed(m.call("POST", mpesaPush, m.pushBody(shop+"/pay/a%2Fb/"+number[1:], number, 500)))
		f.settle()
		got := <-came
		body, _ := io.ReadAll(got.Body)
		if !regexp.MustCompile(strings.Replace(form, "CHECKOUT", checkout, 1)).Match(body) {
			t.Errorf("the callback is %s", body)
		}
		if got.Header.Get("Content-Type") != "application/json;charset=UTF-8" || got.Header.Get("BusinessShortCode") != publicShortCode {
			t.Errorf("the callback has the headers %v", got.Header)
		}
		if want := "/pay/a%2Fb/" + number[1:]; got.URL.EscapedPath() != want || got.Header.Get("X-Cauri-Signature") != "" {
			t.Errorf("the callback went to %s with %v", got.URL.EscapedPath(), got.Header)
		}
	}
	if len(came) > 0 {
		t.Errorf("%d callbacks came again", len(came))
	}
}

// A fault sets the code of a failure: a number in the callback, and a text if it is none.
func TestMPesaReasons(t *testing.T) {
	f, m := withMPesa(t, payments.Cancel)
	shop, came := shopOfCallbacks(t, http.StatusOK)
	f.runWorker()
	for reason, want := range map[string][2]string{
		"1019": {"1019 Transaction has expired", `"ResultCode":1019,"ResultDesc":"Transaction has expired"}`},
		"E3008": {
			"E3008 Error, the user has a bad debt contract.", `"ResultCode":"E3008","ResultDesc":"Error, the user has a bad debt contract."}`,
		},
		"1037": {"1037 DS timeout user cannot be reached.", `"ResultCode":1037,"ResultDesc":"No response from user."}`},
		"4242": {"4242 The transaction failed.", `"ResultCode":4242,"ResultDesc":"The transaction failed."}`},
	} {
		f.faulty(fmt.Sprintf(`[{"name":"f%s","when":{"operator":"mpesa"},"operator":{"reason":%[1]q}}]`, reason))
		checkout := m.pushed(m.call("POST", mpesaPush, m.pushBody(shop+"/"+reason, wanjiku, 500)))
		f.settle()
		body, _ := io.ReadAll((<-came).Body)
		if !strings.Contains(string(body), want[1]) {
			t.Errorf("%s: the callback is %s", reason, body)
		}
		if got := m.result(checkout); got != want[0] {
			t.Errorf("%s: the query says %s", reason, got)
		}
	}
}

func TestMPesaFaults(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	m.bearer = m.token()
	fault := func(name string, status int) {
		f.faulty(fmt.Sprintf(`[{"name":"%s-%d","when":{"path":"/operators/mpesa/*","first":1},"operator":{"status":%[2]d}}]`, name, status))
	}
	for status, want := range map[int]string{429: "500.003.02", 500: "500.003.1001"} {
		fault("common", status)
		if got := m.push("", wanjiku, 5); got.status != status || got.body["errorCode"] != want {
			t.Errorf("a fault with %d is answered %d %s", status, got.status, got.raw)
		}
	}
	for what, send := range map[string]func() nativeAnswer{
		"push":  func() nativeAnswer { return m.push("", wanjiku, 5) },
		"token": func() nativeAnswer { return m.send("GET", mpesaToken, "", "Authorization", basic(m.User, m.UserKey)) },
	} {
		fault(what, http.StatusServiceUnavailable)
		if got := send(); got.status != http.StatusServiceUnavailable || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") ||
			!strings.Contains(got.raw, "Incapsula") || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: a fault with 503 is answered %d %v %s", what, got.status, got.header, got.raw)
		}
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d transactions were recorded", n)
	}
}
