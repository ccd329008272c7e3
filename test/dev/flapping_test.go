package dev

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

// mpesaShop is a shop that asks a payer by M-Pesa's own API, and books what the query says.
type mpesaShop struct {
	*process
	kept  map[string]string
	token string
	books map[string]any // what it has booked of its orders
}

func (s *mpesaShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]any{"paid": s.books[strings.TrimPrefix(r.URL.Path, "/")]})
}

// mpesa sends a request to M-Pesa's own API.
func (s *mpesaShop) mpesa(method, path, authorization string, body map[string]any) (said map[string]any) {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.kept["CAURI_MPESA_URI"]+path, strings.NewReader(string(text)))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", authorization)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if text, err := io.ReadAll(answer.Body); err != nil || json.Unmarshal(text, &said) != nil {
		s.t.Fatalf("%s is answered %d %s, %v", path, answer.StatusCode, text, err)
	}
	return said
}

func (s *mpesaShop) express(path string, body map[string]any) map[string]any {
	s.t.Helper()
	const at = "20261128101500"
	body["BusinessShortCode"], body["Timestamp"] = s.kept["CAURI_MPESA_SHORTCODE"], at
	body["Password"] = base64.StdEncoding.EncodeToString([]byte(s.kept["CAURI_MPESA_SHORTCODE"] + s.kept["CAURI_MPESA_PASSKEY"] + at))
	return s.mpesa(http.MethodPost, path, "Bearer "+s.token, body)
}

// asks asks the payer for an order, and returns the query of the push.
func (s *mpesaShop) asks(order string) (query func() map[string]any) {
	s.t.Helper()
	pushed := s.express("/mpesa/stkpush/v1/processrequest", map[string]any{
		"TransactionType": "CustomerPayBillOnline", "Amount": 1000, "PartyA": "254110000901", "PartyB": s.kept["CAURI_MPESA_SHORTCODE"],
		"PhoneNumber": "254110000901", "CallBackURL": "http://127.0.0.1:1/x", "AccountReference": order, "TransactionDesc": "Two tickets",
	})
	if pushed["ResponseCode"] != "0" {
		s.t.Fatalf("the push is answered %v", pushed)
	}
	return func() map[string]any {
		return s.express("/mpesa/stkpushquery/v1/query", map[string]any{"CheckoutRequestID": pushed["CheckoutRequestID"]})
	}
}

// booksUntil queries until the shop books.
func (s *mpesaShop) booksUntil(order string, query func() map[string]any, book func(said map[string]any) (paid, booked bool)) {
	s.t.Helper()
	for range 100 {
		if paid, booked := book(query()); booked {
			s.books[order] = paid
			return
		}
	}
	s.t.Fatalf("%s was never booked", order)
}

// In the story flapping-query, a shop that books a failure on an error of the query loses an order that is paid. The sandbox does
// not see that. The shop's own word says it.
func TestTheShopsWordOnAFlappingQuery(t *testing.T) {
	t.Parallel()
	p := start(t, "--story", "flapping-query", "--database-url", newDatabase(t), "--quiet")
	s := &mpesaShop{process: p, kept: p.variables(), books: map[string]any{}}
	s.token = fmt.Sprint(s.mpesa(http.MethodGet, "/oauth/v1/generate?grant_type=client_credentials", "Basic "+
		base64.StdEncoding.EncodeToString([]byte(s.kept["CAURI_MPESA_CONSUMER_KEY"]+":"+s.kept["CAURI_MPESA_CONSUMER_SECRET"])), nil)["access_token"])
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	cauri := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), program, append(args, "--url", p.uri, "--api-key", p.key)...).CombinedOutput()
		return fmt.Sprintf("%v\n%s", err, out)
	}
	expect := func(order string) string {
		return cauri("expect", "-f", write(t, order+".yaml", fmt.Sprintf("within: 5s\nsettle: 0s\nexpect:\n"+
			"- transactions: {where: {operator: mpesa, orderRef: %s, status: SUCCESS}, count: 1}\n"+
			"- merchant: {get: %q, json: {paid: true}}\n", order, server.URL+"/"+order)))
	}
	s.booksUntil("wrong", s.asks("wrong"), func(said map[string]any) (paid, booked bool) { return false, said["errorCode"] == "500.001.1001" })
	if got := cauri("clock", "advance", "20s"); !strings.HasPrefix(got, "<nil>") {
		t.Fatal(got)
	}
	right := s.asks("right")
	byResult := func(said map[string]any) (paid, booked bool) {
		code, there := said["ResultCode"]
		return code == "0", there && code != "4999"
	}
	for range 30 {
		if said := right(); said["ResultCode"] != "4999" && said["errorCode"] != "500.001.1001" {
			t.Errorf("while the payer has not paid, the query says %v", said)
		}
	}
	if got := cauri("clock", "advance", "20s"); !strings.HasPrefix(got, "<nil>") {
		t.Fatal(got)
	}
	s.booksUntil("right", right, byResult)
	if got := expect("right"); !strings.HasPrefix(got, "<nil>") {
		t.Errorf("of the right shop: %s", got)
	}
	if got := expect("wrong"); !strings.HasPrefix(got, "exit status 5") || !strings.Contains(got, `{"paid":false}`) {
		t.Errorf("of the wrong shop: %s", got)
	}
}
