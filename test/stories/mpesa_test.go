package stories

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cauri-dev/cauri/test/system"
)

// wrongShops are those that the Expectation of a story fails.
var wrongShops = map[string]func(*merchant){
	"duplicate-confirmation": giveTheCopyBack,
	"flapping-query":         askTheFlappingPayerAgain,
	"lost-callback":          askTheLostPayerAgain,
}

// daraja is a client of M-Pesa's own API.
type daraja struct {
	*merchant
	token string
}

func (m *merchant) daraja() *daraja {
	m.Helper()
	basic := base64.StdEncoding.EncodeToString([]byte(m.credentials["mpesa-consumer-key"] + ":" + m.credentials["mpesa-consumer-secret"]))
	got, err := m.request(http.MethodGet, m.uri+"/operators/mpesa/oauth/v1/generate?grant_type=client_credentials",
		http.Header{"Authorization": {"Basic " + basic}}, nil)
	var token struct {
		Token string `json:"access_token"`
	}
	if err != nil || json.Unmarshal(got.body, &token) != nil || token.Token == "" {
		m.Fatalf("a token of M-Pesa: %d %s, %v", got.status, got.body, err)
	}
	return &daraja{m, token.Token}
}

// said is what M-Pesa answers: of a call, or of an error.
type said struct {
	status            int
	CheckoutRequestID string
	ResultCode        string
	ErrorCode         string
	ErrorMessage      string
}

// ask sends a request of M-Pesa Express, which is signed.
func (d *daraja) ask(path string, fields map[string]any) (s said, err error) {
	d.Helper()
	const at = "20261128101500"
	shortCode := d.credentials["mpesa-shortcode"]
	fields["BusinessShortCode"], fields["Timestamp"] = shortCode, at
	fields["Password"] = base64.StdEncoding.EncodeToString([]byte(shortCode + d.credentials["mpesa-passkey"] + at))
	got, err := d.post(path, fields)
	if err == nil && json.Unmarshal(got.body, &s) != nil {
		d.Fatalf("M-Pesa answers %d %s", got.status, got.body)
	}
	s.status = got.status
	return s, err
}

func (d *daraja) post(path string, fields map[string]any) (answer, error) {
	d.Helper()
	return d.request(http.MethodPost, d.uri+"/operators/mpesa"+path, http.Header{"Authorization": {"Bearer " + d.token}}, fields)
}

// push asks the payer for the money of an order.
func (d *daraja) push() (said, error) {
	d.Helper()
	number := d.number("901")[1:]
	return d.ask("/mpesa/stkpush/v1/processrequest", map[string]any{
		"TransactionType": "CustomerPayBillOnline", "Amount": 1000, "PartyA": number, "PartyB": d.credentials["mpesa-shortcode"], "PhoneNumber": number,
		"CallBackURL": d.receiver.url + "/daraja", "AccountReference": d.reference(1), "TransactionDesc": "Two tickets",
	})
}

// pushed asks the payer, and returns the id of the push.
func (d *daraja) pushed() string {
	d.Helper()
	s, err := d.push()
	if err != nil || s.CheckoutRequestID == "" {
		d.Fatalf("a push is answered %+v, %v", s, err)
	}
	return s.CheckoutRequestID
}

func (d *daraja) query(checkout string) said {
	d.Helper()
	s, err := d.ask("/mpesa/stkpushquery/v1/query", map[string]any{"CheckoutRequestID": checkout})
	if err != nil {
		d.Fatal(err)
	}
	return s
}

// manyQueries are so many that each answer of a query that flickers comes.
const manyQueries = 60

// queryUntil queries a push until an answer is the one that is looked for.
func (d *daraja) queryUntil(checkout, what string, is func(said) bool) {
	d.Helper()
	for range manyQueries {
		if is(d.query(checkout)) {
			return
		}
	}
	d.Fatalf("no query has %s", what)
}

// Whatever the query says of the push, the shop asks until there is a ResultCode other than 4999, and books by it.
func flappingQuery(m *merchant) {
	d := m.daraja()
	checkout := d.pushed()
	shapes := map[string]bool{}
	for range manyQueries {
		s := d.query(checkout)
		shapes[fmt.Sprint(s.status, " ", s.ResultCode, s.ErrorCode, " ", s.ErrorMessage != "")] = true
	}
	if len(shapes) != 3 || !shapes["200 4999 false"] || !shapes["200 500.001.1001 false"] || !shapes["500 500.001.1001 true"] {
		m.Errorf("while the payer has not paid, the query says %v", shapes)
	}
	m.advance("20s")
	d.queryUntil(checkout, "an error after the outcome", func(s said) bool { return s.status == http.StatusInternalServerError })
	paid := false
	d.queryUntil(checkout, "a result", func(s said) bool {
		if s.ResultCode != "" && s.ResultCode != "0" {
			m.Errorf("after the outcome the query says %+v", s)
		}
		paid = s.ResultCode == "0"
		return paid
	})
	m.says(paid, "<nil>")
	all := m.payments()
	if len(all) != 1 || all[0].Status != "SUCCESS" {
		m.Errorf("the payments are %+v", all)
	}
	m.acted("flaps", 1)
}

// The shop takes 500.001.1001 for a payment that failed, and asks the payer again, who pays twice.
func askTheFlappingPayerAgain(m *merchant) {
	d := m.daraja()
	d.queryUntil(d.pushed(), "500.001.1001", func(s said) bool { return s.ErrorCode == "500.001.1001" }) // the order is booked as FAILED
	m.advance("20s")
	m.says(false, "exit status 5")
	d.pushed()
	m.advance("20s")
	if all := m.payments(); len(all) != 2 || all[0].Status != "SUCCESS" || all[1].Status != "SUCCESS" {
		m.Errorf("the payments are %+v", all)
	}
}

// says compares what the shop has booked of its order with the payment, which succeeded: `cauri expect` asks the shop, since the
// sandbox does not see it.
func (m *merchant) says(paid bool, wantExit string) {
	m.Helper()
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, `{"paid":%t}`, paid) }))
	defer shop.Close()
	program, err := system.Build(m.Context(), m.TempDir())
	if err != nil {
		m.Fatal(err)
	}
	file := filepath.Join(m.TempDir(), "order.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, "within: 5s\nsettle: 0s\nexpect:\n"+
		"- transactions: {where: {operator: mpesa, orderRef: %s, status: SUCCESS}, count: 1}\n"+
		"- merchant: {get: %q, json: {paid: true}}\n", m.reference(1), shop.URL), 0o600); err != nil {
		m.Fatal(err)
	}
	command := exec.CommandContext(m.Context(), program, "expect", "-f", file, "--url", m.uri, "--api-key", m.credentials["api-key"])
	out, err := command.CombinedOutput()
	said := fmt.Sprintf(`200 {"paid":%t}`, paid)
	if fmt.Sprint(err) != wantExit || !strings.Contains(string(out), "1 transaction\n") || !strings.Contains(string(out), said) {
		m.Errorf("it ended with %v, want %s:\n%s", err, wantExit, out)
	}
}

// pulled asks Pull for everything that was paid, and returns what it lists with a reference of the shop.
func (d *daraja) pulled(reference string) (found []map[string]any) {
	d.Helper()
	got, err := d.post("/pulltransactions/v1/query", map[string]any{
		"ShortCode": d.credentials["mpesa-shortcode"], "StartDate": "2026-01-01 00:00:00", "EndDate": "2099-01-01 00:00:00", "OffSetValue": "0",
	})
	var listed struct{ Response [][]map[string]any }
	if err != nil || json.Unmarshal(got.body, &listed) != nil || len(listed.Response) != 1 {
		d.Fatalf("Pull answers %d %s, %v", got.status, got.body, err)
	}
	for _, payment := range listed.Response[0] {
		if payment["billreference"] == reference {
			found = append(found, payment)
		}
	}
	return found
}

// registerPull lets the shop ask Pull.
func (d *daraja) registerPull() {
	d.Helper()
	got, err := d.post("/pulltransactions/v1/register", map[string]any{
		"ShortCode": d.credentials["mpesa-shortcode"], "RequestType": "Pull", "NominatedNumber": "254722000000", "CallBackURL": d.receiver.url,
	})
	if err != nil || got.status != http.StatusOK {
		d.Fatalf("Pull registers with %d %s, %v", got.status, got.body, err)
	}
}

// lostPush makes a push whose answer gets lost, and lets its payer pay.
func lostPush(m *merchant) *daraja {
	m.Helper()
	d := m.daraja()
	d.registerPull()
	if s, err := d.push(); err == nil {
		m.Errorf("the answer to the push is %+v", s)
	}
	m.advance("1m")
	return d
}

// The shop has no id to ask with: it finds the payment by Pull, with the reference that it gave.
func lostCallback(m *merchant) {
	d := lostPush(m)
	found := d.pulled(m.reference(1))
	if len(found) != 1 || found[0]["amount"] != "1000.00" {
		m.Errorf("Pull lists %v", found)
	}
	if all := m.payments(); len(all) != 1 || all[0].Status != "SUCCESS" {
		m.Errorf("the payments are %+v", all)
	}
}

// The shop takes a push without an answer for one that failed, and asks the payer again, who pays twice.
func askTheLostPayerAgain(m *merchant) {
	d := lostPush(m)
	if s, err := d.push(); err == nil {
		m.Errorf("the answer to the second push is %+v", s)
	}
	m.advance("1m")
	if found := d.pulled(m.reference(1)); len(found) != 2 {
		m.Errorf("Pull lists %v", found)
	}
}

// confirmed lets a customer pay the short code, whose confirmation comes twice. It returns the TransID.
func (d *daraja) confirmed() (transID string) {
	d.Helper()
	m := d.merchant
	shortCode := m.credentials["mpesa-shortcode"]
	got, err := d.post("/mpesa/c2b/v2/registerurl", map[string]any{
		"ShortCode": shortCode, "ResponseType": "Completed", "ConfirmationURL": m.receiver.url + "/confirmation",
	})
	if err != nil || got.status != http.StatusOK {
		m.Fatalf("the URL is registered with %d %s, %v", got.status, got.body, err)
	}
	got, err = d.post("/mpesa/c2b/v2/simulate", map[string]any{
		"ShortCode": shortCode, "CommandID": "CustomerPayBillOnline", "Amount": 1000, "Msisdn": m.number("901")[1:], "BillRefNumber": m.reference(1),
	})
	if err != nil || got.status != http.StatusOK {
		m.Fatalf("the payment is answered %d %s, %v", got.status, got.body, err)
	}
	m.advance("1m")
	all := m.payments()
	if len(all) != 1 || all[0].Status != "SUCCESS" {
		m.Fatalf("the payments are %+v", all)
	}
	return all[0].Reference
}

// The confirmation comes twice, and the shop books the payment once for its TransID.
func duplicateConfirmation(m *merchant) {
	if transID := m.daraja().confirmed(); transID == "" {
		m.Error("the payment has no TransID")
	}
	m.acted("two-copies", 1)
}

// The shop takes the second confirmation for a second payment of an order that is paid, and gives it back. The receipt is the
// same, so the customer gets the only payment back.
func giveTheCopyBack(m *merchant) {
	d := m.daraja()
	transID := d.confirmed()
	got, err := d.post("/mpesa/reversal/v1/request", map[string]any{
		"Initiator": m.credentials["mpesa-initiator-name"], "SecurityCredential": base64.StdEncoding.EncodeToString(make([]byte, 256)),
		"CommandID": "TransactionReversal", "TransactionID": transID, "Amount": 1000, "ReceiverParty": m.credentials["mpesa-shortcode"],
		"RecieverIdentifierType": "11", "ResultURL": m.receiver.url + "/result", "QueueTimeOutURL": m.receiver.url + "/late", "Remarks": "paid twice",
	})
	if err != nil || got.status != http.StatusOK {
		m.Errorf("the reversal is answered %d %s, %v", got.status, got.body, err)
	}
	m.advance("2h")
}
