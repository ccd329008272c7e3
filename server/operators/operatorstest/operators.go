// Package operatorstest has fakes of the operators' APIs for tests. The payments are in memory, and every payer
// approves. Only tests import it.
package operatorstest

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Operators serves the APIs of all operators, each below its own path, see [BaseURL]. Set its fields before the first request.
type Operators struct {
	Now     func() time.Time                     // default time.Now
	Answer  time.Duration                        // time until a payer approves
	Clients map[payments.Operator][]ClientSecret // clients that may get a token; without an entry for an operator, any client may

	mu       sync.Mutex
	tokens   map[grant]time.Time // expiry of each token
	payments []Payment
}

// ClientSecret is a pair of credentials.
type ClientSecret struct{ ID, Secret string }

// Payment is a payment that an operator has.
type Payment struct {
	Operator  payments.Operator
	Reference string // id that the caller chose
	NativeID  string // id that the operator chose
	CreatedAt time.Time
	Answered  bool // whether its payer has approved it

	request any // request that the operator's answers repeat
}

// grant is a token of an operator.
type grant struct {
	operator payments.Operator
	token    string
}

// BaseURL returns the base URL of an operator's API on a server.
func BaseURL(server string, operator payments.Operator) string {
	return strings.TrimRight(server, "/") + "/" + string(operator)
}

// Payments returns the payments of all operators, in the order of their requests.
func (o *Operators) Payments() []Payment {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.payments)
}

// Expire ends all tokens.
func (o *Operators) Expire() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.tokens)
}

// Keep adds a payment. It returns false if the operator already has a payment with this reference.
func (o *Operators) Keep(p Payment) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	same := func(other Payment) bool { return other.Operator == p.Operator && other.Reference == p.Reference }
	if slices.ContainsFunc(o.payments, same) {
		return false
	}
	o.payments = append(o.payments, p)
	return true
}

func (o *Operators) find(operator payments.Operator, reference string) (Payment, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.payments {
		if p.Operator == operator && p.Reference == reference {
			p.Answered = o.now().Sub(p.CreatedAt) >= o.Answer
			return p, true
		}
	}
	return Payment{}, false
}

func (o *Operators) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// visit is one request to an operator.
type visit struct {
	*Operators
	w        http.ResponseWriter
	r        *http.Request
	operator payments.Operator
	path     string // path after the operator's name; escaped, because a reference may contain any character
}

// ServeHTTP implements [http.Handler].
func (o *Operators) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operator, path, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	n, ok := natives[payments.Operator(operator)]
	if !ok {
		http.NotFound(w, r)
		return
	}
	v := &visit{Operators: o, w: w, r: r, operator: payments.Operator(operator), path: "/" + path}
	v.serve(n)
}
