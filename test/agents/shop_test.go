package agents

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

// bug is a mistake of the shop.
type bug string

// The mistakes.
const (
	wrongRequest  bug = "it sends the number without its country, and the amount as a text"
	signsAgain    bug = "it verifies the body that it parsed and wrote again"
	booksTwice    bug = "it books an order again when its event comes again"
	otherSecret   bug = "it verifies with the API key"
	wrongStore    bug = "it names a store that does not exist"
	refundsTooFar bug = "it refunds more than is left"
	ignoresEnd    bug = "it takes a payment that timed out for paid"
	answersLate   bug = "it does its work before it answers"
	wrongPath     bug = "its route has another path"
)

// shop is a small shop that takes payments, with mistakes.
type shop struct {
	t      *testing.T
	url    string
	folder string // of .env.cauri

	mutex sync.Mutex
	bugs  map[bug]bool
	seen  map[string]bool // transactions whose event was booked
	paid  map[string]int64
	state map[string]string
}

func openShop(t *testing.T, bugs ...bug) *shop {
	t.Helper()
	s := &shop{t: t, bugs: map[bug]bool{}, seen: map[string]bool{}, paid: map[string]int64{}, state: map[string]string{}}
	for _, b := range bugs {
		s.bugs[b] = true
	}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

func (s *shop) has(b bug) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.bugs[b]
}

// set repairs a mistake, or makes it if there.
func (s *shop) set(b bug, there bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.bugs[b] = there
}

func (s *shop) settings() map[string]string {
	values, err := cli.ReadEnvFile(filepath.Join(s.folder, ".env.cauri"))
	if err != nil {
		s.t.Error(err)
	}
	return values
}

// workTime is how long the shop works that answers late: longer than a sandbox waits.
const workTime = 12 * time.Second

// ServeHTTP takes webhooks, and tells about orders.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if order, asks := strings.CutPrefix(r.URL.Path, "/orders/"); asks {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]any{"status": s.state[order], "paid": s.paid[order]})
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/webhooks" || s.has(wrongPath) {
		http.NotFound(w, r)
		return
	}
	if s.has(answersLate) {
		select {
		case <-time.After(workTime):
		case <-r.Context().Done():
			return
		}
	}
	settings := s.settings()
	secret, signed := settings["CAURI_WEBHOOK_SECRET"], body
	if s.has(otherSecret) {
		secret = settings["CAURI_API_KEY"]
	}
	if s.has(signsAgain) {
		var compact bytes.Buffer
		_ = json.Compact(&compact, body)
		signed = compact.Bytes()
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(signed)
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); want != r.Header.Get("X-Service-Signature") {
		http.Error(w, "expected "+want+", got "+r.Header.Get("X-Service-Signature"), http.StatusUnauthorized)
		return
	}
	s.book(body)
	w.WriteHeader(http.StatusNoContent)
}

func (s *shop) book(body []byte) {
	var event struct {
		Event, Status, ID string
		TxID              string `json:"tx_id"`
		OrderRef          string `json:"order_ref"`
		Amount            int64  `json:"amount,string"`
	}
	if json.Unmarshal(body, &event) != nil || event.Event != "payment.completed" {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.seen[event.TxID] && !s.bugs[booksTwice] {
		return
	}
	s.seen[event.TxID] = true
	switch {
	case event.Status == "SUCCESS", s.bugs[ignoresEnd]:
		s.state[event.OrderRef] = "paid"
		s.paid[event.OrderRef] += event.Amount
	default:
		s.state[event.OrderRef] = "open"
	}
}

// order returns what the shop says about an order.
func (s *shop) order(name string) (state string, paid int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.state[name], s.paid[name]
}

// sale is what a customer buys.
type sale struct {
	order, msisdn string
	amount        int64
}

// sell asks for a payment, as a customer would make the shop do. It returns the transaction; "" if it was refused.
func (s *shop) sell(what sale) (id string) {
	s.t.Helper()
	body := map[string]any{
		"amount": what.amount, "currency": "XOF", "msisdn": what.msisdn, "reference": what.order + "-1", "order_ref": what.order, "application": "shop",
	}
	if s.has(wrongRequest) {
		body["amount"], body["msisdn"] = fmt.Sprint(what.amount), "0"+strings.TrimPrefix(what.msisdn, "+2250")
	}
	if s.has(wrongStore) {
		body["application"] = "boutique"
	}
	answer := s.post("/payments", body)
	id, _ = answer["id"].(string)
	if id != "" && s.has(refundsTooFar) {
		eventually(s.t, "the payment ends", func() bool { return s.get("/payments/" + id)["status"] != "PENDING" })
		s.post("/payments/"+id+"/refund", map[string]any{"amount": what.amount + 1, "reference": what.order + "-r"})
	}
	return id
}

func (s *shop) post(path string, body map[string]any) map[string]any {
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.ask(http.MethodPost, path, bytes.NewReader(text))
}

func (s *shop) get(path string) map[string]any { return s.ask(http.MethodGet, path, http.NoBody) }

func (s *shop) ask(method, path string, body io.Reader) (answer map[string]any) {
	s.t.Helper()
	settings := s.settings()
	request, err := http.NewRequestWithContext(context.Background(), method, settings["CAURI_URI"]+"/api/v1"+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+settings["CAURI_API_KEY"])
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		s.t.Fatal(err)
	}
	return answer
}
