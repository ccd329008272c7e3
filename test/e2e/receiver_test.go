package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// receiver is a merchant's webhook endpoint. It verifies what it gets as the contract says, and fails closed.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	secret  string
	refused []string
	events  map[string]map[string]object // by transaction, by event id
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{events: map[string]map[string]object{}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) trust(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

func (r *receiver) receive(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	mac := hmac.New(sha256.New, []byte(r.secret))
	mac.Write(body)
	want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	if r.secret == "" || !hmac.Equal([]byte(want), []byte(request.Header.Get("X-Service-Signature"))) {
		r.refused = append(r.refused, request.Header.Get("X-Service-Signature"))
		http.Error(w, "bad signature", http.StatusUnauthorized)
		return
	}
	var event object
	if err := json.Unmarshal(body, &event); err != nil || event["event"] != request.Header.Get("X-Service-Event") {
		r.refused = append(r.refused, string(body))
		http.Error(w, "bad body", http.StatusBadRequest)
		return
	}
	id, _ := event["tx_id"].(string)
	if r.events[id] == nil {
		r.events[id] = map[string]object{}
	}
	r.events[id][request.Header.Get("X-Service-Delivery")] = event
	w.WriteHeader(http.StatusNoContent)
}

// of returns the events of a transaction that have arrived. Two deliveries of one event are one event.
func (r *receiver) of(transaction string) []object {
	r.mu.Lock()
	defer r.mu.Unlock()
	var events []object
	for _, event := range r.events[transaction] {
		events = append(events, event)
	}
	return events
}

func (r *receiver) refusals() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.refused...)
}
