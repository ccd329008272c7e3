package httpapi_test

import (
	"cmp"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// pinKey is the key for PINs of the served installation.
var pinKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// airtel is a client of Airtel's own API in a sandbox.
type airtel struct {
	f    *fixture
	base string
	operatorapi.Credentials
	bearer string
}

func (f *fixture) airtel(key string) *airtel {
	return &airtel{f: f, base: "/operators/airtel", Credentials: operators.NativeAPI(payments.Airtel).Derive(key)}
}

// withAirtel is a fixture whose sandbox has an environment of Airtel.
func withAirtel(t *testing.T) (*fixture, *airtel) {
	f := newFixture(t)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 5000}
	f.enable(payments.Airtel)
	f.clients = payments.Airtel
	return f, f.airtel(key)
}

// send makes a request. Headers come in pairs; an empty value removes one.
func (a *airtel) send(method, path, body string, header ...string) nativeAnswer {
	a.f.t.Helper()
	r, err := http.NewRequestWithContext(a.f.t.Context(), method, a.f.url+a.base+path, strings.NewReader(body))
	if err != nil {
		a.f.t.Fatal(err)
	}
	for _, h := range [][2]string{{"Content-Type", "application/json"}, {"X-Country", "RW"}, {"X-Currency", "RWF"}} {
		r.Header.Set(h[0], h[1])
	}
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			r.Header.Del(header[i])
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		a.f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		a.f.t.Fatal(err)
	}
	got := nativeAnswer{status: answer.StatusCode, header: answer.Header, raw: string(text)}
	if len(text) > 0 && json.Unmarshal(text, &got.body) != nil {
		a.f.t.Fatalf("%s %s answered %s", method, path, text)
	}
	return got
}

func (a *airtel) token() string {
	a.f.t.Helper()
	got := a.send("POST", "/auth/oauth2/token", a.grant(a.User, a.UserKey))
	token, _ := got.body["access_token"].(string)
	if got.status != http.StatusOK || token == "" {
		a.f.t.Fatalf("the token call answered %d %s", got.status, got.raw)
	}
	return token
}

func (a *airtel) grant(id, secret string) string {
	return fmt.Sprintf(`{"client_id":%q,"client_secret":%q,"grant_type":"client_credentials"}`, id, secret)
}

// call makes a request with a token.
func (a *airtel) call(method, path, body string, header ...string) nativeAnswer {
	a.f.t.Helper()
	if a.bearer == "" {
		a.bearer = a.token()
	}
	return a.send(method, path, body, append([]string{"Authorization", "Bearer " + a.bearer}, header...)...)
}

func (a *airtel) sealed(pin string) string {
	text, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, &pinKey().PublicKey, []byte(pin), nil)
	if err != nil {
		a.f.t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(text)
}

func airtelNamed(f *fixture, name string) string {
	a := f.airtel(key)
	switch name {
	case "token":
		return a.token()
	case "pin":
		return a.sealed(a.Secret["airtel-pin"])
	case "wrongpin":
		return a.sealed("no")
	}
	variant, isPIN := strings.CutPrefix(name, "pin")
	public := &pinKey().PublicKey
	if variant == "fixed" { // a key of 1024 bits
		public = &smallKey().PublicKey
	}
	o, known := map[string]*rsa.OAEPOptions{
		"java": {Hash: crypto.SHA256, MGFHash: crypto.SHA1}, "php": {Hash: crypto.SHA1}, "node": {Hash: crypto.SHA1}, "v15": nil, "fixed": nil,
	}[variant]
	if !isPIN || !known {
		return ""
	}
	return sealedAs(f.t, public, a.Secret["airtel-pin"], o)
}

// smallKey has 1024 bits, as the fixed key in Airtel's documents.
var smallKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		panic(err)
	}
	return key
})

func airtelExamples(f *fixture) pageExamples {
	api, a := operators.NativeAPI(payments.Airtel), f.airtel(key)
	payer := "+250" + api.Examples["msisdn"]
	f.client("alice-uwase", payer, 50_000, func(c *sandboxes.TestClientConfig) {
		c.Operator, c.Behavior = payments.Airtel, payments.Manual
	})
	last := map[string]string{} // ids by call
	return pageExamples{
		variables: []string{"PIN=" + a.sealed(a.Secret["airtel-pin"])},
		bearer:    func(*operatorapi.Route) string { return a.token() },
		replaced: func(r *operatorapi.Route) []string {
			switch {
			case r.Name == "refund":
				paid := newReference()
				a.pay(paid, payer)
				f.approve(payer)
				return []string{"MP261126.2013.L06941", a.moneyID(paid)}
			case r.Method == http.MethodPost:
				last[r.Name] = newReference()
			}
			return []string{api.Examples["id"], cmp.Or(last[r.Name], "none")}
		},
	}
}

// moneyID is Airtel's id of a payment that was paid.
func (a *airtel) moneyID(id string) string {
	a.f.t.Helper()
	paid, _ := a.call("GET", airtelEnquiry+id, "").body["data"].(object)["transaction"].(object)["airtel_money_id"].(string)
	if paid == "" {
		a.f.t.Fatalf("%s was not paid", id)
	}
	return paid
}

func airtelPay(id, msisdn string, amount any) string {
	text, _ := json.Marshal(amount)
	return fmt.Sprintf(`{"reference":"order 1042","subscriber":{"country":"RW","currency":"RWF","msisdn":%q},
		"transaction":{"amount":%s,"country":"RW","currency":"RWF","id":%q}}`, strings.TrimPrefix(msisdn, "+250"), text, id)
}

// state is what an enquiry tells.
func (a *airtel) state(path string) string {
	a.f.t.Helper()
	got := a.call("GET", path, "")
	if got.body["data"] == nil {
		return fmt.Sprint(got.status, " ", got.body["status"])
	}
	t, s := got.body["data"].(object)["transaction"].(object), got.body["status"].(object)
	return fmt.Sprint(t["status"], " ", s["response_code"], " ", s["success"], " ", t["airtel_money_id"] != nil, " ", got.header.Get("X-Cauri-Fault"))
}

const airtelPayments, airtelEnquiry = "/merchant/v2/payments/", "/standard/v1/payments/"

func (a *airtel) pay(id, msisdn string) {
	a.f.t.Helper()
	a.call("POST", airtelPayments, airtelPay(id, msisdn, 1000)).is(a.f.t, http.StatusOK, fmt.Sprintf(
		`{"data":{"transaction":{"id":%q,"status":"SUCCESS"}},"status":{"code":"200","message":"SUCCESS","result_code":"ESB000010",`+
			`"response_code":"DP00800001006","success":true}}`, id))
}

func TestAirtelPayment(t *testing.T) {
	f, a := withAirtel(t)
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	a.pay("p-1", alice)
	if got := a.state(airtelEnquiry + "p-1"); got != "TIP DP00800001006 true false " {
		t.Errorf("pending it is %q", got)
	}
	listed := f.page("reference=p-1").body["data"].([]any)[0].(object)
	if listed["source"] != "native" || listed["orderRef"] != "order 1042" || listed["operator"] != "airtel" || listed["msisdn"] != alice {
		t.Errorf("/v1 lists %v", listed)
	}
	f.approve(alice)
	if got := a.state(airtelEnquiry + "p-1"); got != "TS DP00800001001 true true " {
		t.Errorf("paid it is %q", got)
	}
	const duplicate = `{"status":{"code":"500","message":"External Transaction ID already exists.","result_code":"ESB000041",` +
		`"response_code":"DP00800001000","success":false}}`
	a.call("POST", airtelPayments, airtelPay("p-1", alice, 5)).is(t, http.StatusOK, duplicate)
	if got := f.call("POST", "/v1/payments", payment("p-1")); got.status != http.StatusConflict {
		t.Errorf("/v1 with the id answered %d", got.status)
	}
	for _, id := range []string{"none", "p-1"} {
		if got := a.state("/standard/v2/disbursements/" + id); !strings.Contains(got, "DP00900001015") {
			t.Errorf("a disbursement %s is %q", id, got)
		}
	}
	f.conserved()
}

// Any id that a payment may have is found in the path of its enquiry, where clients escape it.
func TestAirtelIDsInPaths(t *testing.T) {
	f, a := withAirtel(t)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 50_000}
	f.client("alice", alice, 50_000)
	ids := []string{"order/1042", "/", "a%2Fb", "a//b/", "..", "a b?c#d", "é+", "v1_0-1.2~3"}
	for _, id := range ids {
		a.pay(id, alice)
		a.call("POST", "/standard/v2/disbursements", airtelPayout("to "+id, alice, a.sealed(a.Secret["airtel-pin"]), 100))
	}
	f.finish()
	for _, id := range ids {
		for _, base := range []string{"/operators/airtel", "/sandboxes/team/checkout/operators/airtel/"} {
			a.base = base
			if got := a.state(airtelEnquiry + url.PathEscape(id)); got != "TS DP00800001001 true true " {
				t.Errorf("%q is %q", id, got)
			}
			if got := a.state("/standard/v2/disbursements/" + url.PathEscape("to "+id)); got != "TS DP00900001001 true true " {
				t.Errorf("the disbursement %q is %q", "to "+id, got)
			}
		}
		refund := fmt.Sprintf(`{"transaction":{"airtel_money_id":%q}}`, a.moneyID(url.PathEscape(id)))
		if got := a.call("POST", "/standard/v1/payments/refund", refund); !strings.Contains(got.raw, "DP00800001006") {
			t.Errorf("the refund of %q is answered %s", id, got.raw)
		}
	}
	f.conserved()
}

func TestAirtelTokens(t *testing.T) {
	f, a := withAirtel(t)
	form := "client_id=" + a.User + "&client_secret=" + a.UserKey + "&grant_type=client_credentials"
	for _, body := range []string{a.grant(a.User, a.UserKey), form} {
		got := a.send("POST", "//auth//oauth2//token/", body, "X-Country", "", "X-Currency", "")
		if got.status != http.StatusOK || got.body["expires_in"] != 180.0 || got.body["token_type"] != "bearer" {
			t.Errorf("it is answered %d %s", got.status, got.raw)
		}
	}
	const wrong, path, grant = `{"error_description":"Invalid client authentication","error":"invalid_client"}`, "/auth/oauth2/token",
		`{"grant_type": "client_credentials"}`
	basic := func(id, secret string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
	}
	for _, body := range []string{grant, "grant_type=client_credentials", `{"client_id": "` + a.User + `", "grant_type": "client_credentials"}`} {
		if got := a.send("POST", path, body, "Authorization", basic(a.User, a.UserKey)); got.status != http.StatusOK {
			t.Errorf("Basic authentication with %s is answered %d %s", body, got.status, got.raw)
		}
	}
	for _, pair := range [][2]string{{a.User, "x"}, {"x", a.UserKey}, {"", ""}, {a.User, ""}, {a.UserKey, a.User}} {
		a.send("POST", path, a.grant(pair[0], pair[1])).is(t, http.StatusBadRequest, wrong)
		got := a.send("POST", path, grant, "Authorization", basic(pair[0], pair[1]))
		if got.is(t, http.StatusUnauthorized, wrong); got.header.Get("WWW-Authenticate") != `Basic realm="OAuth2.0"` {
			t.Errorf("the header is %q", got.header.Get("WWW-Authenticate"))
		}
	}
	a.send("POST", path, grant).is(t, http.StatusBadRequest, wrong)
	// Both in the body come first.
	if got := a.send("POST", path, a.grant(a.User, a.UserKey), "Authorization", basic("x", "y")); got.status != http.StatusOK {
		t.Errorf("a body beside another authentication is answered %d %s", got.status, got.raw)
	}
	for quirk, want := range map[bool]any{false: "180", true: 180.0} {
		f.config.Environments[1].Quirks = map[string]bool{"airtelNumericExpiry": quirk}
		f.sandbox(f.config, key)
		f.follow()
		if got := a.send("POST", path, a.grant(a.User, a.UserKey)); got.body["expires_in"] != want {
			t.Errorf("with airtelNumericExpiry: %t it is answered %s", quirk, got.raw)
		}
	}
	f.exec("insert into clocks (tenant) select tenant from organizations where name = 'checkout'")
	f.exec("update organizations set clocked = true where name = 'checkout'")
	f.exec("update config_version set version = version + 1")
	f.exec("update organizations set version = (select version from config_version) where name = 'checkout'")
	f.follow()
	const balance = "/standard/v1/users/balance"
	if got := a.call("GET", balance, ""); got.status != http.StatusOK {
		t.Errorf("a new token is answered %d %s", got.status, got.raw)
	}
	f.exec("update clocks set ahead = '100 seconds'") // of 180, since the clock runs while a slow machine gets here
	if got := a.call("GET", balance, ""); got.status != http.StatusOK {
		t.Errorf("a token before its end is answered %d %s", got.status, got.raw)
	}
	f.exec("update clocks set ahead = '181 seconds'")
	a.call("GET", balance, "").is(t, http.StatusUnauthorized, invalidAirtelToken)
}

const invalidAirtelToken = `{"error_description":"The access token is invalid or has expired","error":"invalid_token"}`

// Every route answers nobody without a token of the sandbox, in every form of its path.
func TestStrangersGetNothingFromAirtel(t *testing.T) {
	f, a := withAirtel(t)
	f.sandbox(f.config, revokedKey)
	revoked := f.airtel(revokedKey).token()
	f.sandbox(f.config, key)
	other := f.config
	other.UID, other.Name = "22222222-2222-2222-2222-222222222222", "other"
	f.sandbox(other, otherKey)
	theirs := f.airtel(otherKey).token()
	mtnToken, _ := f.mtn(key).token("collection", f.mtn(key).User, f.mtn(key).UserKey).body["access_token"].(string)
	wrong := map[string]string{
		"none": "", "the API key": "Bearer " + key, "the secret": "Bearer " + a.UserKey, "the client": "Bearer " + a.User,
		"made up": "Bearer " + a.User + strings.Repeat("0", 32), "of a revoked key": "Bearer " + revoked, "MTN's": "Bearer " + mtnToken,
	}
	routes := append(operators.NativeAPI(payments.Airtel).Routes, operatorapi.Route{Method: "GET", Path: "/none", Access: operatorapi.ByToken})
	for _, route := range routes {
		if route.Access == operatorapi.ByUser {
			continue // TestAirtelTokens
		}
		path := strings.NewReplacer("{id}", "p-1", "{msisdn}", "788000001").Replace(route.Path)
		for _, base := range []string{"/operators/airtel", "/sandboxes/team/checkout/operators/airtel", "/sandboxes/team/none/operators/airtel"} {
			at := *a
			at.base = base
			for what, header := range wrong {
				if what == "made up" && route.Handle == nil && base != "/sandboxes/team/none/operators/airtel" {
					continue // its client is known, as MTN's subscription key is without a token
				}
				if got := at.send(route.Method, path, "{}", "Authorization", header); got.status != 401 || got.raw != invalidAirtelToken {
					t.Errorf("%s %s%s with a token that is %s answered %d %s", route.Method, base, path, what, got.status, got.raw)
				}
			}
			if strings.HasPrefix(base, "/sandboxes") {
				if got := at.send(route.Method, path, "{}", "Authorization", "Bearer "+theirs); got.status != 401 || got.raw != invalidAirtelToken {
					t.Errorf("%s %s%s with another sandbox's token answered %d %s", route.Method, base, path, got.status, got.raw)
				}
			}
		}
	}
	// What is another sandbox's is not found.
	a.pay("p-1", alice)
	if got := (&airtel{f: f, base: a.base, bearer: theirs}).state(airtelEnquiry + "p-1"); !strings.Contains(got, "ESB000045") {
		t.Errorf("another sandbox finds it: %s", got)
	}
	f.conserved()
}

func TestAirtelRefusals(t *testing.T) {
	f, a := withAirtel(t)
	good := airtelPay("p", alice, 100)
	for name, c := range map[string]struct {
		body, header, value string
		status              int
		code                string
	}{
		"no country":            {good, "X-Country", "", 400, "ROUTER110"},
		"another country":       {good, "X-Country", "CI", 400, "ROUTER110"},
		"no currency":           {good, "X-Currency", "", 200, "x-wallet-id"},
		"another currency":      {good, "X-Currency", "XOF", 200, "Invalid/Missing Currency"},
		"another body country":  {strings.Replace(good, `"country":"RW"`, `"country":"CI"`, 1), "", "", 400, "Invalid Country Code"},
		"another body currency": {strings.Replace(good, `"currency":"RWF"`, `"currency":"XOF"`, 1), "", "", 200, "Invalid/Missing Currency"},
		"another type":          {good, "Content-Type", "text/plain", 415, ""},
		"no JSON":               {"{", "", "", 200, "ESB000008"},
		"nothing":               {"", "", "", 200, "ESB000008"},
		"no id":                 {airtelPay("", alice, 100), "", "", 200, "ESB000008"},
		"a space at the end":    {airtelPay("p ", alice, 100), "", "", 200, "ESB000008"},
		"a long id":             {airtelPay(strings.Repeat("x", 81), alice, 100), "", "", 200, "ESB000008"},
		"a zero byte":           {strings.Replace(good, "order 1042", `\u0000`, 1), "", "", 200, "ESB000008"},
		"a short number":        {airtelPay("p", "78800000", 100), "", "", 200, "Invalid Msisdn Length"},
		"zero":                  {airtelPay("p", alice, 0), "", "", 200, "DP00800001004"},
		"below zero":            {airtelPay("p", alice, -1), "", "", 200, "DP00800001004"},
		"a fraction":            {airtelPay("p", alice, 1.5), "", "", 200, "DP00800001004"},
		"too much":              {airtelPay("p", alice, 1000000000001), "", "", 200, "DP00800001004"},
	} {
		header := []string{}
		if c.header != "" {
			header = append(header, c.header, c.value)
		}
		if got := a.call("POST", airtelPayments, c.body, header...); got.status != c.status || !strings.Contains(got.raw, c.code) {
			t.Errorf("%s is answered %d %s", name, got.status, got.raw)
		}
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d transactions were recorded", n)
	}
	for i, body := range []string{
		`{"subscriber":{"msisdn":788000001},"transaction":{"amount":"5.0","id":"r-0"}}`,
		`{"reference":"x","subscriber":{"msisdn":"250788000001"},"transaction":{"amount":5.00,"id":"r-1"},"more":1}`,
		`{"reference":1042,"subscriber":{"msisdn":788000001},"transaction":{"amount":5,"id":1732790000}}`,
	} {
		if got := a.call("POST", "/merchant/v1/payments", body, "x-signature", "x", "x-key", "y"); got.header.Get("X-Cauri-Reason") != "" {
			t.Errorf("%d is answered %s", i, got.raw)
		}
	}
}

// What Airtel has and a sandbox does not answers as an unknown path does, and so does another method.
func TestAirtelRoutesThatAreNotHere(t *testing.T) {
	_, a := withAirtel(t)
	for _, call := range []string{
		"POST /standard/v1/disbursements/refund", "GET /standard/v2/users/balance", "GET /standard/v2/users/balance?type=DISB",
		"GET /standard/v2/users/balance/DISB", "GET /merchant/v1/transactions", "POST /standard/v1/cashin/", "GET /merchant/v2/payments/",
		"POST /openapi/moneytransfer/v2/validate", "GET /auth/oauth2/token", "POST /merchant/v3/payments", "DELETE /standard/v1/payments/p-1",
		"PROPFIND /standard/v1/users/balance", "get /standard/v1/users/balance",
	} {
		method, path, _ := strings.Cut(call, " ")
		got := a.call(method, path, "{}")
		const want = `{"status":{"code":"404","message":"Not found","result_code":"ESB000001","response_code":"","success":false}}`
		if got.status != http.StatusNotFound || got.raw != want || !strings.HasPrefix(got.header.Get("X-Cauri-Reason"), "no_route: ") {
			t.Errorf("%s is answered %d %s", call, got.status, got.raw)
		}
	}
}

func TestAirtelFailures(t *testing.T) {
	f, a := withAirtel(t)
	f.config.TestNumbers = payments.StandardTestNumbers
	f.client("poor", "+250788000002", 10)
	f.client("blocked", "+250788000003", 50_000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	for number, behavior := range map[string]payments.Behavior{
		"5": payments.Cancel, "6": payments.WrongPIN, "7": payments.Ignore, "8": payments.Approve,
	} {
		f.client("client-"+number, "+25078800000"+number, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = behavior })
	}
	most := int64(1000)
	f.config.Environments[1].MaxAmount = &most
	for _, vague := range []bool{false, true} {
		f.config.Environments[1].Vague = vague
		f.sandbox(f.config, key)
		f.follow()
		for number, want := range map[string]string{
			"+250788000002": "TF 007", "+250788000003": "TF 010", "+250788999999": "TF 012", "+250788000005": "TF 008", "+250788000006": "TF 002",
			"+250788000007": "TE 029", "+250788000008": "TF 003",
		} {
			id, amount := "f-"+newReference(), 1000
			if number == "+250788000008" {
				amount = 1001
			}
			a.call("POST", airtelPayments, airtelPay(id, number, amount))
			f.finish()
			state, code, _ := strings.Cut(want, " ")
			if vague {
				state, code = "TF", "000"
			}
			if got, want := a.state(airtelEnquiry+id), state+" DP00800001"+code+" false false "; got != want {
				t.Errorf("%s is %q, want %q", number, got, want)
			}
		}
		for number, code := range map[string]string{"+250788000003": "010", "+250788999999": "012"} {
			id := "d-" + newReference()
			got := a.call("POST", "/standard/v2/disbursements", airtelPayout(id, number, a.sealed(a.Secret["airtel-pin"]), 100))
			if vague {
				code = "000"
			}
			if want := `"response_code":"DP00900001` + code + `","success":false`; !strings.Contains(got.raw, want) {
				t.Errorf("a disbursement to %s is answered %s, want %s", number, got.raw, want)
			}
		}
	}
}

func airtelPayout(id, msisdn, pin string, amount int) string {
	return fmt.Sprintf(`{"payee":{"msisdn":%q,"wallet_type":"NORMAL"},"reference":"salary","pin":%q,"transaction":{"amount":%d,"id":%q,"type":"B2C"}}`,
		strings.TrimPrefix(msisdn, "+250"), pin, amount, id)
}

func TestAirtelDisbursement(t *testing.T) {
	f, a := withAirtel(t)
	f.client("alice", alice, 0)
	got := a.call("GET", "/v1/rsa/encryption-keys", "")
	text, _ := base64.StdEncoding.DecodeString(got.body["data"].(object)["key"].(string))
	public, err := x509.ParsePKIXPublicKey(text)
	if err != nil {
		t.Fatalf("%s: %v", got.raw, err)
	}
	if key := public.(*rsa.PublicKey); !key.Equal(&pinKey().PublicKey) {
		t.Errorf("the key has %d bits and is another one", key.N.BitLen())
	}
	pin := a.Secret["airtel-pin"]
	for i, c := range []struct {
		pin    string
		amount int
		want   string
	}{
		{a.sealed(pin), 1000, "DP00900001001"}, {a.sealed(pin), 1000, "DP00900001001"}, {"", 5, "ESB000008"},
		{a.sealed(pin), 900_000, "DP00900001007"},
	} {
		id := fmt.Sprint("d-", i)
		got := a.call("POST", fmt.Sprintf("/standard/v%d/disbursements/", 1+i%3), airtelPayout(id, alice, c.pin, c.amount))
		if !strings.Contains(got.raw, c.want) {
			t.Errorf("%d is answered %d %s, want %s", i, got.status, got.raw, c.want)
		}
	}
	if got := a.state("/standard/v3/disbursements/d-0?transactionType=B2C"); got != "TS DP00900001001 true true " {
		t.Errorf("it is %q", got)
	}
	if got := a.call("POST", "/standard/v1/disbursements", airtelPayout("d-0", alice, a.sealed(pin), 1)); !strings.Contains(got.raw, "DP00900001017") {
		t.Errorf("a repetition is answered %s", got.raw)
	}
	if got := a.call("GET", "/standard/v1/users/balance", ""); !strings.Contains(got.raw, `"balance":"3,000.00"`) {
		t.Errorf("the balance is %s", got.raw)
	}
	f.conserved()
}

func TestAirtelRefund(t *testing.T) {
	f, a := withAirtel(t)
	f.client("alice", alice, 50_000)
	a.pay("p-1", alice)
	refund := func(id string) nativeAnswer {
		return a.call("POST", "/standard/v1/payments/refund", fmt.Sprintf(`{"transaction":{"airtel_money_id":%q}}`, id))
	}
	f.settle()
	paid := a.moneyID("p-1")
	if got := refund(paid); !strings.Contains(got.raw, `"status":"SUCCESS"`) {
		t.Errorf("the refund is answered %s", got.raw)
	}
	if got := f.page("reference=p-1").body["data"].([]any)[0].(object); got["refundableAmount"] != 0.0 {
		t.Errorf("after the refund the payment is %v", got)
	}
	for _, id := range []string{paid, "MP1.2.x", ""} {
		if got := refund(id); !strings.Contains(got.raw, `"success":false`) {
			t.Errorf("a refund of %q is answered %s", id, got.raw)
		}
	}
	f.conserved()
}

func TestAirtelCallbacks(t *testing.T) {
	f, a := withAirtel(t)
	shop := newShopEndpoint(t)
	f.client("alice", alice, 50_000)
	f.client("poor", "+250788000002", 10)
	f.config.CallbackHosts = []string{"127.0.0.1"}
	a.pay("without-url", alice)
	for _, hash := range []bool{false, true} {
		f.config.Environments[1].CallbackURL, f.config.Environments[1].CallbackHash = fmt.Sprint(shop.URL, "/hash-", hash), hash
		f.sandbox(f.config, key)
		f.follow()
		a.pay(fmt.Sprint("paid-", hash), alice)
		a.pay(fmt.Sprint("failed-", hash), "+250788000002")
	}
	f.settle()
	f.runWorker()
	form := regexp.MustCompile(`^(\{"transaction":\{"id":"(paid|failed)-(?:true|false)","message":"(.+)","status_code":"(TS|TF)",` +
		`"airtel_money_id":"MP[0-9]{6}\.[0-9]{4}\.[A-Z][0-9]{5}"\})(?:,"hash":"(.+)")?\}$`)
	for _, hash := range []bool{false, true} {
		for _, sent := range shop.wait(t, fmt.Sprint("/hash-", hash), 2) {
			parts := form.FindStringSubmatch(sent)
			if parts == nil {
				t.Fatalf("the callback is %s", sent)
			}
			want := map[string]string{"paid": "TS Paid RWF 1,000 to shop", "failed": "TF Not enough balance"}[parts[2]]
			if got := parts[4] + " " + parts[3]; got != want {
				t.Errorf("the callback says %q, want %q", got, want)
			}
			mac := hmac.New(sha256.New, []byte(operators.NativeAPI(payments.Airtel).CallbackKeyOf("whsec_dGVzdA==")))
			mac.Write([]byte(parts[1] + "}"))
			if signed := base64.StdEncoding.EncodeToString(mac.Sum(nil)); hash && parts[5] != signed || !hash && parts[5] != "" {
				t.Errorf("with the hash %t it is %s, want %s", hash, sent, signed)
			}
		}
	}
	if n := len(f.call("GET", "/v1/events?event=operator.callback", nil).body["data"].([]any)); n != 4 {
		t.Errorf("%d callbacks were made, want 4: none without a URL", n)
	}
}

func TestAirtelFaults(t *testing.T) {
	f, a := withAirtel(t)
	f.client("alice", alice, 50_000)
	a.bearer = a.token()
	for _, status := range []int{429, 500, 502, 503} {
		f.faulty(fmt.Sprintf(`[{"name":"s%d","when":{"first":1},"operator":{"status":%[1]d}}]`, status))
		got := a.call("POST", airtelPayments, airtelPay(fmt.Sprint("s-", status), alice, 5))
		if got.status != status || !strings.Contains(got.raw, "ESB000001") {
			t.Errorf("it is answered %d %s", got.status, got.raw)
		}
	}
	a.pay("ok", alice)
	f.settle()
	f.faulty(`[{"name":"late","operator":{"statusStaysPending":"1h"}}]`)
	if got := a.state(airtelEnquiry + "ok"); got != "TIP DP00800001006 true false late" {
		t.Errorf("it is told as %q", got)
	}
	a.call("POST", "/standard/v2/disbursements", airtelPayout("payout", alice, a.sealed(a.Secret["airtel-pin"]), 100))
	f.faulty(`[{"name":"later","operator":{"statusStaysPending":"1h"}}]`)
	if got := a.state("/standard/v2/disbursements/payout"); got != "TIP DP00900001006 true false later" {
		t.Errorf("the disbursement is told as %q", got)
	}
	f.faulty("[]")
	a.pay("poor", "+250788999999")
	f.faulty(`[{"name":"why","operator":{"reason":"DP00800001009"}}]`)
	if got := a.state(airtelEnquiry + "poor"); got != "TF DP00800001009 false false why" {
		t.Errorf("it is told as %q", got)
	}
	f.conserved()
}

// No credential of Airtel's API, in a body that has to have it or in any field that is kept, comes into the request log.
func TestRequestLogHasNoSecretOfAirtel(t *testing.T) {
	f, a := withAirtel(t)
	f.client("alice", alice, 50_000)
	f.requests("&all=true") // what succeeds is kept too
	f.follow()
	a.bearer = a.token()
	pin := a.sealed(a.Secret["airtel-pin"])
	secrets := map[string]string{
		"client id": a.User, "client secret": a.UserKey, "token": a.bearer, "encrypted PIN": pin, "key of /v1": key,
		"key of callbacks": operators.NativeAPI(payments.Airtel).CallbackKeyOf("whsec_dGVzdA=="),
	}
	a.send("POST", "/auth/oauth2/token", "client_id="+a.User+"&client_secret="+a.UserKey+"&grant_type=client_credentials",
		"Content-Type", "application/x-www-form-urlencoded")
	a.send("POST", "/auth/oauth2/token", a.grant(a.User, "wrong"+a.UserKey))
	a.call("POST", "/standard/v3/disbursements/", airtelPayout("d-1", alice, pin, 100))
	a.call("POST", "/standard/v3/disbursements/", airtelPayout("d-1", alice, pin, 100)) // taken
	a.call("POST", "/standard/v1/disbursements/", strings.Replace(airtelPayout("d-2", alice, pin, 100), `"pin":`, `"PIN":`, 1))
	for name, secret := range secrets {
		if name == "encrypted PIN" {
			continue // which has no form of its own: it is a secret only where a PIN belongs
		}
		for _, field := range []string{"reference", "message", "id", "airtel_money_id"} {
			a.call("POST", airtelPayments, fmt.Sprintf(`{%q:%q,"transaction":{%q:%q}}`, field, secret, field, "x "+secret))
		}
		a.call("POST", airtelPayments, strings.Replace(airtelPay("p-"+newReference(), alice, 5), "order 1042", secret, 1))
		a.call("GET", airtelEnquiry+secret, "")
		a.call("GET", airtelEnquiry+"x?client_secret="+secret, "")
		for _, header := range []string{"X-Signature", "X-Key", "User-Agent", "Cookie"} {
			a.call("POST", airtelPayments, "{}", header, secret)
		}
		a.send("POST", airtelPayments, "{}", "Authorization", "Bearer "+secret)
		f.logged()
	}
	if n := read[int](f, "select count(*) from requests"); n < 40 {
		t.Fatalf("only %d requests are logged: the test does not show anything", n)
	}
	rows := read[string](f, "select string_agg(r::text, chr(10)) from requests r")
	for name, secret := range secrets {
		if at := strings.Index(strings.ToLower(rows), strings.ToLower(secret)); at >= 0 {
			t.Errorf("the %s is in the log: %s", name, rows[max(0, at-300):min(len(rows), at+100)])
		}
	}
}
