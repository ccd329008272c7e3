package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/httpserver"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestMTNProvisioning(t *testing.T) {
	f := newFixture(t)
	m := f.mtn(key)
	add := func(id, body string) nativeAnswer {
		return m.send("POST", "/v1_0/apiuser", body, map[string]string{"X-Reference-Id": id})
	}
	id := newReference()
	add(strings.ToUpper(id), `{"providerCallbackHost": "https://Shop.example/callbacks"}`).is(t, http.StatusCreated, "")
	const duplicate = `{"message":"Duplicated reference id. Creation of resource failed.","code":"RESOURCE_ALREADY_EXIST"}`
	add(id, `{"providerCallbackHost": "shop.example"}`).is(t, http.StatusConflict, duplicate)
	add(m.User, `{"providerCallbackHost": "shop.example"}`).is(t, http.StatusConflict, duplicate)
	for _, bad := range []string{"", "1", "11111111-1111-1111-1111-111111111111"} {
		add(bad, `{"providerCallbackHost": "shop.example"}`).is(t, http.StatusBadRequest, "")
	}
	for _, bad := range []string{
		"", "{", "[]", `{}`, `{"providerCallbackHost": ""}`, `{"providerCallbackHost": 5}`, `{"providerCallbackHost": "http://["}`,
		`{"providerCallbackHost": "[::1%25x.shop.example]:8080"}`, `{"providerCallbackHost": ":8080"}`,
	} {
		add(newReference(), bad).is(t, http.StatusBadRequest, "")
	}
	m.send("GET", "/v1_0/apiuser/"+id, "", nil).is(t, http.StatusOK, `{"providerCallbackHost":"shop.example","targetEnvironment":"sandbox"}`)

	keyOf := func() string {
		got := m.send("POST", "/v1_0/apiuser/"+id+"/apikey%20", "", nil) // as a client in Go sends it
		if got.status != http.StatusCreated || len(got.body["apiKey"].(string)) != 32 {
			t.Fatalf("the key call answered %d %s", got.status, got.raw)
		}
		return got.body["apiKey"].(string)
	}
	first := keyOf()
	if got := m.token("collection", id, first); got.status != http.StatusOK {
		t.Errorf("the key gets no token: %d %s", got.status, got.raw)
	}
	second := keyOf()
	m.token("collection", id, first).is(t, http.StatusUnauthorized, `{"error":"login_failed"}`)
	if got := m.token("collection", id, second); got.status != http.StatusOK {
		t.Errorf("the newer key gets no token: %d %s", got.status, got.raw)
	}

	// Callbacks of the user go to its host only.
	m.User, m.UserKey = id, second
	order := func(callback string) nativeAnswer {
		return m.call("POST", "/collection/v1_0/requesttopay", payBody(alice, "100", "RWF"), "X-Reference-Id", newReference(), "X-Callback-URL", callback)
	}
	order("https://shop.example/x").is(t, http.StatusAccepted, "")
	const wrongHost = `{"message":"Callback URL does not match the configured value.","code":"INVALID_CALLBACK_URL_HOST"}`
	order("https://other.example/x").is(t, http.StatusInternalServerError, wrongHost)

	for range 99 {
		add(newReference(), `{"providerCallbackHost": "shop.example"}`).is(t, http.StatusCreated, "")
	}
	if got := add(newReference(), `{"providerCallbackHost": "shop.example"}`); got.status != http.StatusServiceUnavailable {
		t.Errorf("user 101 was answered %d", got.status)
	}

	// Users and tokens end with the key that they were made with.
	f.sandbox(f.config, revokedKey)
	f.mtn(revokedKey).send("POST", "/v1_0/apiuser", `{"providerCallbackHost": "shop.example"}`, map[string]string{"X-Reference-Id": newReference()}).
		is(t, http.StatusCreated, "")
	if got := f.mtn(revokedKey).token("collection", id, second); got.status != http.StatusUnauthorized {
		t.Errorf("a user of a revoked key gets a token: %d", got.status)
	}
	f.mtn(revokedKey).send("GET", "/collection/v1_0/account/balance", "", map[string]string{"Authorization": "Bearer " + m.tokens["collection"]}).
		is(t, http.StatusUnauthorized, `{"error":"invalid_token"}`)
}

func TestMTNTokens(t *testing.T) {
	f := newFixture(t)
	m := f.mtn(key)
	for _, product := range []string{"collection", "disbursement", "remittance"} {
		for _, body := range []string{"", "{}", `{"grant_type": "client_credentials"}`, "grant_type=client_credentials"} {
			for _, path := range []string{"/" + product + "/token/", "//" + product + "//token"} {
				got := m.send("POST", path, body, map[string]string{
					"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte(m.User+":"+m.UserKey)), "X-Target-Environment": "",
				})
				token, _ := got.body["access_token"].(string)
				want := fmt.Sprintf(`{"access_token":%q,"token_type":"access_token","expires_in":3600}`, token)
				got.is(t, http.StatusOK, want)
				if got.header.Get("Content-Type") != "application/json;charset=utf-8" || strings.Count(token, ".") != 2 {
					t.Errorf("the token is %q, its type %q", token, got.header.Get("Content-Type"))
				}
				payload, _ := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
				form := `^\{"clientId":"` + m.User + `","expires":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}","sessionId":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"\}$`
				if !regexp.MustCompile(form).Match(payload) {
					t.Errorf("the token says %s", payload)
				}
			}
		}
	}
	// A token ends with its hour, in the time of the sandbox.
	const balance = "/collection/v1_0/account/balance"
	f.exec("insert into clocks (tenant) select tenant from organizations where name = 'checkout'")
	f.exec("update organizations set clocked = true where name = 'checkout'")
	f.exec("update config_version set version = version + 1")
	f.exec("update organizations set version = (select version from config_version) where name = 'checkout'")
	m.refresh()
	m.call("GET", balance, "").is(t, http.StatusOK, `{"availableBalance":"1000","currency":"RWF"}`)
	f.exec("update clocks set ahead = '59 minutes'")
	m.call("GET", balance, "").is(t, http.StatusOK, `{"availableBalance":"1000","currency":"RWF"}`)
	f.exec("update clocks set ahead = '61 minutes'")
	m.call("GET", balance, "").is(t, http.StatusUnauthorized, `{"error":"invalid_token"}`)
	m.tokens = map[string]string{}
	m.call("GET", balance, "").is(t, http.StatusOK, `{"availableBalance":"1000","currency":"RWF"}`)
	f.exec("update native_tokens set created_at = now() - interval '25 hours', expires_at = now() + interval '1 year'")
	m.call("GET", balance, "").is(t, http.StatusUnauthorized, `{"error":"invalid_token"}`)
}

// A token beyond the newest ones ends at the same moment in each process of the api, whether it has used the token or not.
func TestEachProcessEndsTheSameTokens(t *testing.T) {
	f := newFixture(t)
	m := f.mtn(key)
	var passed time.Duration
	var processes [2]string
	for i := range processes {
		o := frontstest.Options(ledgertest.OpenAs(t, f.db, ledgertest.API))
		o.Now = func() time.Time { return time.Now().Add(passed) }
		processes[i] = listen(t, fronts.New(o), httpserver.Default)
	}
	is := func(want int, when string, processes ...string) {
		t.Helper()
		for i, url := range processes {
			f.url = url
			if got := m.call("GET", "/collection/v1_0/account/balance", ""); got.status != want {
				t.Errorf("%s, process %d answers %d, want %d", when, i, got.status, want)
			}
		}
	}
	is(http.StatusOK, "with its first token", processes[0])
	f.exec(`insert into native_tokens (tenant, hash, operator, product, user_id, made_with, callback_host, expires_at)
		select tenant, sha256(i::text::bytea), 'mtn', 'collection', '', '', '', now() + interval '1 hour'
		from organizations, generate_series(1, $1::integer) i where name = 'checkout'`, nativestore.MaxTokens)
	m.token("collection", m.User, m.UserKey)
	is(http.StatusOK, "with 1,000 newer tokens", processes[:]...)
	f.exec("update native_tokens set expires_at = now() where expires_at <= now() + $1::interval", nativestore.TokenKnown)
	passed = nativestore.TokenKnown
	is(http.StatusUnauthorized, "when no process can know it", processes[:]...)
}

// What is refused at once, in the order in which it is looked at.
func TestMTNRefusals(t *testing.T) {
	f := newFixture(t)
	f.config.CallbackHosts = []string{"*.shop.example"}
	f.sandbox(f.config, key)
	m := f.mtn(key)
	good := payBody(alice, "100", "RWF")
	const target = `{"message":"Access to target environment is forbidden.","code":"NOT_ALLOWED_TARGET_ENVIRONMENT"}`
	const currency = `{"message":"Currency not supported.","code":"INVALID_CURRENCY"}`
	const host = `{"message":"Callback URL does not match the configured value.","code":"INVALID_CALLBACK_URL_HOST"}`
	for name, c := range map[string]struct {
		body, header, value string
		status              int
		answer              string
	}{
		"no target":                  {good, "X-Target-Environment", "", 500, target},
		"unknown target":             {"{", "X-Target-Environment", "mtnuganda", 500, target},
		"target of another country":  {good, "X-Target-Environment", "mtnbenin", 500, target},
		"production":                 {good, "X-Target-Environment", "production", 500, target},
		"no reference":               {good, "X-Reference-Id", "", 400, ""},
		"a reference of version 1":   {good, "X-Reference-Id", "11111111-1111-1111-8111-111111111111", 400, ""},
		"the user as the reference":  {good, "X-Reference-Id", m.User, 400, ""},
		"no body":                    {"", "", "", 400, ""},
		"no JSON":                    {"{", "", "", 400, ""},
		"a list":                     {"[]", "", "", 400, ""},
		"a fraction":                 {payBody(alice, "1.5", "RWF"), "", "", 400, ""},
		"nothing":                    {payBody(alice, "0", "RWF"), "", "", 400, ""},
		"a negative amount":          {payBody(alice, "-5", "RWF"), "", "", 400, ""},
		"an amount that is too much": {payBody(alice, "1000000000001", "RWF"), "", "", 400, ""},
		"an amount that is a word":   {payBody(alice, "five", "RWF"), "", "", 400, ""},
		"no currency":                {payBody(alice, "5", ""), "", "", 400, ""},
		"another currency":           {payBody(alice, "5", "XOF"), "", "", 500, currency},
		"EUR outside of sandbox":     {payBody(alice, "5", "EUR"), "", "", 500, currency},
		"an ampersand":               {strings.Replace(good, "Two tickets", "Two & three", 1), "", "", 400, ""},
		"an ampersand for the payee": {strings.Replace(good, `"shop"`, `"shop & co"`, 1), "", "", 400, ""},
		"an apostrophe":              {strings.Replace(good, "Two tickets", "Two o'clock", 1), "", "", 400, ""},
		"a long message":             {strings.Replace(good, "Two tickets", strings.Repeat("x", 161), 1), "", "", 400, ""},
		"a zero byte":                {strings.Replace(good, "order-1042", `\u0000`, 1), "", "", 400, ""},
		"an e-mail address":          {strings.Replace(good, "MSISDN", "EMAIL", 1), "", "", 400, ""},
		"a number that is none":      {payBody("0788", "5", "RWF"), "", "", 400, ""},
		"a number among spaces":      {payBody(strings.Repeat(" ", 30)+alice, "5", "RWF"), "", "", 400, ""},
		"no payer":                   {strings.Replace(good, "payer\"", "payee\"", 1), "", "", 400, ""},
		"another host":               {good, "X-Callback-Url", "http://shop.example/", 500, host},
		"a host without a value":     {good, "X-Callback-Url", " ", 400, ""},
		"an address":                 {good, "X-Callback-Url", "http://169.254.169.254/latest", 500, host},
		"an address with a zone":     {good, "X-Callback-Url", "http://[::1%25x.shop.example]:18999/", 500, host},
		"a name that is translated":  {good, "X-Callback-Url", "http://ａ.shop.example/", 500, host},
		"no http":                    {good, "X-Callback-Url", "file:///etc/passwd", 500, host},
		"a password in the URL":      {good, "X-Callback-Url", "http://a:b@a.shop.example/", 500, host},
	} {
		t.Run(name, func(t *testing.T) {
			header := []string{"X-Reference-Id", newReference()}
			if c.header != "" {
				header = append(header, c.header, c.value)
			}
			m.call("POST", "/collection/v1_0/requesttopay", c.body, header...).is(t, c.status, c.answer)
		})
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d transactions were recorded", n)
	}
	m.pay(alice, "X-Callback-Url", "http://a.shop.example/x")

	reference := newReference()
	m.call("POST", "/collection/v1_0/requesttopay", payBody("  "+alice+"\t", "5", "RWF"), "X-Reference-Id", reference).is(t, http.StatusAccepted, "")
	kept := m.call("GET", "/collection/v1_0/requesttopay/"+reference, "").body["payer"].(object)["partyId"]
	if kept != alice {
		t.Errorf("a number with spaces around it is kept as %q", kept)
	}
}

// Failures have the reasons of MTN, or none where the environment is vague.
func TestMTNFailures(t *testing.T) {
	f := newFixture(t)
	f.config.TestNumbers = payments.StandardTestNumbers
	f.sandbox(f.config, key)
	f.client("poor", "+250788000002", 10)
	f.client("blocked", "+250788000003", 50_000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	reasons := map[string]string{
		"+250788000002": "NOT_ENOUGH_FUNDS", "+250788000003": "SENDER_ACCOUNT_NOT_ACTIVE",
		"+250790000907": "PAYER_LIMIT_REACHED", "+250790000908": "SERVICE_UNAVAILABLE",
		"+46733123450": "INTERNAL_PROCESSING_ERROR", "+46733123451": "APPROVAL_REJECTED", "+46733123452": "EXPIRED",
		"+46733123455": "PAYER_NOT_FOUND", "+46733123456": "PAYEE_NOT_ALLOWED_TO_RECEIVE", "+46733123457": "NOT_ALLOWED",
		"+46733123458": "NOT_ALLOWED_TARGET_ENVIRONMENT", "+46733123459": "INVALID_CALLBACK_URL_HOST", "+46733123460": "INVALID_CURRENCY",
		"+46733123461": "INTERNAL_PROCESSING_ERROR", "+46733123462": "SERVICE_UNAVAILABLE", "+46733123463": "COULD_NOT_PERFORM_TRANSACTION",
		"+46733123464": "TRANSFER_TYPE_UNKNOWN",
	}
	m := f.mtn(key)
	m.target = "sandbox"
	for _, vague := range []bool{false, true} {
		f.config.Environments[0].Vague = vague
		f.sandbox(f.config, key)
		m.tokens = map[string]string{}
		for number, reason := range reasons {
			reference := m.pay(number)
			if vague {
				reason = "INTERNAL_PROCESSING_ERROR"
			}
			got := m.call("GET", "/collection/v1_0/requesttopay/"+reference, "")
			if got.body["status"] != "FAILED" || got.body["reason"] != reason || got.body["financialTransactionId"] != nil {
				t.Errorf("%s: %s, want the reason %s", number, got.raw, reason)
			}
		}
	}
	if got := m.call("GET", "/collection/v1_0/requesttopay/"+m.pay("+46733123453"), ""); got.body["status"] != "PENDING" {
		t.Errorf("453 is %s", got.raw)
	}
	for number, status := range map[string]string{"+46733123454": "CREATED", "+56733123453": "PENDING"} {
		if got := m.call("GET", "/collection/v1_0/requesttopay/"+m.pay(number), ""); got.body["status"] != status {
			t.Errorf("%s is %s", number, got.raw)
		}
	}
	// A test client with the number comes first, with its own reasons, and without the quirk there is no target sandbox.
	f.config.Environments[0].Vague = false
	f.sandbox(f.config, key)
	m.refresh()
	f.client("swede", "+46733123450", 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	if got := m.call("GET", "/collection/v1_0/requesttopay/"+m.pay("+46733123450"), ""); got.body["status"] != "PENDING" {
		t.Errorf("a test client with a test number is %s", got.raw)
	}
	f.client("other-swede", "+46733123461", 50_000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	if got := m.call("GET", "/collection/v1_0/requesttopay/"+m.pay("+46733123461"), ""); got.body["reason"] != "SENDER_ACCOUNT_NOT_ACTIVE" {
		t.Errorf("a blocked test client with a test number is %s", got.raw)
	}
	f.config.Environments[0].Quirks = map[string]bool{"mtnSandboxTarget": false}
	f.sandbox(f.config, key)
	m.refresh()
	if got := m.call("GET", "/collection/v1_0/account/balance", ""); got.status != http.StatusInternalServerError {
		t.Errorf("the target sandbox is answered %d %s", got.status, got.raw)
	}
	f.conserved()
}

// Under the target sandbox, a number that is no test number and no test client's pays and is paid, whatever the policy for unknown numbers
// is, and although the store names an API of the operator. Under the target of a country, and without the quirk, it does not.
func TestMTNSandboxLetsAnyNumberPay(t *testing.T) {
	f := newFixture(t)
	f.config.TestNumbers = payments.StandardTestNumbers
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 50_000}
	most := int64(5000)
	f.config.Environments[0].MaxAmount = &most
	f.enable(payments.Airtel)
	f.client("elsewhere", "+250730000001", 50_000, func(c *sandboxes.TestClientConfig) { c.Operator = payments.Airtel })
	f.client("swede", "+46733123451", 50_000, func(c *sandboxes.TestClientConfig) { c.Operator = payments.Airtel })
	f.client("poor", "+250788000002", 10)
	m := f.mtn(key)
	status := func(call, body string) string {
		t.Helper()
		reference := newReference()
		if got := m.call("POST", call, body, "X-Reference-Id", reference); got.status != http.StatusAccepted {
			return fmt.Sprint(got.status, " ", got.header.Get("X-Cauri-Reason"))
		}
		f.finish()
		got := m.call("GET", call+"/"+reference, "").body
		return strings.TrimSuffix(fmt.Sprint(got["status"], " ", got["reason"]), " <nil>")
	}
	const pay, transfer, active = "/collection/v1_0/requesttopay", "/disbursement/v1_0/transfer", "/collection/v1_0/accountholder/msisdn/%s/active"
	for _, c := range []struct{ number, sandbox, country string }{
		{"256772123456", "SUCCESSFUL", "FAILED PAYER_NOT_FOUND"},
		{"250788999999", "SUCCESSFUL", "FAILED PAYER_NOT_FOUND"},
		{"0248888736", "SUCCESSFUL", "FAILED PAYER_NOT_FOUND"},
		{"250788000002", "FAILED NOT_ENOUGH_FUNDS", "FAILED NOT_ENOUGH_FUNDS"},
		{"250790000902", "FAILED NOT_ENOUGH_FUNDS", "FAILED NOT_ENOUGH_FUNDS"}, // a test number of the sandbox
		{"250730000902", "FAILED PAYER_NOT_FOUND", "FAILED PAYER_NOT_FOUND"},   // one of another operator
		{"250730000001", "FAILED PAYER_NOT_FOUND", "FAILED PAYER_NOT_FOUND"},   // a test client of another operator
		{"46733123451", "FAILED PAYER_NOT_FOUND", "FAILED PAYER_NOT_FOUND"},    // also with a test number of MTN
		{"46733123452", "FAILED EXPIRED", "FAILED PAYER_NOT_FOUND"},            // a test number of MTN
	} {
		for target, want := range map[string]string{"sandbox": c.sandbox, "mtnrwanda": c.country} {
			m.target = target
			if got := status(pay, payBody(c.number, "1000", "RWF")); got != want {
				t.Errorf("%s pays under %s: %s, want %s", c.number, target, got, want)
			}
			knows := m.call("GET", fmt.Sprintf(active, c.number), "").raw == `{"result":true}`
			if known := want == "SUCCESSFUL" || strings.HasSuffix(want, "NOT_ENOUGH_FUNDS"); knows != known && c.number != "46733123452" {
				t.Errorf("%s has an account under %s: %t", c.number, target, knows)
			}
		}
	}
	m.target = "sandbox"
	if got := status(pay, payBody("256772123456", "5001", "EUR")); got != "FAILED PAYER_LIMIT_REACHED" {
		t.Errorf("above the limit it is %s", got)
	}
	paid := strings.Replace(payBody("0248888736", "100", "EUR"), `"payer"`, `"payee"`, 1)
	if got := status(transfer, paid); got != "SUCCESSFUL" {
		t.Errorf("a transfer is %s", got)
	}
	m.target = "mtnrwanda"
	if got := status(transfer, strings.Replace(paid, "EUR", "RWF", 1)); got != "FAILED PAYEE_NOT_FOUND" {
		t.Errorf("a transfer under the target of a country is %s", got)
	}
	if got := f.call("POST", "/v1/payments", payment("p-1", object{"msisdn": "+250788999999"})); got.body["status"] != "UNKNOWN_MSISDN" {
		t.Errorf("/v1 decides %s", got.raw)
	}
	f.config.Environments[0].Quirks = map[string]bool{"mtnSandboxTarget": false}
	f.sandbox(f.config, key)
	m.refresh()
	m.target = "sandbox"
	if got := status(pay, payBody("256772123456", "1000", "RWF")); got != "500 wrong_target_environment: X-Target-Environment: expected mtnrwanda" {
		t.Errorf("without the quirk it is %s", got)
	}
	f.conserved()
}

// A number that begins with 0, as in the samples of MTN's portal, is echoed as sent. /v1 shows it behind the code of the target's country.
func TestMTNNumbersOfItsSamples(t *testing.T) {
	f := newFixture(t)
	m := f.mtn(key)
	for target, status := range map[string]string{"sandbox": "SUCCESSFUL", "mtnrwanda": "FAILED"} {
		m.target = target
		reference := m.pay("0248888736")
		f.finish()
		got := m.call("GET", "/collection/v1_0/requesttopay/"+reference, "")
		if got.body["status"] != status || got.body["payer"].(object)["partyId"] != "0248888736" {
			t.Errorf("under %s it is %s", target, got.raw)
		}
		if listed := f.page("reference=" + reference).body["data"].([]any)[0].(object); listed["msisdn"] != "+2500248888736" {
			t.Errorf("/v1 lists %v", listed)
		}
	}
}

// MTN's gateway refuses a POST that has neither a body nor a length.
func TestPOSTWithoutALength(t *testing.T) {
	f := newFixture(t)
	m := f.mtn(key)
	raw := func(head string) string {
		t.Helper()
		connection, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if _, err := fmt.Fprintf(connection, "%s\r\nHost: x\r\nConnection: close\r\nOcp-Apim-Subscription-Key: %s\r\n\r\n", head, m.Key); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(connection)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, path := range []string{"/v1_0/apiuser/" + newReference() + "/apikey", "/collection/token/", "/none"} {
		got := raw("POST /operators/mtn" + path + " HTTP/1.1")
		if !strings.HasPrefix(got, "HTTP/1.1 411 ") || !strings.Contains(got, "HTTP Error 411. The request must be chunked or have a content length.") ||
			!strings.Contains(got, "X-Cauri-Reason: length_required: Content-Length: expected ") {
			t.Errorf("%s is answered %s", path, got)
		}
	}
	if entry := f.requests("")[0]; fieldsOf(entry, "method", "path", "status", "error") != "POST /operators/mtn/none 411 length_required" {
		t.Errorf("the request log has %v", entry)
	}
	for head, want := range map[string]string{
		"GET /operators/mtn/none HTTP/1.1":                       "HTTP/1.1 404",
		"POST /operators/mtn/none HTTP/1.1\r\nContent-Length: 0": "HTTP/1.1 404",
		"POST /operators/airtel/auth/oauth2/token HTTP/1.1":      "HTTP/1.1 400",
	} {
		if got := raw(head); !strings.HasPrefix(got, want) {
			t.Errorf("%q is answered %s", head, got)
		}
	}
}

// The test parties of payouts, and the test values of referenceIdToRefund, under the target sandbox. A payout has its outcome at once.
func TestMTNTestPartiesOfPayouts(t *testing.T) {
	f := newFixture(t)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 5000}
	f.sandbox(f.config, key)
	m := f.mtn(key)
	const collection, disbursement, remittance = "/collection/v1_0/", "/disbursement/v1_0/", "/remittance/v1_0/"
	common := []string{"INTERNAL_PROCESSING_ERROR", "APPROVAL_REJECTED", "EXPIRED", "EXPIRED", ""}
	withdrawals := []string{
		"PAYER_NOT_FOUND", "PAYEE_NOT_ALLOWED_TO_RECEIVE", "NOT_ALLOWED", "NOT_ALLOWED_TARGET_ENVIRONMENT", "INVALID_CALLBACK_URL_HOST",
		"INVALID_CURRENCY", "INTERNAL_PROCESSING_ERROR", "SERVICE_UNAVAILABLE", "COULD_NOT_PERFORM_TRANSACTION",
	}
	transfers := []string{
		"NOT_ENOUGH_FUNDS", "PAYER_LIMIT_REACHED", "PAYEE_NOT_FOUND", "NOT_ALLOWED", "NOT_ALLOWED_TARGET_ENVIRONMENT", "INVALID_CALLBACK_URL_HOST",
		"INVALID_CURRENCY", "INTERNAL_PROCESSING_ERROR", "SERVICE_UNAVAILABLE", "TRANSFER_TYPE_UNKNOWN",
	}
	refunds := []string{
		"RESOURCE_NOT_FOUND", "INTERNAL_PROCESSING_ERROR", "APPROVAL_REJECTED", "EXPIRED", "EXPIRED", "", "NOT_ALLOWED",
		"NOT_ALLOWED_TARGET_ENVIRONMENT", "INVALID_CALLBACK_URL_HOST", "INVALID_CURRENCY", "INTERNAL_PROCESSING_ERROR", "SERVICE_UNAVAILABLE",
		"COULD_NOT_PERFORM_TRANSACTION",
	}
	for _, c := range []struct {
		call    string
		first   int
		reasons []string // empty: it succeeds
	}{
		{collection + "requesttowithdraw", 46733123455, withdrawals},
		{disbursement + "deposit", 46733123450, slices.Concat(common, withdrawals)},
		{disbursement + "transfer", 46733123450, slices.Concat(common, transfers)},
		{remittance + "transfer", 46733123450, slices.Concat(common, transfers)},
		{disbursement + "refund", 1, refunds},
	} {
		for i, want := range c.reasons {
			party := strconv.Itoa(c.first + i)
			body := strings.Replace(payBody(party, "7", "EUR"), "}", `}, "payee": {"partyIdType": "MSISDN", "partyId": "`+party+`"}`, 1)
			if strings.HasSuffix(c.call, "refund") {
				body = fmt.Sprintf(`{"amount": "7", "currency": "EUR", "externalId": "r", "referenceIdToRefund": %q}`, party)
			}
			reference := newReference()
			m.target = "sandbox"
			m.call("POST", c.call, body, "X-Reference-Id", reference).is(t, http.StatusAccepted, "")
			got := m.call("GET", c.call+"/"+reference, "")
			reason, _ := got.body["reason"].(string)
			if reason != want || (got.body["status"] == "SUCCESSFUL") != (want == "") {
				t.Errorf("%s, %s: %s, want the reason %q", c.call, party, got.raw, want)
			}
			if !strings.HasSuffix(c.call, "refund") {
				continue
			}
			m.target = "mtnrwanda"
			body = strings.Replace(body, "EUR", "RWF", 1)
			if got := m.call("POST", c.call, body, "X-Reference-Id", newReference()); got.status != http.StatusNotFound {
				t.Errorf("outside of the target sandbox, the refund of %s is answered %d %s", party, got.status, got.raw)
			}
		}
	}
	// A collection with such a reference comes first.
	f.client("alice", alice, 50_000)
	f.call("POST", "/v1/payments", payment("2", object{"scenario": "success"})).is(t, http.StatusCreated, "SUCCESS")
	reference := newReference()
	m.target = "sandbox"
	m.call("POST", disbursement+"refund", `{"amount": "7", "currency": "EUR", "referenceIdToRefund": "2"}`, "X-Reference-Id", reference).
		is(t, http.StatusAccepted, "")
	if got := m.call("GET", disbursement+"refund/"+reference, ""); got.body["status"] != "SUCCESSFUL" {
		t.Errorf("the refund of a collection with the reference 2 is %s", got.raw)
	}
	f.conserved()
}

func TestMTNAccount(t *testing.T) {
	f := newFixture(t)
	f.client("alice-uwase", alice, 50_000)
	f.client("blocked", "+250788000003", 50_000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	m := f.mtn(key)
	const notFound = `{"message":"Requested resource was not found.","code":"RESOURCE_NOT_FOUND"}`
	for _, product := range []string{"collection", "disbursement", "remittance"} {
		m.target = "mtnrwanda"
		at := "/" + product + "/v1_0/"
		m.call("GET", at+"account/balance", "").is(t, http.StatusOK, `{"availableBalance":"1000","currency":"RWF"}`)
		if product == "remittance" {
			m.call("GET", at+"account/balance/RWF", "").is(t, http.StatusNotFound, noRoute)
		} else {
			m.call("GET", at+"account/balance/rwf", "").is(t, http.StatusOK, `{"availableBalance":"1000","currency":"RWF"}`)
			m.call("GET", at+"account/balance/EUR", "").is(t, http.StatusInternalServerError, `{"message":"Currency not supported.","code":"INVALID_CURRENCY"}`)
		}
		holder := at + "accountholder/"
		m.call("GET", holder+"MSISDN/"+alice[1:]+"/active", "").is(t, http.StatusOK, `{"result":true}`)
		m.call("GET", holder+"msisdn/250788000003/active", "").is(t, http.StatusOK, `{"result":false}`)
		m.call("GET", holder+"msisdn/250788999999/active", "").is(t, http.StatusNotFound, notFound)
		m.call("GET", holder+"email/alice@shop.example/active", "").is(t, http.StatusNotFound, notFound)
		m.call("GET", holder+"msisdn/%00/active", "").is(t, http.StatusNotFound, notFound)
		m.call("GET", holder+"msisdn/"+alice[1:]+"/basicuserinfo", "").is(t, http.StatusOK, `{"sub":"0","name":"alice uwase","given_name":"alice",`+
			`"family_name":"uwase","birthdate":"1976-08-13","locale":"sv_SE","gender":"MALE","updated_at":1678355127}`)
		m.target = "sandbox"
		m.call("GET", at+"account/balance", "").is(t, http.StatusOK, `{"availableBalance":"1000","currency":"EUR"}`)
		m.call("GET", holder+"msisdn/46733123450/active", "").is(t, http.StatusNotFound, notFound)
		m.call("GET", holder+"msisdn/46733123451/active", "").is(t, http.StatusOK, `{"result":false}`)
		for number, status := range map[string]int{"452": 500, "453": 500, "454": 500, "455": 503} {
			if got := m.call("GET", holder+"msisdn/46733123"+number+"/active", ""); got.status != status {
				t.Errorf("%s is answered %d %s", number, got.status, got.raw)
			}
		}
		m.call("GET", holder+"email/notFound@email.com/active", "").is(t, http.StatusNotFound, notFound)
		m.call("GET", holder+"email/notactive@email.com/active", "").is(t, http.StatusOK, `{"result":false}`)
		for name, code := range map[string]string{
			"notallowed": "NOT_ALLOWED", "notallowedtargetenvironment": "NOT_ALLOWED_TARGET_ENVIRONMENT",
			"internalprocessingerror": "INTERNAL_PROCESSING_ERROR", "serviceunavailable": "SERVICE_UNAVAILABLE",
		} {
			if got := m.call("GET", holder+"email/"+name+"@email.com/basicuserinfo", ""); got.body["code"] != code {
				t.Errorf("%s is answered %d %s", name, got.status, got.raw)
			}
		}
		m.call("GET", holder+"email/alice@shop.example/active", "").is(t, http.StatusNotFound, notFound)
		m.call("GET", holder+"email/46733123451/active", "").is(t, http.StatusNotFound, notFound)
		m.call("GET", holder+"party_code/46733123451/active", "").is(t, http.StatusNotFound, notFound)
	}
}

func TestMTNDeliveryNotification(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	m := f.mtn(key)
	reference := m.pay(alice)
	notify := func() nativeAnswer {
		return m.call("POST", "/collection/v1_0/requesttopay/"+reference+"/deliverynotification", `{"notificationMessage": "Thank you"}`)
	}
	for _, bad := range []string{"", "{", "{}", "[]", `{"notificationMessage": 5}`, fmt.Sprintf(`{"notificationMessage": %q}`, strings.Repeat("x", 161))} {
		m.call("POST", "/collection/v1_0/requesttopay/"+reference+"/deliverynotification", bad).is(t, http.StatusBadRequest, "")
	}
	notify().is(t, http.StatusConflict, `{"message":"The transaction is not successfully completed.","code":"NOT_SUCCESSFULLY_COMPLETED"}`)
	f.approve(alice)
	notify().is(t, http.StatusOK, "")
	m.call("POST", "/collection/v1_0/requesttopay/"+reference+"/deliverynotification", "", "notificationMessage", "Thank you").
		is(t, http.StatusOK, "")
	reference = newReference()
	if got := notify(); got.status != http.StatusNotFound {
		t.Errorf("an unknown reference is answered %d", got.status)
	}
}

// approve answers all prompts of a number.
func (f *fixture) approve(msisdn string) {
	f.t.Helper()
	prompts := "/v1/test_clients/%2B" + msisdn[1:] + "/prompts"
	for _, prompt := range f.call("GET", prompts, nil).body["data"].([]any) {
		if got := f.call("POST", prompts+"/"+prompt.(object)["id"].(string)+"/approve", nil); got.status != http.StatusOK {
			f.t.Fatalf("the approval was answered %d %s", got.status, got.raw)
		}
	}
}

// Every call that moves money does so once, is told by its own status call only, and owes a callback by the method of its version.
func TestMTNEveryCallThatMovesMoney(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 5000}
	f.config.CallbackHosts = []string{"shop.example"}
	f.sandbox(f.config, key)
	m := f.mtn(key)
	paid := m.pay(alice)
	f.approve(alice)
	payee := strings.Replace(payBody(alice, "100.0", "RWF"), "payer\"", "payee\"", 1)
	refund := fmt.Sprintf(`{"amount": 100, "currency": "RWF", "externalId": "r", "payerMessage": "", "payeeNote": "", "referenceIdToRefund": %q}`, strings.ToUpper(paid))
	float := 5000 + 985
	for _, c := range []struct {
		call, status, body string
		party              string
		moves              int
	}{
		{"/collection/v1_0/requesttowithdraw", "/collection/v1_0/requesttowithdraw/", payBody(alice, "100", "RWF"), "payer", 98},
		{"/collection/v2_0/requesttowithdraw", "/collection/v1_0/requesttowithdraw/", payBody(alice, "100", "RWF"), "payer", 98},
		{"/disbursement/v1_0/transfer", "/disbursement/v1_0/transfer/", payee, "payee", -100},
		{"/remittance/v1_0/transfer", "/remittance/v1_0/transfer/", payee, "payee", -100},
		{"/disbursement/v1_0/deposit", "/disbursement/v1_0/deposit/", payee, "payee", -100},
		{"/disbursement/v2_0/deposit", "/disbursement/v1_0/deposit/", payee, "payee", -100},
		{"/disbursement/v1_0/refund", "/disbursement/v1_0/refund/", refund, "payee", -100},
		{"/disbursement/v2_0/refund", "/disbursement/v1_0/refund/", refund, "payee", -100},
	} {
		reference := newReference()
		header := []string{"X-Reference-Id", reference, "X-Callback-Url", "http://shop.example/callback"}
		m.call("POST", c.call, c.body, header...).is(t, http.StatusAccepted, "")
		f.approve(alice)
		again := m.call("POST", c.call, c.body, header...)
		if again.status != http.StatusConflict {
			t.Errorf("%s again answered %d %s", c.call, again.status, again.raw)
		}
		got := m.call("GET", c.status+reference, "")
		party, _ := got.body[c.party].(object)
		if got.body["status"] != "SUCCESSFUL" || got.body["amount"] != "100" || party["partyId"] != alice[1:] {
			t.Errorf("%s: the status answered %d %s", c.call, got.status, got.raw)
		}
		if got := m.call("GET", "/collection/v1_0/requesttopay/"+reference, ""); got.status != http.StatusNotFound {
			t.Errorf("%s is told by another call: %d %s", c.call, got.status, got.raw)
		}
		float += c.moves
		m.call("GET", "/collection/v1_0/account/balance", "").is(t, http.StatusOK, fmt.Sprintf(`{"availableBalance":"%d","currency":"RWF"}`, float))
	}
	var owed int
	if err := ledgertest.Connect(t, f.db).QueryRow(t.Context(), "select count(*) from native_callbacks where state = 'queued'").Scan(&owed); err != nil || owed != 8 {
		t.Errorf("%d callbacks are owed, want 8 (%v)", owed, err)
	}
	over := fmt.Sprintf(`{"amount": "5000", "currency": "RWF", "referenceIdToRefund": %q}`, paid)
	m.call("POST", "/disbursement/v1_0/refund", over, "X-Reference-Id", newReference()).is(t, http.StatusBadRequest, "")
	for _, amount := range []string{"null", `""`, `"NaN"`, `"null"`, "true", "[]"} { // none of them is everything that is left
		wrong := fmt.Sprintf(`{"amount": %s, "currency": "RWF", "referenceIdToRefund": %q}`, amount, paid)
		m.call("POST", "/disbursement/v1_0/refund", wrong, "X-Reference-Id", newReference()).is(t, http.StatusBadRequest, "")
	}
	poor := newReference()
	m.call("POST", "/disbursement/v1_0/transfer", strings.Replace(payee, "100.0", "90000", 1), "X-Reference-Id", poor).is(t, http.StatusAccepted, "")
	if got := m.call("GET", "/disbursement/v1_0/transfer/"+poor, ""); got.body["reason"] != "NOT_ENOUGH_FUNDS" {
		t.Errorf("a transfer beyond the float is %s", got.raw)
	}
	f.conserved()
}
