package system

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Receiver is a merchant's endpoint. It verifies both signatures of each delivery, as a receiver should, records it
// with the time, and then behaves as configured.
type Receiver struct {
	URL string

	secret   atomic.Pointer[string]
	behave   atomic.Pointer[Behavior]
	server   *http.Server
	closed   chan struct{}
	finished chan struct{}
	// ignoreTimestamps is for workers whose clock is wrong on purpose.
	ignoreTimestamps bool

	mu       sync.Mutex
	arrivals map[string][]Arrival // by event
	order    int                  // total number of arrivals
	refused  []string
}

// Arrival is one delivery attempt with valid signatures.
type Arrival struct {
	At            time.Time
	EventID       string
	TransactionID string
	Reference     string
	Status        string
	CompletedAt   time.Time // of the transaction, by the database's clock
	Nth           int       // number among the arrivals of this event, from 1
}

// NewReceiver opens an endpoint on the loopback interface.
func NewReceiver(behave Behavior) (*Receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening a receiver: %w", err)
	}
	r := &Receiver{
		URL: "http://" + listener.Addr().String() + "/hook", arrivals: map[string][]Arrival{},
		closed: make(chan struct{}), finished: make(chan struct{}),
	}
	r.Behave(behave)
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(r.finished)
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.refuse("the receiver has stopped: " + err.Error())
		}
	}()
	return r, nil
}

// Trust sets the secret of the signatures. Without one, the receiver refuses everything.
func (r *Receiver) Trust(secret string) { r.secret.Store(&secret) }

// Behave changes the behavior of the receiver.
func (r *Receiver) Behave(behave Behavior) { r.behave.Store(&behave) }

// IgnoreTimestamps makes the receiver accept deliveries from a worker whose clock is wrong.
func (r *Receiver) IgnoreTimestamps() { r.ignoreTimestamps = true }

// Close closes the receiver and all connections that wait for an answer.
func (r *Receiver) Close() {
	close(r.closed)
	_ = r.server.Close()
	<-r.finished
}

// ServeHTTP takes a delivery.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	arrival := Arrival{At: time.Now(), EventID: request.Header.Get("X-Service-Delivery")}
	body, err := io.ReadAll(request.Body)
	if err == nil {
		err = r.verify(request.Header, body)
	}
	if err == nil {
		err = arrival.read(body)
	}
	if err != nil {
		r.refuse(fmt.Sprintf("%s: %v", arrival.EventID, err))
		http.Error(w, "refused", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.order++
	arrival.Nth = len(r.arrivals[arrival.EventID]) + 1
	r.arrivals[arrival.EventID] = append(r.arrivals[arrival.EventID], arrival)
	r.mu.Unlock()
	(*r.behave.Load())(w, request, arrival, r.closed)
}

func (r *Receiver) verify(header http.Header, body []byte) error {
	secret := r.secret.Load()
	if secret == nil {
		return errors.New("the receiver does not know the secret yet")
	}
	mac := hmac.New(sha256.New, []byte(*secret))
	mac.Write(body)
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); !hmac.Equal([]byte(want), []byte(header.Get("X-Service-Signature"))) {
		return errors.New("X-Service-Signature does not match the body and the secret")
	}
	standard, err := standardwebhooks.NewWebhook(*secret)
	if err != nil {
		return err
	}
	if r.ignoreTimestamps {
		return standard.VerifyIgnoringTimestamp(body, header)
	}
	return standard.Verify(body, header)
}

func (a *Arrival) read(body []byte) error {
	var event struct {
		TxID      string    `json:"tx_id"`
		Reference string    `json:"reference"`
		Status    string    `json:"status"`
		Completed time.Time `json:"completed_at"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return err
	}
	a.TransactionID, a.Reference, a.Status, a.CompletedAt = event.TxID, event.Reference, event.Status, event.Completed
	return nil
}

func (r *Receiver) refuse(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = append(r.refused, why)
}

// Events counts the events that arrived at least once.
func (r *Receiver) Events() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.arrivals)
}

// Total counts all arrivals, including repetitions.
func (r *Receiver) Total() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order
}

// Arrivals are all arrivals of each event, in order.
func (r *Receiver) Arrivals() map[string][]Arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[string][]Arrival, len(r.arrivals))
	for id, list := range r.arrivals {
		all[id] = append([]Arrival(nil), list...)
	}
	return all
}

// Refused are the deliveries with invalid signatures, each with the reason.
func (r *Receiver) Refused() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.refused...)
}
