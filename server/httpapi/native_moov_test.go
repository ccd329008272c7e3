package httpapi_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/telemetry"
)

const (
	ama = "+2290195000001" // in Benin
	efo = "+22879000001"   // in Togo

	ussdPush    = "/com.tlc.merchant.api/UssdPush"
	moovDebit   = "/Flooz/DebitService/Debit"
	moovVerify  = "/Flooz/DebitService/Verify"
	moovNoToken = `{"status":"99","message":"Invalid authorization","description":"Invalid authorization","mrorrefid":"","code":"99","refid":""}`
)

// moov is a client of Moov's own API in a sandbox.
type moov struct {
	f    *fixture
	base string
	operatorapi.Credentials
	token string
}

func (f *fixture) moov(key string) *moov {
	c := operators.NativeAPI(payments.Moov).Derive(key)
	return &moov{f: f, base: "/operators/moov", Credentials: c, token: c.Secret["moov-token"]}
}

// moovEnvironments are those of Moov in the countries that it has an API in.
func moovEnvironments() []sandboxes.EnvironmentConfig {
	return []sandboxes.EnvironmentConfig{
		{Operator: payments.Moov, Country: payments.Benin, Enabled: true, UnknownPolicy: payments.Reject},
		{Operator: payments.Moov, Country: payments.Togo, Enabled: true, UnknownPolicy: payments.Reject},
	}
}

// client makes a test client of Moov, in the country of its number.
func (m *moov) client(name, msisdn string, balance int64, change ...func(*sandboxes.TestClientConfig)) {
	m.f.t.Helper()
	m.f.client(name, msisdn, balance, append(change, func(c *sandboxes.TestClientConfig) {
		c.Operator, c.Country = payments.Moov, payments.Benin
		if strings.HasPrefix(msisdn, "+228") {
			c.Country = payments.Togo
		}
	})...)
}

// withMoov is a fixture whose sandbox has the environments of Moov.
func withMoov(t *testing.T) (*fixture, *moov) {
	f := newFixture(t)
	f.config.Environments = moovEnvironments()
	f.config.OpeningFloat = map[payments.Currency]int64{payments.XOF: 5000}
	f.sandbox(f.config, key)
	return f, f.moov(key)
}

// send makes a request. Headers come in pairs.
func (m *moov) send(method, path, body string, header ...string) nativeAnswer {
	m.f.t.Helper()
	r, err := http.NewRequestWithContext(m.f.t.Context(), method, m.f.url+m.base+path, strings.NewReader(body))
	if err != nil {
		m.f.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
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
	return nativeAnswer{status: answer.StatusCode, header: answer.Header, raw: string(text)}
}

// post makes a request to the JSON API.
func (m *moov) post(path, body string) nativeAnswer {
	m.f.t.Helper()
	return m.send("POST", path, body, "Authorization", m.token, "Content-Type", "application/json")
}

func moovPay(reference, msisdn string, amount any) string {
	return fmt.Sprintf(`{"msisdn":%q,"key":"MRCHO","mrchrefid":%q,"mrchname":"Shop","amount":"%v","partnermsisdn":"22879000000"}`,
		strings.TrimPrefix(msisdn, "+"), reference, amount)
}

// verified is what Togo tells of a debit.
func (m *moov) verified(reference string) string {
	m.f.t.Helper()
	got := m.post(moovVerify, fmt.Sprintf(`{"mrchrefid":%q,"partnermsisdn":""}`, reference))
	return fmt.Sprint(jsonField(got.raw, "code"), " ", jsonField(got.raw, "message"), " ", got.header.Get("X-Cauri-Fault"))
}

func jsonField(text, name string) string {
	_, rest, _ := strings.Cut(text, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// soapBody is an envelope as the SDK for PHP sends it. Fields come in pairs.
func (m *moov) soapBody(operation string, inside bool, fields ...string) string {
	var b strings.Builder
	for i := 0; i < len(fields); i += 2 {
		fmt.Fprintf(&b, "<%s>%s</%[1]s>", fields[i], fields[i+1])
	}
	text := b.String()
	if inside {
		text = "<request>" + text + "</request>"
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="utf-16"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:api="http://api.merchant.tlc.com/">
    <soapenv:Header/>
    <soapenv:Body>
        <api:%s>
            <token>%s</token>
            %s
        </api:%[1]s>
    </soapenv:Body>
</soapenv:Envelope>`, operation, m.token, text)
}

func (m *moov) soap(operation string, inside bool, fields ...string) nativeAnswer {
	m.f.t.Helper()
	return m.send("POST", ussdPush+"?wsdl", m.soapBody(operation, inside, fields...), "Content-Type", "application/soap+xml; charset=utf-8")
}

// push is a request for money in SOAP.
func (m *moov) push(operation, reference, msisdn string, amount any) nativeAnswer {
	m.f.t.Helper()
	return m.soap(operation, false, "msisdn", strings.TrimPrefix(msisdn, "+"), "message", "Two tickets", "amount", fmt.Sprint(amount),
		"externaldata1", reference, "externaldata2", "", "fee", "0")
}

// soapStatus is what getTransactionStatus tells.
func (m *moov) soapStatus(transid string) string {
	m.f.t.Helper()
	got := m.soap("getTransactionStatus", true, "transid", transid)
	return got.field("status") + " " + got.field("description")
}

// field is an element of a SOAP answer.
func (a nativeAnswer) field(name string) string {
	_, rest, _ := strings.Cut(a.raw, "<"+name+">")
	value, _, _ := strings.Cut(rest, "</"+name+">")
	return value
}

func inEnvelope(content string) string {
	return `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>` + content + `</soap:Body></soap:Envelope>`
}

const moovPending = `<ns2:PushWithPendingResponse xmlns:ns2="http://api.merchant.tlc.com/"><result>` +
	`<description>IN PENDING STATE</description><status>100</status></result></ns2:PushWithPendingResponse>`

func TestMoovPush(t *testing.T) {
	f, m := withMoov(t)
	m.client("ama", ama, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	m.push("PushWithPending", "p-1", ama, 1000).is(t, http.StatusOK, inEnvelope(moovPending))
	if got := m.soapStatus("p-1"); got != "100 IN PENDING STATE" {
		t.Errorf("pending it is %q", got)
	}
	listed := f.page("reference=p-1").body["data"].([]any)[0].(object)
	if listed["source"] != "native" || listed["operator"] != "moov" || listed["msisdn"] != ama || listed["description"] != "Two tickets" {
		t.Errorf("/v1 lists %v", listed)
	}
	f.approve(ama)
	paid := m.soap("getTransactionStatus", true, "transid", "p-1")
	moovs := paid.field("referenceid")
	if len(moovs) != 17 || paid.field("status") != "0" || paid.field("description") != "SUCCESS" || paid.field("transid") != "p-1" {
		t.Errorf("paid it is %s", paid.raw)
	}
	if got := m.soapStatus(moovs); got != "0 SUCCESS" {
		t.Errorf("by the reference of Moov it is %q", got)
	}
	for _, body := range []any{1000, 5} {
		if got := m.push("PushWithPending", "p-1", ama, body); got.status != http.StatusOK || got.field("status") != "95" ||
			!strings.HasPrefix(got.header.Get("X-Cauri-Reason"), "duplicate_reference: externaldata1, referenceid or mrchrefid: the reference belongs to the collection TX_") {
			t.Errorf("a repetition is answered %d %s", got.status, got.raw)
		}
	}
	if got := f.call("POST", "/v1/payments", payment("p-1")); got.status != http.StatusConflict {
		t.Errorf("/v1 with the reference answered %d", got.status)
	}
	// Push tells a failure that is known at once. Without a reference, one is made.
	m.client("poor", "+2290195000002", 10)
	if got := m.push("Push", "", "+2290195000002", 700); got.field("status") != "10" || len(got.field("transid")) != 32 {
		t.Errorf("Push is answered %s", got.raw)
	}
	f.conserved()
}

// Push answers when the payer has, and otherwise when its wait is over. Nothing else waits meanwhile.
func TestMoovPushWaitsForThePayer(t *testing.T) {
	f, m := withMoov(t)
	m.client("ama", ama, 500_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	for _, c := range []struct{ answer, want string }{
		{"approve", "0 SUCCESS"}, {"cancel", "92 Cancelled by the subscriber"}, {"wrong_pin", "95 Failed: wrong PIN"},
	} {
		answered := m.pushing(c.answer, ama)
		m.answerPhone(ama, c.answer)
		got := <-answered
		if told := got.field("status") + " " + got.field("description"); told != c.want || got.field("transid") != c.answer ||
			len(got.field("referenceid")) != 17 {
			t.Errorf("%s is answered %s", c.answer, got.raw)
		}
	}
	m.client("kofi", "+2290195000002", 500_000)
	answered := m.pushing("by itself", "+2290195000002")
	m.recorded("by itself")
	f.exec("update transactions set due_at = now() where status = 'PENDING'")
	f.settle()
	if got := <-answered; got.field("status") != "0" {
		t.Errorf("a payer who approves by himself is answered %s", got.raw)
	}
	// A fault of the status is told too, and named.
	f.faulty(`[{"name":"late","operator":{"statusStaysPending":"1h"}}]`)
	answered = m.pushing("stays", ama)
	m.answerPhone(ama, "approve")
	if got := <-answered; got.field("status") != "100" || got.header.Get("X-Cauri-Fault") != "late" {
		t.Errorf("with a fault it is answered %v %s", got.header, got.raw)
	}
	f.faulty(`[]`)
	f.conserved()
}

func TestMoovPushesAtOnce(t *testing.T) {
	f, m := withMoov(t)
	m.client("ama", ama, 5_000_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	registry := prometheus.NewRegistry()
	f = f.serve(func(o *fronts.Options) { o.Metrics = telemetry.NewAPI(registry) })
	m = f.moov(key)
	var all []<-chan nativeAnswer
	for i := range 50 {
		all = append(all, m.pushing(fmt.Sprint("at-once-", i), ama))
	}
	f.counts(registry, "cauri_api_held_answers", "50")
	const busy = `select count(*) from pg_stat_activity where datname = current_database() and usename like '%cauri_api' and state = 'active'`
	if n := read[int](f, busy); n > 10 {
		t.Errorf("%d connections work for answers that wait", n)
	}
	for range all {
		m.answerPhone(ama, "approve")
	}
	for i, answered := range all {
		if got := <-answered; got.field("status") != "0" || got.field("transid") != fmt.Sprint("at-once-", i) {
			t.Errorf("%d is answered %s", i, got.raw)
		}
	}
	f.counts(registry, "cauri_api_held_answers", "0")
	f.conserved()
}

// The wait of Push ends with its time, with the process, with its client, and with the sandbox. It is pending then. Beyond the bound of
// held answers it does not wait.
func TestMoovPushThatNobodyAnswers(t *testing.T) {
	f, m := withMoov(t)
	m.client("ama", ama, 500_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	isPending := func(when string, got nativeAnswer) {
		t.Helper()
		t.Log(when)
		got.is(t, http.StatusOK, inEnvelope(strings.ReplaceAll(moovPending, "PushWithPending", "Push")))
	}
	hasty := f.serve(func(o *fronts.Options) { o.PayerWait = 100 * time.Millisecond }).moov(key)
	isPending("after its time", hasty.push("Push", "over", ama, 5))
	m.answerPhone(ama, "cancel")
	full := f.serve(func(o *fronts.Options) { o.Held = httpfront.HeldBounds{Sandbox: 1} }).moov(key)
	waits := full.pushing("first", ama)
	full.recorded("first")
	isPending("beyond the bound", full.push("Push", "second", ama, 5))
	f.approve(ama)
	if got := <-waits; got.field("status") != "0" {
		t.Errorf("the first is answered %s", got.raw)
	}
	registry := prometheus.NewRegistry()
	counted := f.serve(func(o *fronts.Options) { o.Metrics = telemetry.NewAPI(registry) })
	conn := counted.dial()
	body := m.soapBody("Push", false, "msisdn", ama[1:], "amount", "5", "externaldata1", "gone")
	fmt.Fprintf(conn, "POST /operators/moov%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", ussdPush, len(body), body)
	counted.counts(registry, "cauri_api_held_answers", "1")
	_ = conn.Close()
	counted.counts(registry, "cauri_api_held_answers", "0")
	reset := m.pushing("reset", ama)
	m.recorded("reset")
	f.reset("again")
	isPending("after a reset", <-reset)
	m.client("ama", ama, 500_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	stopped := m.pushing("stopped", ama)
	m.recorded("stopped")
	close(f.release)
	isPending("at the end of the process", <-stopped)
	f.conserved()
}

// With a manual clock the answer comes when the clock passes the latency of the payer.
func TestMoovPushByTheClock(t *testing.T) {
	f, m := withMoov(t)
	m.client("ama", ama, 500_000)
	f.config.Clock = sandboxes.ClockConfig{Mode: sandboxes.ManualClock}
	f.sandbox(f.config, key)
	f.follow()
	answered := m.pushing("by-clock", ama)
	m.recorded("by-clock")
	f.runWorker()
	f.call("POST", "/v1/clock/advance", object{"by": "1h"})
	if got := <-answered; got.field("status") != "0" {
		t.Errorf("it is answered %s", got.raw)
	}
	f.conserved()
}

// pushing begins a Push, and gives its answer.
func (m *moov) pushing(reference, msisdn string) <-chan nativeAnswer {
	answered := make(chan nativeAnswer, 1)
	go func() { answered <- m.push("Push", reference, msisdn, 700) }()
	return answered
}

// answerPhone answers the phone of a number when it rings.
func (m *moov) answerPhone(msisdn, answer string) {
	m.f.t.Helper()
	prompts := "/v1/test_clients/%2B" + msisdn[1:] + "/prompts"
	var ringing []any
	soon(m.f.t, "the phone rings", func() bool {
		ringing = m.f.call("GET", prompts, nil).body["data"].([]any)
		return len(ringing) > 0
	})
	if got := m.f.call("POST", prompts+"/"+ringing[0].(object)["id"].(string)+"/"+answer, nil); got.status != http.StatusOK {
		m.f.t.Fatalf("%s is answered %d %s", answer, got.status, got.raw)
	}
}

// recorded waits until there is a transaction with a reference.
func (m *moov) recorded(reference string) {
	m.f.t.Helper()
	soon(m.f.t, reference+" is recorded", func() bool {
		return read[bool](m.f, "select exists (select from transactions where reference = $1)", reference)
	})
}

func TestMoovDebit(t *testing.T) {
	f, m := withMoov(t)
	m.client("efo", efo, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	for i, path := range []string{moovDebit, "/floozdebitapi/flooz/debitService/", "//payment/HttpService/json/cv/debit"} {
		reference := fmt.Sprint("d-", i)
		got := m.post(path, moovPay(reference, efo, "500"))
		moovs := jsonField(got.raw, "refid")
		got.is(t, http.StatusOK, fmt.Sprintf(`{"status":"0","message":"Transaction is being processed","description":"Transaction is being processed",`+
			`"mrorrefid":%q,"code":"0","refid":%[1]q}`, moovs))
		if got := m.verified(reference); got != "9 Pending validation payment found " {
			t.Errorf("pending it is %q", got)
		}
		f.approve(efo)
		if got := m.verified(reference); got != "0 Success " {
			t.Errorf("paid it is %q", got)
		}
		for _, path := range []string{"/floozdebitapi/flooz/verify", "/payment/HttpService/json/cv/Verify"} {
			if got := m.post(path, fmt.Sprintf(`{"mrchrefid":%q}`, reference)); jsonField(got.raw, "mrchreference") != reference ||
				jsonField(got.raw, "amount") != "500" || jsonField(got.raw, "referenceid") != moovs || jsonField(got.raw, "validationdate") == "" {
				t.Errorf("%s answers %s", path, got.raw)
			}
		}
	}
	if got := m.post(moovDebit, moovPay("d-0", efo, 5)); got.status != http.StatusOK || jsonField(got.raw, "code") != "4" {
		t.Errorf("a repetition is answered %d %s", got.status, got.raw)
	}
	if got := m.post(moovDebit, moovPay("", efo, 5)); jsonField(got.raw, "code") != "0" {
		t.Errorf("without a reference it is answered %s", got.raw)
	}
	f.conserved()
}

func TestMoovTokens(t *testing.T) {
	f, m := withMoov(t)
	user, password := m.Secret["moov-username"], m.Secret["moov-password"]
	asked := func(index, user, password string) nativeAnswer {
		return m.send("GET", fmt.Sprintf("/token?index=%s&username=%s&password=%s", index, user, password), "")
	}
	tokens := map[string]bool{m.token: true}
	for _, index := range []string{"0", "1", "8837", "x", ""} {
		got := asked(index, user, password)
		token := jsonField(got.raw, "key")
		if got.status != http.StatusOK || token == "" {
			t.Errorf("it is answered %d %s", got.status, got.raw)
		}
		tokens[token] = true
		m.token = token
		if got := m.verified("none"); got != "3 Transaction does not exist " {
			t.Errorf("the token with the index %q is answered %q", index, got)
		}
		if got := m.soapStatus("none"); got != "94 Transaction does not exist" {
			t.Errorf("the token with the index %q is answered %q", index, got)
		}
	}
	m.token = moovNamed(f, "sealed")
	if got := m.verified("none"); got != "3 Transaction does not exist " {
		t.Errorf("a token with a vector is answered %q", got)
	}
	if len(tokens) != 3 {
		t.Errorf("there are %d tokens, want 3: of the indexes 0, 1, 8837", len(tokens))
	}
	if got := m.send("GET", fmt.Sprintf("//token/?index=1&username=%s&password=%s", user, password), ""); !tokens[jsonField(got.raw, "key")] {
		t.Errorf("with the slashes of clients it is answered %s", got.raw)
	}
	for _, pair := range [][2]string{{user, "x"}, {"x", password}, {"", ""}, {user, ""}, {password, user}} {
		asked("0", pair[0], pair[1]).is(t, http.StatusOK, moovNoToken)
	}
}

// Every route answers nobody without a token of the sandbox, in every form of its path.
func TestStrangersGetNothingFromMoov(t *testing.T) {
	f, m := withMoov(t)
	f.sandbox(f.config, revokedKey)
	revoked := f.moov(revokedKey).token
	f.sandbox(f.config, key)
	other := f.config
	other.UID, other.Name = "22222222-2222-2222-2222-222222222222", "other"
	f.sandbox(other, otherKey)
	theirs := f.moov(otherKey).token
	secret := m.Secret
	wrong := map[string]string{
		"none": "", "the API key": key, "the password": secret["moov-password"], "a made up one": strings.Repeat("QUJD", 16), "no base64": "%%%",
		"of a revoked key": revoked, "half": m.token[:len(m.token)/2], "with a wrong vector": "QUJD:" + m.token, "with a colon": ":" + m.token,
		"long": strings.Repeat("QUJD", 5000),
	}
	bases := []string{"/operators/moov", "/sandboxes/team/checkout/operators/moov", "/sandboxes/team/none/operators/moov"}
	for _, base := range bases {
		at := *m
		at.base = base
		tokens := map[string]string{}
		for what, token := range wrong {
			tokens[what] = token
		}
		if base != bases[0] {
			tokens["of another sandbox"] = theirs
		}
		for what, token := range tokens {
			at.token = token
			for _, r := range operators.NativeAPI(payments.Moov).Routes {
				if r.Doc.Elsewhere == "" {
					if got := at.send(r.Method, r.Path, "{}", "Authorization", token); got.status != 200 || got.raw != moovNoToken {
						t.Errorf("%s %s%s with a token that is %s answered %d %.300s", r.Method, base, r.Path, what, got.status, got.raw)
					}
				}
			}
			for _, o := range []string{"Push", "PushWithPending", "getTransactionStatus", "transferFlooz", "getBalance", "getMobileAccountStatus"} {
				if got := at.soap(o, false, "msisdn", ama); got.status != 200 || got.field("status") != "98" || strings.Count(got.raw, "<status>") != 1 {
					t.Errorf("%s%s with a token that is %s answered %d %.300s", base, o, what, got.status, got.raw)
				}
			}
		}
		at.token = ""
		for _, body := range []string{"", "{}", "<", "<a/>", `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`} {
			if got := at.send("POST", ussdPush, body); got.status != 500 || !strings.Contains(got.raw, "<soap:Fault>") {
				t.Errorf("%s with %q answered %d %.300s", base, body, got.status, got.raw)
			}
		}
	}
	// What is another sandbox's is not found.
	m.push("PushWithPending", "p-1", ama, 100)
	m.post(moovDebit, moovPay("d-1", efo, 100))
	stranger := f.moov(otherKey)
	if got := stranger.soapStatus("p-1") + stranger.verified("d-1"); got != "94 Transaction does not exist3 Transaction does not exist " {
		t.Errorf("another sandbox finds it: %s", got)
	}
	f.conserved()
}

// Each country has the API of its own, if the sandbox has an environment there. No client knows the paths that were here before.
func TestMoovOfCountries(t *testing.T) {
	f, m := withMoov(t)
	all := moovEnvironments()
	ivory := sandboxes.EnvironmentConfig{Operator: payments.Moov, Country: payments.CoteDIvoire, Enabled: true, UnknownPolicy: payments.Reject}
	for name, c := range map[string]struct {
		environments []sandboxes.EnvironmentConfig
		soap, json   int
	}{
		"BJ": {all[:1], 200, 404}, "TG": {all[1:], 404, 200}, "CI": {[]sandboxes.EnvironmentConfig{ivory}, 404, 404},
		"all": {append(all, ivory), 200, 200},
	} {
		f.config.Environments = c.environments
		f.sandbox(f.config, key)
		f.follow()
		if got := m.soap("getBalance", true, "msisdn", ama); got.status != c.soap || got.status == 404 && got.raw != "" {
			t.Errorf("%s: SOAP is answered %d %s", name, got.status, got.raw)
		}
		token := m.send("GET", "/token?username="+m.User+"&password="+m.UserKey, "")
		for _, got := range []nativeAnswer{m.post(moovDebit, moovPay("c-"+name, efo, 5)), m.post(moovVerify, `{"mrchrefid":"x"}`), token} {
			if got.status != c.json || got.status == 404 && got.raw != "" {
				t.Errorf("%s: JSON is answered %d %s", name, got.status, got.raw)
			}
		}
	}
	for _, path := range []string{"POST /auth/token", "POST /merchant/v1/payments", "GET /merchant/v1/payments/r", "POST /com.tlc.merchant.api/Other",
		"POST /OnlinePayment", "POST /com.tlc.merchant.api/Push"} {
		method, path, _ := strings.Cut(path, " ")
		got := m.send(method, path, m.soapBody("getBalance", true, "msisdn", ama), "Authorization", m.token)
		if got.status != 404 || got.raw != "" || !strings.HasPrefix(got.header.Get("X-Cauri-Reason"), "no_route: path: ") {
			t.Errorf("%s is answered %d %s", path, got.status, got.raw)
		}
	}
	// The number's country is that of the API.
	f.config.Environments = append(all, ivory)
	f.sandbox(f.config, key)
	f.follow()
	for _, number := range []string{efo, "+2250100000001"} {
		if got := m.push("PushWithPending", "x", number, 5); got.field("status") != "3" {
			t.Errorf("%s in Benin is answered %s", number, got.raw)
		}
	}
	if got := m.post(moovDebit, moovPay("x", ama, 5)); jsonField(got.raw, "code") != "3" {
		t.Errorf("a number of Benin in Togo is answered %s", got.raw)
	}
}

func TestMoovRefusals(t *testing.T) {
	f, m := withMoov(t)
	long := strings.Repeat("x", 81)
	for name, c := range map[string]struct{ reference, msisdn, amount, want string }{
		"no number":      {"r", "", "5", "91 1"},
		"no amount":      {"r", "n", "", "91 1"},
		"a short number": {"r", "2299", "5", "3 3"},
		"letters":        {"r", "abc", "5", "3 3"},
		"a long number":  {"r", "229019500000111", "5", "3 3"},
		"another code":   {"r", "22779000001", "5", "3 3"},
		"zero":           {"r", "n", "0", "12 3"},
		"below zero":     {"r", "n", "-5", "12 3"},
		"too much":       {"r", "n", "1000000000001", "11 3"},
		"a long id":      {long, "n", "5", "91 3"},
		"a text":         {"r", "n", "abc", "For input string: &#34;abc&#34; 3"},
		"a fraction":     {"r", "n", "1.5", "For input string: &#34;1.5&#34; 3"},
		"too many":       {"r", "n", strings.Repeat("9", 30), "For input string: &#34;999999999999999999999999999999&#34; 3"},
	} {
		benin, togo := c.msisdn, c.msisdn
		if c.msisdn == "n" {
			benin, togo = ama, efo
		}
		soap := m.push("PushWithPending", c.reference, benin, c.amount)
		got := soap.field("status") + soap.field("faultstring") + " " + jsonField(m.post(moovDebit, moovPay(c.reference, togo, c.amount)).raw, "code")
		if got != c.want || (soap.field("faultstring") != "") != (soap.status == http.StatusInternalServerError) {
			t.Errorf("%s is answered %d %q, want %q", name, soap.status, got, c.want)
		}
	}
	for _, body := range []string{"", "{", "[]", `{"mrchrefid":{}}`, `{"msisdn":"22879000001","amount":"5","mrchrefid":"\u0000"}`} {
		if got := m.post(moovDebit, body); got.status != http.StatusOK || jsonField(got.raw, "code") != "3" {
			t.Errorf("%s is answered %d %s", body, got.status, got.raw)
		}
	}
	if got := m.soap("getTransactionStatus", true); got.field("status") != "91" {
		t.Errorf("a status without a transaction is answered %s", got.raw)
	}
	if got := m.post(moovVerify, "{}"); jsonField(got.raw, "code") != "1" {
		t.Errorf("a state without a reference is answered %s", got.raw)
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d transactions were recorded", n)
	}
	// Numbers with their country code and without, of both generations; amounts as JSON numbers.
	for i, number := range []string{"2290195000001", "0195000001", "22995000001", "95000001", " 0195000001\n"} {
		if got := m.push("PushWithPending", fmt.Sprint("n-", i), number, "5.0"); got.field("status") != "100" {
			t.Errorf("%q is answered %s", number, got.raw)
		}
	}
	for _, body := range []string{`{"msisdn":22879000001,"amount":5.0}`, `{"msisdn":"79000001","amount":"5","more":{}}`} {
		if got := m.post(moovDebit, body); jsonField(got.raw, "code") != "0" {
			t.Errorf("%s is answered %s", body, got.raw)
		}
	}
}

// The envelopes of published clients are read, and what could harm a reader of XML is not.
func TestMoovEnvelopes(t *testing.T) {
	_, m := withMoov(t)
	inside := `<token>` + m.token + `</token><request><msisdn>` + ama[1:] + `</msisdn></request>`
	for _, body := range []string{
		`<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/" xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Header/>` +
			`<S:Body><ns2:getBalance xmlns:ns2="http://api.checktransaction.tlc.com/">` + inside + `</ns2:getBalance></S:Body></S:Envelope>`,
		`<Envelope><Body><getBalance><request><msisdn><!-- ours -->` + ama[1:] + `</msisdn></request><token>` + m.token + `</token></getBalance></Body></Envelope>`,
		"\n<?xml version='1.0' encoding='ISO-8859-1'?><e:Envelope xmlns:e='x'><e:Body><getBalance>\n" + inside + "\n</getBalance></e:Body></e:Envelope>",
	} {
		for _, kind := range []string{"application/xml", "text/xml;charset=utf-8", "application/soap+xml", ""} {
			for _, path := range []string{ussdPush, ussdPush + "/", "/com.tlc.merchant.api/getBalance", ussdPush + "?wsdl"} {
				got := m.send("POST", path, strings.TrimSpace(body), "Content-Type", kind)
				got.is(t, http.StatusOK, inEnvelope(`<ns2:getBalanceResponse xmlns:ns2="http://api.merchant.tlc.com/"><return>`+
					`<balance>5000.00</balance><message>SUCCESS</message><status>0</status></return></ns2:getBalanceResponse>`))
				if got.header.Get("Content-Type") != "text/xml;charset=UTF-8" {
					t.Errorf("the type is %s", got.header.Get("Content-Type"))
				}
			}
		}
	}
	// A document in ISO-8859-1 is read, and the request log has its accents.
	for i, label := range []string{"ISO-8859-1", "iso-8859-1", "Windows-1252", "latin1"} {
		body := `<?xml version="1.0" encoding="` + label + `"?>` + strings.TrimPrefix(m.soapBody("PushWithPending", false, "msisdn", ama[1:], "amount", "5",
			"externaldata1", fmt.Sprint("l-", i), "message", "Caf\xe9 \xe0 Parakou", "externaldata2", "\xe9t\xe9"), `<?xml version="1.0" encoding="utf-16"?>`)
		if got := m.send("POST", ussdPush, body, "Content-Type", "text/xml"); got.field("status") != "100" {
			t.Errorf("%s is answered %d %s (%s)", label, got.status, got.raw, got.header.Get("X-Cauri-Reason"))
		}
		if listed := m.f.page(fmt.Sprint("reference=l-", i)).body["data"].([]any); len(listed) != 1 || listed[0].(object)["description"] != "Café à Parakou" {
			t.Errorf("%s: /v1 lists %v", label, listed)
		}
	}
	good := m.soapBody("getBalance", true, "msisdn", ama[1:])
	deep := strings.Repeat("<a>", 40000)
	for name, body := range map[string]string{
		"an entity":         strings.Replace(strings.Replace(good, "<soapenv:Envelope", `<!DOCTYPE a [<!ENTITY b "`+ama+`">]><soapenv:Envelope`, 1), ama[1:], "&b;", 1),
		"a file":            strings.Replace(good, "<soapenv:Envelope", `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><soapenv:Envelope`, 1),
		"an unknown entity": strings.Replace(good, ama[1:], "&b;", 1),
		"depth":             strings.Replace(good, "<request>", "<request>"+deep, 1),
		"fields":            strings.Replace(good, "<request>", "<request>"+fields(60), 1),
		"two operations":    strings.Replace(good, "<soapenv:Body>", "<soapenv:Body><api:Push/>", 1),
		"UTF-16":            "\xff\xfe<\x00a\x00/\x00>\x00",
		"no end":            good[:len(good)-20],
	} {
		got := m.send("POST", ussdPush, body, "Content-Type", "text/xml")
		if got.status != http.StatusInternalServerError || !strings.Contains(got.raw, "<faultcode>soap:Client</faultcode>") ||
			!strings.HasPrefix(got.header.Get("X-Cauri-Reason"), "invalid_request: the body is not readable: ") {
			t.Errorf("%s is answered %d %.300s (%s)", name, got.status, got.raw, got.header.Get("X-Cauri-Reason"))
		}
	}
	if got := m.send("POST", ussdPush, good+strings.Repeat(" ", 70_000)); got.field("status") != "91" {
		t.Errorf("a body that is too large is answered %d %s", got.status, got.raw)
	}
	got := m.soap("refund", true)
	if got.status != 500 || !strings.HasPrefix(got.header.Get("X-Cauri-Reason"), "unknown_operation: ") || !strings.Contains(got.raw, "soap:Server") {
		t.Errorf("an unknown operation is answered %d %s", got.status, got.raw)
	}
	// What is repeated is escaped.
	m.push("Push", "a&lt;b", ama, 5)
	if got := m.soap("getTransactionStatus", true, "transid", "a&lt;b"); got.field("transid") != "a&lt;b" {
		t.Errorf("it is answered %s", got.raw)
	}
}

// A path that Moov does not have is 404, with a right token, a wrong one and none, in the header or in SOAP.
func TestMoovUnknownPaths(t *testing.T) {
	f, m := withMoov(t)
	for _, base := range []string{"/operators/moov", "/sandboxes/team/checkout/operators/moov", "/sandboxes/team/none/operators/moov"} {
		for _, token := range []string{m.token, "wrong", ""} {
			m.base, m.token = base, token
			for _, body := range []string{m.soapBody("getBalance", true, "msisdn", ama), "{}"} {
				for _, path := range []string{"/none", "/UssdPush", "/com.tlc.merchant.api/v2/UssdPush", "/Flooz/DebitService/Other"} {
					got := m.post(path, body)
					got.is(t, http.StatusNotFound, "")
					if m.send("POST", path, body).is(t, http.StatusNotFound, ""); !strings.HasPrefix(got.header.Get("X-Cauri-Reason"), "no_route: ") {
						t.Errorf("the reason is %s", got.header.Get("X-Cauri-Reason"))
					}
				}
			}
			m.token = f.moov(key).token
		}
	}
	m.base = "/operators/moov"
	m.send("POST", "/elsewhere", m.soapBody("getBalance", true, "msisdn", ama[1:]), "Content-Type", "text/xml")
	if entry := f.requests("")[0]; fieldsOf(entry, "path", "status", "error") != "/operators/moov/elsewhere 404 no_route" {
		t.Errorf("the request log has %v", entry)
	}
}

func fields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<f%d>x</f%[1]d>", i)
	}
	return b.String()
}

func TestMoovPayouts(t *testing.T) {
	f, m := withMoov(t)
	m.client("ama", ama, 0)
	transfer := func(reference string, amount int) nativeAnswer {
		return m.soap("transferFlooz", true, "destination", ama[1:], "amount", fmt.Sprint(amount), "referenceid", reference, "walletid", "0",
			"extendeddata", "salary")
	}
	got := transfer("t-1", 1000)
	moovs := got.field("referenceid")
	got.is(t, http.StatusOK, inEnvelope(`<ns2:transferFloozResponse xmlns:ns2="http://api.merchant.tlc.com/"><return>`+
		`<message>Vous avez transfere 1000 FCFA. Votre nouveau solde 4000.00 FCFA</message><referenceid>`+moovs+`</referenceid>`+
		`<senderbalanceafter>4000.00</senderbalanceafter><senderbalancebefore>5000.00</senderbalancebefore><senderbonus>0.00</senderbonus>`+
		`<senderkeycost>0.00</senderkeycost><status>0</status><transactionid>t-1</transactionid></return></ns2:transferFloozResponse>`))
	if got := transfer("t-1", 1000); got.field("status") != "95" {
		t.Errorf("a repetition is answered %s", got.raw)
	}
	if got := transfer("t-2", 900_000); got.field("status") != "8" || got.field("senderbalancebefore") != "4000.00" {
		t.Errorf("beyond the float it is answered %s", got.raw)
	}
	for _, o := range []string{"cashintrans", "airtimetrans"} {
		got := m.soap(o, true, "amount", "500", "destination", "0195000001", "referenceid", o, "remarks", "x")
		if got.field("status") != "0" || got.field("referenceid") != o || len(got.field("transid")) != 17 {
			t.Errorf("%s is answered %s", o, got.raw)
		}
		if got := m.soapStatus(got.field("transid")); got != "0 SUCCESS" {
			t.Errorf("%s is told as %q", o, got)
		}
	}
	if got := m.soap("getBalance", true, "msisdn", ama[1:]); got.field("balance") != "3000.00" {
		t.Errorf("the balance is %s", got.raw)
	}
	// The balances are those of each transfer, also of transfers at the same time.
	var at sync.Mutex
	var all sync.WaitGroup
	after := map[string]bool{}
	for i := range 20 {
		all.Go(func() {
			got := transfer(fmt.Sprint("at-once-", i), 10)
			at.Lock()
			defer at.Unlock()
			after[got.field("senderbalanceafter")] = true
		})
	}
	if all.Wait(); len(after) != 20 || !after["2800.00"] {
		t.Errorf("after 20 transfers of 10 at once, the balances are %v", after)
	}
	f.conserved()
}

func TestMoovAccounts(t *testing.T) {
	_, m := withMoov(t)
	m.client("ama-dossou", ama, 0)
	m.client("blocked", "+2290195000003", 0, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	for number, want := range map[string]string{
		ama[1:]: "0 ama dossou ACTIVE", "0195000003": "0 blocked  LOCKED", "0195999999": "555   ", "1": "3   ", "": "91   ",
	} {
		got := m.soap("getMobileAccountStatus", true, "msisdn", number)
		if told := strings.Join([]string{got.field("status"), got.field("firstname"), got.field("lastname"), got.field("subscriberstatus")}, " "); told != want {
			t.Errorf("%s is %q, want %q", number, told, want)
		}
	}
}

func TestMoovFailures(t *testing.T) {
	f, m := withMoov(t)
	f.config.TestNumbers = payments.StandardTestNumbers
	for i, country := range []string{"+22901950000", "+228790000"} {
		m.client(fmt.Sprint("poor-", i), country+"02", 10)
		m.client(fmt.Sprint("blocked-", i), country+"03", 50_000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
		m.client(fmt.Sprint("cancels-", i), country+"05", 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Cancel })
		m.client(fmt.Sprint("wrong-", i), country+"06", 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.WrongPIN })
		m.client(fmt.Sprint("ignores-", i), country+"07", 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Ignore })
		m.client(fmt.Sprint("limited-", i), country+"08", 50_000)
		most := int64(1000)
		f.config.Environments[i].MaxAmount = &most
	}
	for _, vague := range []bool{false, true} {
		f.config.Environments[0].Vague, f.config.Environments[1].Vague = vague, vague
		f.sandbox(f.config, key)
		f.follow()
		for number, want := range map[string][2]string{
			"02": {"10 Insufficient funds", "10 Insufficient funds "}, "03": {"7 Account locked", "10 Account locked "},
			"05": {"92 Cancelled by the subscriber", "10 Cancelled by the subscriber "}, "06": {"95 Failed: wrong PIN", "10 Failed: wrong PIN "},
			"07": {"92 USSD timeout", "10 USSD timeout "}, "08": {"13 Daily maximum exceeded", "10 Daily maximum exceeded "},
			"99": {"555 Subscriber not registered", "10 Subscriber not registered "},
		} {
			reference, amount := "f-"+newReference(), 1000
			if number == "08" {
				amount = 1001
			}
			m.push("PushWithPending", reference, "+22901950000"+number, amount)
			m.post(moovDebit, moovPay(reference+"t", "+228790000"+number, amount))
			f.finish()
			if vague {
				want = [2]string{"95 FAILED", "10 FAILED "}
			}
			if got := [2]string{m.soapStatus(reference), m.verified(reference + "t")}; got != want {
				t.Errorf("%s is %q, want %q", number, got, want)
			}
		}
	}
	f.conserved()
}

func TestMoovCallbacks(t *testing.T) {
	f, m := withMoov(t)
	shop := newShopEndpoint(t)
	m.client("ama", ama, 50_000)
	m.client("efo", efo, 50_000)
	f.config.CallbackHosts = []string{"127.0.0.1"}
	f.config.Environments[0].CallbackURL, f.config.Environments[1].CallbackURL = shop.URL+"/benin", shop.URL+"/togo"
	f.sandbox(f.config, key)
	f.follow()
	m.push("PushWithPending", "c-b", ama, 700)
	m.post(moovDebit, moovPay("c-t", efo, 700))
	m.post(moovDebit, moovPay("c-n", "+22879000099", 700))
	f.settle()
	f.runWorker()
	for path, want := range map[string][]string{
		"/benin": {`"mrchrefid":"c-b","msisdn":"2290195000001","status":"0","message":"SUCCESS"}`},
		"/togo": {
			`"mrchrefid":"c-t","msisdn":"22879000001","status":"0","message":"Success"}`,
			`"mrchrefid":"c-n","msisdn":"22879000099","status":"10","message":"Subscriber not registered"}`,
		},
	} {
		sent := strings.Join(shop.wait(t, path, len(want)), "\n")
		for _, body := range want {
			form := `\{"amount":"700","refid":"7[0-9]{16}",` + regexp.QuoteMeta(body)
			if !regexp.MustCompile(form).MatchString(sent) {
				t.Errorf("%s got %s, want %s", path, sent, body)
			}
		}
	}
	f.conserved()
}

func TestMoovFaults(t *testing.T) {
	f, m := withMoov(t)
	m.client("ama", ama, 50_000)
	for _, status := range []int{401, 429, 500, 502, 503} {
		f.faulty(fmt.Sprintf(`[{"name":"s%d","when":{"first":1},"operator":{"status":%[1]d}}]`, status))
		if got := m.push("PushWithPending", fmt.Sprint("s-", status), ama, 5); got.status != status || !strings.Contains(got.raw, "<soap:") {
			t.Errorf("SOAP is answered %d %s", got.status, got.raw)
		}
		f.faulty(fmt.Sprintf(`[{"name":"j%d","when":{"first":1},"operator":{"status":%[1]d}}]`, status))
		if got := m.post(moovDebit, moovPay(fmt.Sprint("j-", status), efo, 5)); got.status != status || jsonField(got.raw, "code") == "" {
			t.Errorf("JSON is answered %d %s", got.status, got.raw)
		}
		// A call that records nothing is changed by a fault with its path.
		f.faulty(fmt.Sprintf(`[{"name":"b%d","when":{"path":"/operators/moov/*","first":1},"operator":{"status":%[1]d}}]`, status))
		if got := m.soap("getBalance", true, "msisdn", ama[1:]); got.status != status {
			t.Errorf("a balance is answered %d %s", got.status, got.raw)
		}
	}
	m.push("PushWithPending", "ok", ama, 5)
	f.settle()
	f.faulty(`[{"name":"late","operator":{"statusStaysPending":"1h"}}]`)
	if got := m.soapStatus("ok"); got != "100 IN PENDING STATE" {
		t.Errorf("it is told as %q", got)
	}
	m.push("PushWithPending", "poor", "+2290195999999", 5)
	f.faulty(`[{"name":"why","operator":{"reason":"13"}}]`)
	if got := m.soapStatus("poor"); !strings.HasPrefix(got, "13 ") {
		t.Errorf("it is told as %q", got)
	}
	f.faulty(`[]`)
	limit := int32(1)
	f.config.RateLimit = &limit
	f.sandbox(f.config, key)
	f.follow()
	m.verified("x")
	if got := m.soap("getBalance", true, "msisdn", ama[1:]); got.status != 429 || !strings.Contains(got.raw, "<soap:Fault>") ||
		got.header.Get("Retry-After") == "" {
		t.Errorf("over the limit it is answered %d %s", got.status, got.raw)
	}
	f.config.RateLimit, f.config.Suspended = nil, true
	f.sandbox(f.config, key)
	f.follow()
	if got := m.post(moovVerify, "{}"); got.status != 503 || jsonField(got.raw, "code") != "100" {
		t.Errorf("suspended it is answered %d %s", got.status, got.raw)
	}
	f.conserved()
}

// The WSDL names the address at which it was asked for, and every operation. It needs no token.
func TestMoovWSDL(t *testing.T) {
	f, m := withMoov(t)
	for _, base := range []string{"/operators/moov", "/sandboxes/team/checkout/operators/moov"} {
		m.base = base
		got := m.send("GET", ussdPush+"?wsdl", "")
		for _, path := range []string{"/com.tlc.merchant.api/Push?wsdl", "/com.tlc.merchant.api/getBalance?WSDL"} {
			if other := m.send("GET", path, ""); other.raw != got.raw {
				t.Errorf("%s is answered %d %.100s", path, other.status, other.raw)
			}
		}
		var document struct {
			Operations []struct {
				Name string `xml:"name,attr"`
			} `xml:"portType>operation"`
			Elements []struct {
				Name string `xml:"name,attr"`
			} `xml:"types>schema>element"`
			Address struct {
				Location string `xml:"location,attr"`
			} `xml:"service>port>address"`
		}
		err := xml.Unmarshal([]byte(got.raw), &document)
		if err != nil || got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "text/xml") {
			t.Fatalf("it is answered %d %s: %v", got.status, got.raw, err)
		}
		if len(document.Operations) != 8 || len(document.Elements) != 16 || document.Address.Location != f.url+base+ussdPush {
			t.Errorf("it has %+v", document)
		}
	}
}

func prepareMoov(f *fixture) {
	f.config.Environments = append(f.config.Environments, moovEnvironments()...)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.XOF: 1_000_000}
	f.sandbox(f.config, key)
	m := f.moov(key)
	for i, country := range []string{"+22901950000", "+228790000"} {
		m.client(fmt.Sprintf("ama-dossou-%d", i), country+"01", 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
		m.client(fmt.Sprintf("poor-%d", i), country+"02", 10)
	}
}

func moovNamed(f *fixture, name string) string {
	m := f.moov(key)
	switch name {
	case "token":
		return m.token
	case "sealed": // a token with an initialization vector in front, as one client of Togo makes it
		return moovToken(m.Secret["moov-encryption-key"], "16:"+m.User+":"+m.UserKey)
	}
	return ""
}

func moovToken(encryptionKey, text string) string {
	block, err := aes.NewCipher([]byte(encryptionKey))
	if err != nil {
		panic(err)
	}
	vector, padding := []byte("0123456789abcdef"), aes.BlockSize-len(text)%aes.BlockSize
	sealed := append([]byte(text), bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(block, vector).CryptBlocks(sealed, sealed)
	return base64.StdEncoding.EncodeToString(vector) + ":" + base64.StdEncoding.EncodeToString(sealed)
}

func moovExamples(f *fixture) pageExamples {
	m, paid := f.moov(key), "paid"
	m.post(moovDebit, moovPay(paid, efo, 500))
	return pageExamples{replaced: func(r *operatorapi.Route) []string {
		if strings.Contains(strings.ToLower(r.Path), "verify") {
			return []string{"order-1042", paid}
		}
		return []string{"order-1042", newReference()}
	}}
}

// What a request to Moov's API asked for, and why it was refused, is in the request log, also where the answer is 200.
func TestRequestLogHasWhatFailedAtMoov(t *testing.T) {
	f, m := withMoov(t)
	m.client("ama", ama, 50_000)
	m.push("PushWithPending", "paid", ama, 700)
	m.push("PushWithPending", "none", "+2290195", 700)
	m.push("PushWithPending", "text", ama, "x")
	m.post(moovDebit, `{"msisdn":"1","mrchrefid":"none","key":"MRCHO","amount":"5"}`)
	f.requests("&all=true") // from here on, what succeeds is kept too
	f.follow()
	m.soap("getTransactionStatus", true, "transid", "paid")
	got := f.requests("&all=true")
	var told []string
	for _, entry := range got {
		told = append(told, fieldsOf(entry, "status", "error", "requestBody", "responseBody", "notKept"))
	}
	push := "map[amount:%s externaldata1:%s externaldata2: fee:0 message:Two tickets msisdn:%s]"
	want := []string{
		"200 <nil> map[transid:paid] map[description:IN PENDING STATE status:100] [wsdl token]",
		"200 wrong_msisdn map[amount:5 mrchrefid:none msisdn:1] map[code:3 description:Invalid request message:Invalid request mrorrefid: refid: status:3] [key]",
		"500 amount_not_a_number " + fmt.Sprintf(push, "x", "text", ama[1:]) + ` map[faultcode:soap:Server faultstring:For input string: "x"] [wsdl token]`,
		"200 wrong_msisdn " + fmt.Sprintf(push, "700", "none", "2290195") + " map[description:Invalid number status:3] [wsdl token]",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
}

// No credential of Moov's API, in a header, a query, an envelope or a field that is kept, comes into the request log.
func TestRequestLogHasNoSecretOfMoov(t *testing.T) {
	f, m := withMoov(t)
	f.requests("&all=true") // what succeeds is kept too
	f.follow()
	secrets := map[string]string{
		"user name": m.User, "password": m.UserKey, "token": m.token, "token with a vector": moovNamed(f, "sealed"), "key of /v1": key,
	}
	m.send("GET", "/token?index=7&username="+m.User+"&password="+m.UserKey, "")
	m.send("GET", "/token?index=7&username="+m.User+"&password=wrong"+m.UserKey, "")
	for _, secret := range secrets {
		for _, field := range []string{"mrchrefid", "msisdn", "message", "status", "mrchname", "key", "amount"} {
			m.post(moovDebit, fmt.Sprintf(`{%q:%q,"mrchname":%q}`, field, "x "+secret, secret))
		}
		m.post(moovDebit, moovPay("r-"+newReference(), efo, 5)+secret)
		m.push("PushWithPending", "r-"+newReference(), ama, secret)
		m.push(secret[:8], secret, ama, 5)
		m.soap("getTransactionStatus", true, "transid", secret)
		m.send("GET", "/token?"+url.Values{"index": {secret}, "username": {secret}, "x": {secret}}.Encode(), "")
		m.send("POST", "/none/"+url.PathEscape(secret), secret, "Authorization", m.token)
		for _, header := range []string{"Authorization", "Cookie", "User-Agent", "X-Request-Id"} {
			m.send("POST", moovDebit, "{}", header, secret)
			m.send("POST", moovVerify, "{}", header, "Bearer "+secret)
		}
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
