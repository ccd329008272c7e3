package httpapi_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// c2bShop is a shop that M-Pesa asks before a payment, and tells after it. The path of its URL says what it answers.
type c2bShop struct {
	f    *fixture
	m    *mpesa
	url  string
	told string // path of the URL for confirmations

	mu     sync.Mutex
	came   []string      // each with the path and the body
	silent chan struct{} // what is waited for before an answer, which is empty
	held   chan struct{} // a request to /held has come
}

// newC2BShop is a shop in a sandbox whose clock stands, with a worker.
func newC2BShop(t *testing.T) *c2bShop {
	f, m := withMPesa(t, payments.Manual)
	f.config.Clock = sandboxes.ClockConfig{Mode: sandboxes.ManualClock}
	f.sandbox(f.config, key)
	f.follow()
	s := &c2bShop{f: f, m: m, told: "/told", silent: make(chan struct{}), held: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.came = append(s.came, r.URL.Path+" "+string(body))
		s.mu.Unlock()
		switch r.URL.Path {
		case "/held":
			s.held <- struct{}{}
			fallthrough
		case "/silent":
			<-s.silent
		case "/lost":
			w.WriteHeader(http.StatusInternalServerError)
		case "/error":
			w.WriteHeader(http.StatusInternalServerError)
			fallthrough
		case "/no":
			_, _ = w.Write([]byte(`{"ResultCode":"C2B00012","ResultDesc":"Rejected"}`))
		case "/number":
			_, _ = w.Write([]byte(`{"ResultCode":0,"ResultDesc":"Accepted"}`))
		case "/decimal":
			_, _ = w.Write([]byte(`{"ResultCode":0.0,"ResultDesc":"Accepted"}`))
		case "/nothing":
		default:
			_, _ = w.Write([]byte(`{"ResultCode":"0","ResultDesc":"Accepted","ThirdPartyTransID":"shop-7"}`))
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(s.silent) })
	s.url = server.URL
	f.runWorker()
	return s
}

// sent returns what has come to the shop, and forgets it.
func (s *c2bShop) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	came := s.came
	s.came = nil
	return came
}

func (s *c2bShop) advance(by string) {
	s.f.t.Helper()
	if got := s.f.call("POST", "/v1/clock/advance", object{"by": by}); got.status != http.StatusOK {
		s.f.t.Fatalf("the advance is answered %d %s", got.status, got.raw)
	}
}

// register registers URLs of the shop for the public short code. Without a path for it, no validation is asked.
func (s *c2bShop) register(version, responseType, validation string) {
	s.f.t.Helper()
	if validation != "" {
		validation = s.url + validation
	}
	got := s.m.call("POST", "/mpesa/c2b/"+version+"/registerurl",
		fmt.Sprintf(`{"ShortCode":"174379","ResponseType":%q,"ConfirmationURL":%q,"ValidationURL":%q}`, responseType, s.url+s.told, validation))
	if got.status != http.StatusOK || got.body["ResponseDescription"] != "Success" {
		s.f.t.Fatalf("the registration is answered %d %s (%s)", got.status, got.raw, got.header.Get("X-Cauri-Reason"))
	}
}

// simulate makes a number pay the public short code.
func (m *mpesa) simulate(msisdn string, amount int, bill string) {
	m.f.t.Helper()
	got := m.call("POST", "/mpesa/c2b/v2/simulate", fmt.Sprintf(
		`{"ShortCode":174379,"CommandID":"CustomerPayBillOnline","Amount":%d,"Msisdn":%s,"BillRefNumber":%q}`, amount, msisdn[1:], bill))
	if got.status != http.StatusOK || got.body["ResponseDescription"] != "Accept the service request successfully." {
		m.f.t.Fatalf("a payment is answered %d %s (%s)", got.status, got.raw, got.header.Get("X-Cauri-Reason"))
	}
}

// byBill returns the payments with an orderRef.
func (f *fixture) byBill(bill string) (found []object) {
	f.t.Helper()
	for _, each := range f.call("GET", "/v1/payments?order_ref="+bill, nil).body["data"].([]any) {
		found = append(found, each.(object))
	}
	return found
}

const receiptForm = `[A-Z][A-L][1-9A-V][0-9A-Z]{7}`

// A payer who pays the short code is asked about first, and told after it. /v1 says the same of the payment.
func TestMPesaC2B(t *testing.T) {
	s := newC2BShop(t)
	hash := sha256.Sum256([]byte(wanjiku[1:]))
	for version, msisdn := range map[string]string{"v1": hex.EncodeToString(hash[:]), "v2": "2547 ***** 001"} {
		s.register(version, "Completed", "/ask")
		before := s.f.float("KES")
		s.m.simulate(wanjiku, 500, "bill-"+version)
		s.advance("1m")
		paid := s.f.byBill("bill-" + version)
		if len(paid) != 1 || fieldsOf(paid[0], "status", "type", "amount", "msisdn", "source", "operator", "currency") !=
			"SUCCESS collection 500 "+wanjiku+" native mpesa KES" {
			t.Fatalf("/v1 lists %v", paid)
		}
		id := paid[0]["reference"].(string)
		if !regexp.MustCompile("^" + receiptForm + "$").MatchString(id) {
			t.Errorf("the reference is %s", id)
		}
		if got := s.f.float("KES") - before; got != 500 {
			t.Errorf("the balance grew by %d", got)
		}
		came := s.sent()
		if len(came) != 2 {
			t.Fatalf("what came: %q", came)
		}
		for i, want := range [][3]string{{"/ask", "", ""}, {"/told", fmt.Sprintf("%d.00", s.f.float("KES")), "shop-7"}} {
			form := regexp.MustCompile(`^` + want[0] + ` \{"TransactionType":"Pay Bill","TransID":"` + id + `","TransTime":"[0-9]{14}","TransAmount":"500\.00",` +
				`"BusinessShortCode":"174379","BillRefNumber":"bill-` + version + `","InvoiceNumber":"","OrgAccountBalance":"` + want[1] + `",` +
				`"ThirdPartyTransID":"` + want[2] + `","MSISDN":"` + regexp.QuoteMeta(msisdn) + `","FirstName":"WANJIKU","MiddleName":"","LastName":""\}$`)
			if !form.MatchString(came[i]) {
				t.Errorf("%s: what came is %s, want %s", version, came[i], form)
			}
		}
	}
	s.f.conserved()
}

// A till has no reference of a bill.
func TestMPesaC2BOfTill(t *testing.T) {
	s := newC2BShop(t)
	s.register("v2", "Completed", "/ask")
	got := s.m.call("POST", "/mpesa/c2b/v1/simulate",
		`{"ShortCode":"174379","CommandID":"CustomerBuyGoodsOnline","Amount":"7","Msisdn":"254712000001","BillRefNumber":null}`)
	if got.status != http.StatusOK {
		t.Fatalf("a payment is answered %d %s", got.status, got.raw)
	}
	s.advance("1m")
	for _, came := range s.sent() {
		if !strings.Contains(came, `{"TransactionType":"Buy Goods"`) || !strings.Contains(came, `"BillRefNumber":""`) {
			t.Errorf("what came is %s", came)
		}
	}
	s.f.conserved()
}

// What the shop answers to a validation decides about the payment: without an answer, the registered default does.
func TestMPesaC2BValidation(t *testing.T) {
	s := newC2BShop(t)
	for _, c := range []struct {
		path, responseType string
		paid               bool
		thirdParty         string
	}{
		{"/ask", "Cancelled", true, "shop-7"}, {"/number", "Cancelled", true, ""}, {"/no", "Completed", false, ""},
		{"/error", "Completed", true, ""}, {"/error", "Cancelled", false, ""}, {"/nothing", "Completed", true, ""}, {"/nothing", "Cancelled", false, ""},
	} {
		s.register("v2", c.responseType, c.path)
		bill := c.path[1:] + "-" + c.responseType
		money := s.f.balance(wanjiku)
		s.m.simulate(wanjiku, 10, bill)
		s.advance("1m")
		paid, came := s.f.byBill(bill), s.sent()
		if moved := money != s.f.balance(wanjiku); (len(paid) == 1) != c.paid || moved != c.paid || (len(came) == 2) != c.paid {
			t.Errorf("%s: %d payments are recorded, money moved: %t, and %q came", bill, len(paid), moved, came)
		} else if c.paid && !strings.Contains(came[1], `"ThirdPartyTransID":"`+c.thirdParty+`"`) {
			t.Errorf("%s is told as %s", bill, came[1])
		}
	}
	s.f.conserved()
}

// A shop that does not answer within 8 seconds leaves the payment to the registered default.
func TestMPesaC2BValidationWithoutAnswer(t *testing.T) {
	for responseType, want := range map[string]int{"Completed": 1, "Cancelled": 0} {
		t.Run(responseType, func(t *testing.T) {
			s := newC2BShop(t)
			s.register("v2", responseType, "/silent")
			s.m.simulate(wanjiku, 10, "silence")
			s.advance("1m")
			if paid := s.f.byBill("silence"); len(paid) != want {
				t.Errorf("%d payments are recorded, want %d", len(paid), want)
			}
			s.f.conserved()
		})
	}
}

// A confirmation comes once, whatever the shop answers, and only of a paid payment.
func TestMPesaC2BConfirmation(t *testing.T) {
	s := newC2BShop(t)
	s.m.client("poor", "+254712000002", 1)
	s.m.client("cancels", "+254712000003", 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Cancel })
	s.told = "/lost"
	s.register("v2", "Completed", "")
	for number, want := range map[string]string{
		wanjiku: "SUCCESS", "+254712000002": "INSUFFICIENT_FUNDS", "+254712000003": "USER_CANCELLED", "+254712999999": "UNKNOWN_MSISDN",
	} {
		bill := "of-" + number[1:]
		s.m.simulate(number, 10, bill)
		s.advance("1m")
		if paid := s.f.byBill(bill); len(paid) != 1 || paid[0]["status"] != want {
			t.Errorf("%s: the payments are %v, want %s", number, paid, want)
		}
		s.advance("72h")
		s.m.bearer = "" // the token has ended
		if came := s.sent(); len(came) != map[bool]int{true: 1}[number == wanjiku] {
			t.Errorf("%s: what came is %q", number, came)
		}
	}
	s.register("v2", "Completed", "/ask") // nobody asks about a payer that does not exist
	s.m.simulate("+254712999999", 10, "nobody")
	s.advance("1m")
	if came := s.sent(); len(came) != 0 {
		t.Errorf("of a payer that does not exist came %q", came)
	}
	s.f.conserved()
}

// Without URLs, a payment is silent. URLs that are registered again replace those of before.
func TestMPesaC2BRegistersAgain(t *testing.T) {
	s := newC2BShop(t)
	s.m.simulate(wanjiku, 10, "silent")
	s.advance("1m")
	if came := s.sent(); len(came) != 0 {
		t.Errorf("without URLs came %q", came)
	}
	s.register("v1", "Cancelled", "/nothing")
	s.register("v2", "Completed", "")
	s.m.simulate(wanjiku, 10, "told")
	s.advance("1m")
	if came := s.sent(); len(came) != 1 || !strings.HasPrefix(came[0], "/told ") || !strings.Contains(came[0], "*****") {
		t.Errorf("after two registrations came %q", came)
	}
	for _, bill := range []string{"silent", "told"} {
		if paid := s.f.byBill(bill); len(paid) != 1 || paid[0]["status"] != "SUCCESS" {
			t.Errorf("%s is recorded as %v", bill, paid)
		}
	}
}

// While a push is validated, its phone takes no other.
func TestMPesaValidatesOnePushOfAPhone(t *testing.T) {
	s := newC2BShop(t)
	s.register("v2", "Completed", "/held")
	push := func(payer string) nativeAnswer {
		return s.m.call("POST", mpesaPush, s.m.pushBody(s.url+"/push", payer, 30))
	}
	first := make(chan nativeAnswer)
	go func() { first <- push(wanjiku) }()
	<-s.held
	if got := push(wanjiku); got.status != http.StatusInternalServerError || !strings.Contains(got.raw, "Unable to lock subscriber") {
		t.Errorf("another push to the phone is answered %d %s", got.status, got.raw)
	}
	s.silent <- struct{}{}
	s.m.pushed(<-first)
	if came := s.sent(); len(came) != 1 || s.f.transactions() != 1 {
		t.Errorf("%d payments were recorded, and %q came", s.f.transactions(), came)
	}
}

// A push is asked about before its phone rings, and a paid one is confirmed too, with its own callback.
func TestMPesaC2BOfPush(t *testing.T) {
	s := newC2BShop(t)
	s.register("v2", "Completed", "/ask")
	push := func(payer string) nativeAnswer {
		return s.m.call("POST", mpesaPush, s.m.pushBody(s.url+"/push", payer, 30))
	}
	checkout := s.m.pushed(push(wanjiku))
	asked := s.sent()
	if len(asked) != 1 || !strings.HasPrefix(asked[0], "/ask ") || !strings.Contains(asked[0], `"BillRefNumber":"order-1042"`) {
		t.Fatalf("before the phone rang came %q", asked)
	}
	s.f.approve(wanjiku)
	s.advance("1m")
	came := strings.Join(s.sent(), "\n")
	receipt := regexp.MustCompile(`"MpesaReceiptNumber","Value":"(` + receiptForm + `)"`).FindStringSubmatch(came)
	if len(receipt) != 2 || strings.Count(came, "\n") != 1 || !strings.Contains(came, checkout) ||
		!strings.Contains(came, `/told {"TransactionType":"Pay Bill","TransID":"`+receipt[1]+`"`) || !strings.Contains(came, `"BillRefNumber":"order-1042"`) ||
		!strings.Contains(came, `"ThirdPartyTransID":"shop-7"`) || !strings.Contains(asked[0], `"TransID":"`+receipt[1]+`"`) {
		t.Errorf("of a push came %s, and before it %s", came, asked)
	}
	if _, raw := s.m.raw(checkout); !strings.Contains(raw, receipt[1]) {
		t.Errorf("the receipt is %s, and /v1 has %s", receipt[1], raw)
	}
	s.m.client("cancels", "+254712000003", 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Cancel })
	s.register("v2", "Completed", "")
	s.m.pushed(push("+254712000003"))
	s.advance("2m")
	if came := s.sent(); len(came) != 1 || !strings.HasPrefix(came[0], "/push ") {
		t.Errorf("of a push that failed came %q", came)
	}
	recorded := s.f.transactions()
	for _, c := range [][2]string{{"/no", "Completed"}, {"/error", "Cancelled"}} {
		s.register("v2", c[1], c[0])
		got := push(wanjiku)
		if got.status != http.StatusInternalServerError || got.body["errorCode"] != "500.001.1001" ||
			!strings.HasPrefix(got.header.Get("X-Cauri-Reason"), "rejected_by_validation: ValidationURL") {
			t.Errorf("%s: a push that the shop rejects is answered %d %s", c[0], got.status, got.raw)
		}
		if came := s.sent(); len(came) != 1 || s.f.transactions() != recorded {
			t.Errorf("%s: of a push that the shop rejects came %q", c[0], came)
		}
	}
	s.f.conserved()
}

// No sandbox sees the URLs or the payments of another, and a reset removes both.
func TestMPesaC2BOfEachSandbox(t *testing.T) {
	s := newC2BShop(t)
	other := s.f.config
	other.UID, other.Name = "22222222-2222-2222-2222-222222222222", "other"
	s.f.sandbox(other, otherKey)
	s.f.follow()
	s.register("v2", "Completed", "/ask")
	neighbor := s.f.mpesa(otherKey)
	neighbor.simulate("+254712000901", 10, "elsewhere")
	if got := neighbor.call("POST", "/mpesa/c2b/v2/simulate",
		`{"ShortCode":"`+s.m.Secret["mpesa-shortcode"]+`","CommandID":"CustomerPayBillOnline","Amount":1,"Msisdn":254712000001,"BillRefNumber":"x"}`,
	); got.status != http.StatusBadRequest {
		t.Errorf("the short code of another sandbox is answered %d %s", got.status, got.raw)
	}
	s.advance("1m")
	if came := s.sent(); len(came) != 0 {
		t.Errorf("of the payment of another sandbox came %q", came)
	}
	if found := s.f.byBill("elsewhere"); len(found) != 0 {
		t.Errorf("the payment of another sandbox is listed: %v", found)
	}
	own := strings.NewReplacer("174379", s.m.Secret["mpesa-shortcode"])
	if got := s.m.call("POST", "/mpesa/c2b/v2/simulate", own.Replace(
		`{"ShortCode":"174379","CommandID":"CustomerPayBillOnline","Amount":1,"Msisdn":254712000001,"BillRefNumber":"own"}`)); got.status != http.StatusOK {
		t.Errorf("the own short code is answered %d %s", got.status, got.raw)
	}
	s.advance("1m")
	if came := s.sent(); len(came) != 0 {
		t.Errorf("of the payment of another short code came %q", came)
	}
	s.f.reset("again")
	s.m.bearer = "" // a reset ends tokens too
	s.m.simulate(wanjiku, 10, "after")
	s.advance("1m")
	if came := s.sent(); len(came) != 0 {
		t.Errorf("after a reset came %q", came)
	}
}

func TestMPesaC2BRefusals(t *testing.T) {
	f, m := withMPesa(t, payments.Approve)
	const registerPath, simulatePath = "/mpesa/c2b/v2/registerurl", "/mpesa/c2b/v2/simulate"
	good := map[string]string{
		registerPath: `{"ShortCode":"174379","ResponseType":"Completed","ConfirmationURL":"https://shop.example/told","ValidationURL":"https://shop.example/ask"}`,
		simulatePath: `{"ShortCode":"174379","CommandID":"CustomerPayBillOnline","Amount":5,"Msisdn":254712000001,"BillRefNumber":"b"}`,
	}
	field := func(path, name, value string) string {
		var all map[string]json.RawMessage
		if err := json.Unmarshal([]byte(good[path]), &all); err != nil {
			t.Fatal(err)
		}
		if all[name] = json.RawMessage(value); value == "" {
			delete(all, name)
		}
		text, _ := json.Marshal(all)
		return string(text)
	}
	const payload, bad = "400.002.05 Invalid Request Payload", "400.003.02 Bad Request"
	for _, c := range [][4]string{
		{registerPath, "{", payload, "invalid_payload"}, {simulatePath, "", payload, "invalid_payload"},
		{registerPath, field(registerPath, "ResponseType", "5"), payload, "invalid_payload"},
		{registerPath, field(registerPath, "ShortCode", `"1"`), bad, "invalid_ShortCode"},
		{registerPath, field(registerPath, "ShortCode", `"600984"`), bad, "unknown_short_code"},
		{registerPath, field(registerPath, "ResponseType", `"Canceled"`), bad, "invalid_ResponseType"},
		{registerPath, field(registerPath, "ResponseType", `"completed"`), bad, "invalid_ResponseType"},
		{registerPath, field(registerPath, "ConfirmationURL", ""), bad, "invalid_ConfirmationURL"},
		{registerPath, field(registerPath, "ConfirmationURL", `"https://other.example/x"`), bad, "invalid_ConfirmationURL"},
		{registerPath, field(registerPath, "ConfirmationURL", `"ftp://shop.example/x"`), bad, "invalid_ConfirmationURL"},
		{registerPath, field(registerPath, "ConfirmationURL", `"https://shop.example/M-Pesa/told"`), bad, "invalid_ConfirmationURL"},
		{registerPath, field(registerPath, "ConfirmationURL", `"https://shop.example/mpesaTold"`), bad, "invalid_ConfirmationURL"},
		{registerPath, field(registerPath, "ValidationURL", `"https://shop.example/run.exe"`), bad, "invalid_ValidationURL"},
		{registerPath, field(registerPath, "ValidationURL", `"https://shop.example/x?sql=1"`), bad, "invalid_ValidationURL"},
		{registerPath, field(registerPath, "ValidationURL", `"https://shop.example/safaricom"`), bad, "invalid_ValidationURL"},
		{simulatePath, field(simulatePath, "ShortCode", `"600984"`), bad, "unknown_short_code"},
		{simulatePath, field(simulatePath, "CommandID", `"CustomerPayBill"`), bad, "invalid_CommandID"},
		{simulatePath, field(simulatePath, "Amount", `"1.5"`), bad, "invalid_Amount"},
		{simulatePath, field(simulatePath, "Amount", ``), bad, "invalid_Amount"},
		{simulatePath, field(simulatePath, "Msisdn", `"0712000001"`), bad, "invalid_Msisdn"},
		{simulatePath, field(simulatePath, "BillRefNumber", `null`), bad, "invalid_BillRefNumber"},
		{simulatePath, field(simulatePath, "BillRefNumber", `"`+strings.Repeat("x", 81)+`"`), bad, "invalid_BillRefNumber"},
	} {
		got := m.call("POST", c[0], c[1])
		if told := fmt.Sprint(got.body["errorCode"], " ", got.body["errorMessage"]); got.status != http.StatusBadRequest || told != c[2] ||
			!strings.HasPrefix(got.header.Get("X-Cauri-Reason"), c[3]+": ") {
			t.Errorf("%s is answered %d %s (%s), want %s", c[1], got.status, got.raw, got.header.Get("X-Cauri-Reason"), c[3])
		}
	}
	for _, path := range []string{registerPath, simulatePath, "/mpesa/c2b/v1/registerurl", "/mpesa/c2b/v1/simulate"} {
		for _, authorization := range []string{"", "Bearer " + strings.Repeat("0", 28), "Bearer " + m.User} {
			got := m.send("POST", path, good[registerPath], "Authorization", authorization)
			if got.status != http.StatusBadRequest || got.body["errorCode"] != "400.003.01" || got.body["errorMessage"] != "Invalid Access Token" {
				t.Errorf("%s with %q is answered %d %s", path, authorization, got.status, got.raw)
			}
		}
	}
	if got := m.call("POST", registerPath, good[registerPath], "Content-Type", "text/plain"); got.body["errorCode"] != "400.002.05" {
		t.Errorf("another content type is answered %d %s", got.status, got.raw)
	}
	for _, word := range []string{"queries", "executive", "mysqld", "cmdline"} { // they only contain a forbidden word
		if got := m.call("POST", registerPath, field(registerPath, "ValidationURL", `"https://shop.example/`+word+`"`)); got.status != http.StatusOK {
			t.Errorf("%s is answered %d %s", word, got.status, got.raw)
		}
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d transactions were recorded", n)
	}
}
