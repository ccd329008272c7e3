package stories

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
)

// wrongShops are those that the Expectation of a story fails.
var wrongShops = map[string]func(*merchant){
	"flapping-query": askTheFlappingPayerAgain,
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
	d.queryUntil(checkout, "a result", func(s said) bool {
		if s.ResultCode != "" && s.ResultCode != "0" {
			m.Errorf("after the outcome the query says %+v", s)
		}
		return s.ResultCode == "0"
	})
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
	d.pushed()
	m.advance("20s")
	if all := m.payments(); len(all) != 2 || all[0].Status != "SUCCESS" || all[1].Status != "SUCCESS" {
		m.Errorf("the payments are %+v", all)
	}
}
