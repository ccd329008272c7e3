// A shop: it takes orders, has customers pay by mobile money, and pays them back.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// order is one sale. Its state is waiting, paid, failed, refunding or refunded.
type order struct {
	ID       string `json:"id"`
	MSISDN   string `json:"msisdn"`
	Amount   int64  `json:"amount"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
	Payment  string `json:"payment,omitempty"`
	Payments int    `json:"payments"` // how often it was paid: never more than once

	asked time.Time // when the shop asked for the payment last, by making it or by looking
}

// patience is how long the shop waits for the webhook of a payment, or for the service, before it asks again.
const patience = 5 * time.Second

// event is what the shop reads of a webhook.
type event struct {
	Event      string `json:"event"`
	TxID       string `json:"tx_id"`
	ParentTxID string `json:"parent_tx_id"`
	OrderRef   string `json:"order_ref"`
	Status     string `json:"status"`
}

var failures = map[string]string{
	"INSUFFICIENT_FUNDS": "There is not enough money in your wallet.",
	"PIN_INVALID":        "The PIN was wrong.",
	"USER_CANCELLED":     "You cancelled the payment.",
	"TIMEOUT":            "You did not confirm the payment in time.",
	"ACCOUNT_BLOCKED":    "Your wallet is blocked. Please ask your operator.",
}

type shop struct {
	cauri  cauri
	mu     sync.Mutex
	orders map[string]*order // a real shop has a database
}

func main() {
	host := cmp.Or(os.Getenv("HOST"), "127.0.0.1") // 0.0.0.0 in a container
	log.Fatal(http.ListenAndServe(net.JoinHostPort(host, cmp.Or(os.Getenv("PORT"), "3000")), newShop().routes()))
}

func newShop() *shop {
	return &shop{
		cauri:  cauri{uri: os.Getenv("CAURI_URI"), key: os.Getenv("CAURI_API_KEY"), secret: os.Getenv("CAURI_WEBHOOK_SECRET")},
		orders: map[string]*order{},
	}
}

func (s *shop) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", s.placeOrder)
	mux.HandleFunc("GET /orders/{id}", s.showOrder)
	mux.HandleFunc("POST /orders/{id}/refund", s.giveBack)
	mux.HandleFunc("POST /webhooks", s.receive)
	return mux
}

func (s *shop) placeOrder(w http.ResponseWriter, r *http.Request) {
	o := &order{ID: rand.Text(), State: "waiting", asked: time.Now()}
	if err := json.NewDecoder(r.Body).Decode(o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.orders[o.ID] = o // first, since the webhook can be faster than the answer
	s.mu.Unlock()
	if err := s.ask(r.Context(), *o); errors.As(err, new(refusal)) {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	s.answer(w, http.StatusCreated, o.ID) // also if nobody knows yet what became of the payment
}

// showOrder asks for the payment if no webhook came for a while, since it may be lost.
func (s *shop) showOrder(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	var due order
	s.change(id, func(o *order) {
		if o.State == "waiting" && time.Since(o.asked) > patience {
			o.asked = time.Now()
			due = *o
		}
	})
	if due.ID != "" {
		_ = s.ask(r.Context(), due) // the next look asks again
	}
	s.answer(w, http.StatusOK, id)
}

// ask makes the payment of an order, or asks for it. A payment without an answer is made again with the same reference, so
// it counts once.
func (s *shop) ask(ctx context.Context, o order) (err error) {
	var p payment
	if o.Payment == "" {
		p, err = s.cauri.collect(ctx, o.Amount, o.MSISDN, o.ID+"-pay", o.ID)
	} else {
		p, err = s.cauri.payment(ctx, o.Payment)
	}
	if err == nil {
		s.settle(o.ID, p)
	}
	return err
}

func (s *shop) giveBack(w http.ResponseWriter, r *http.Request) {
	id, paid := r.PathValue("id"), ""
	s.change(id, func(o *order) {
		if o.State == "paid" {
			o.State, paid = "refunding", o.Payment
		}
	})
	if paid != "" {
		if _, err := s.cauri.refund(r.Context(), paid, id+"-refund"); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
	}
	s.answer(w, http.StatusOK, id)
}

func (s *shop) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil || !s.cauri.verified(body, r.Header) {
		http.Error(w, "not verified", http.StatusUnauthorized)
		return
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch e.Event {
	case "payment.completed":
		s.settle(e.OrderRef, payment{ID: e.TxID, Status: e.Status})
	case "payment.refunded":
		s.change(e.OrderRef, func(o *order) {
			if e.ParentTxID != o.Payment {
				return
			}
			if o.State = "paid"; e.Status == "SUCCESS" {
				o.State = "refunded"
			}
		})
	}
	w.WriteHeader(http.StatusNoContent)
}

// settle takes what an answer or the webhook says of a payment, whichever comes first. Later ones change nothing.
func (s *shop) settle(id string, p payment) {
	s.change(id, func(o *order) {
		switch {
		case o.State != "waiting":
		case p.Status == "PENDING":
			o.Payment = p.ID
		case p.Status == "SUCCESS":
			o.State, o.Payment = "paid", p.ID
			o.Payments++ // here a real shop would send the goods
		default:
			o.State, o.Payment, o.Reason = "failed", p.ID, failures[p.Status]
			if o.Reason == "" {
				o.Reason = "The payment failed. Please try again later."
			}
		}
	})
}

// change changes an order, if the shop has it.
func (s *shop) change(id string, f func(*order)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.orders[id]; o != nil {
		f(o)
	}
}

func (s *shop) answer(w http.ResponseWriter, status int, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.orders[id]
	if o == nil {
		http.Error(w, "no such order", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(o) // a customer that hung up asks again
}
