// Package judged is a merchant's program with a bug, and what a pipeline says of it: which line turns red.
package judged

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// The bugs. The empty one is none.
const (
	creditsTwice   = "credits twice on a duplicate"
	ignoresRefunds = "ignores refunds"
	trustsUnsigned = "trusts unsigned events"
	amountAsNet    = "reads amount as net"
	forgetsTimeout = "forgets TIMEOUT"
	answersFirst   = "answers 200 before storing"
)

// Shop is a merchant's program: it takes events (POST /webhooks) and says what it knows of an order (GET /orders/{order}). It does so right
// but for one bug, which PUT /bug names.
type Shop struct {
	verify func(http.Header, []byte) error

	mutex  sync.Mutex
	bug    string
	orders map[string]*shopOrder
	done   map[string]bool // by tx_id
	came   map[string]int  // deliveries by order
}

type shopOrder struct {
	Status   string `json:"status"`
	Credited int    `json:"credited"` // how often
	Received int    `json:"received"` // what the merchant gets
	Refunded int    `json:"refunded"`
}

// NewShop returns a shop without a bug. An event whose headers and body verify refuses is not genuine.
func NewShop(verify func(http.Header, []byte) error) *Shop {
	s := &Shop{verify: verify}
	s.Is("")
	return s
}

// Is gives the shop another bug, and has it forget all orders.
func (s *Shop) Is(bug string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.bug, s.orders, s.done, s.came = bug, map[string]*shopOrder{}, map[string]bool{}, map[string]int{}
}

// ServeHTTP implements [http.Handler].
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case r.Method == http.MethodGet:
		s.mutex.Lock()
		defer s.mutex.Unlock()
		_ = json.NewEncoder(w).Encode(s.order(strings.TrimPrefix(r.URL.Path, "/orders/")))
	case r.Method == http.MethodPut:
		s.Is(string(body))
	default:
		s.receive(w, r, body)
	}
}

func (s *Shop) receive(w http.ResponseWriter, r *http.Request, body []byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	unsigned := r.Header.Get("X-Service-Signature") == ""
	if s.verify(r.Header, body) != nil && !(unsigned && s.bug == trustsUnsigned) {
		http.Error(w, "not verified", http.StatusUnauthorized)
		return
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.came[e.Order]++
	// The program ends while it works on the first deliveries of this order. What it has stored by then is there when it starts again.
	if strings.HasPrefix(e.Order, "ends-") && s.came[e.Order] <= 2 {
		if s.bug != answersFirst {
			panic(http.ErrAbortHandler)
		}
		return
	}
	s.store(&e)
}

type event struct {
	Event     string `json:"event"`
	ID        string `json:"tx_id"`
	Order     string `json:"order_ref"`
	Status    string `json:"status"`
	Amount    string `json:"amount"`
	NetAmount string `json:"net_amount"`
}

func (s *Shop) order(name string) *shopOrder {
	if s.orders[name] == nil {
		s.orders[name] = &shopOrder{Status: "open"}
	}
	return s.orders[name]
}

func (s *Shop) store(e *event) {
	if s.done[e.ID] && s.bug != creditsTwice {
		return
	}
	s.done[e.ID] = true
	order := s.order(e.Order)
	whole := func(text string) int {
		n, _ := strconv.Atoi(strings.TrimSuffix(text, ".00"))
		return n
	}
	switch {
	case e.Event == "payment.refunded":
		if s.bug != ignoresRefunds {
			order.Refunded += whole(e.Amount)
		}
	case e.Event != "payment.completed":
	case e.Status == "SUCCESS":
		order.Status, order.Received = "paid", whole(e.NetAmount)
		order.Credited++
		if s.bug == amountAsNet {
			order.Received = whole(e.Amount)
		}
	case e.Status != "TIMEOUT" || s.bug != forgetsTimeout:
		order.Status = "failed"
	}
}
