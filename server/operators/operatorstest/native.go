package operatorstest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// native is the API of one operator.
type native struct {
	tokenMethod string // method of the request for a token; empty: POST

	token  string        // path of the request for a token
	valid  time.Duration // validity of its tokens
	grant  func(v *visit) (clientID, clientSecret string)
	issued func(token string, valid time.Duration) any // returns the answer with a token

	create   string // path that creates a payment
	find     string // path of a payment without its reference; empty: clients ask at verify
	verify   string // path of a request for the status, with the reference in its body
	verified func(v *visit) (reference string, err error)
	ask      func(v *visit) (answer, error)
	tell     func(v *visit, p Payment) (answer, error)

	problem func(problem) answer // returns the operator's answer to an error
}

var natives = map[payments.Operator]native{
	payments.MTN:    mtn,
	payments.Airtel: airtel,
	payments.Orange: orange,
	payments.Moov:   moov,
	payments.MPesa:  mpesa,
}

// answer is the answer to a request. A nil body means no body.
type answer struct {
	code int
	body any
}

// problem is an error of a request. Each operator has its own format for errors.
type problem struct {
	kind    kind
	message string // message for the caller
}

func (p problem) Error() string { return p.message }

type kind int

const (
	badCredentials kind = iota
	badToken
	invalid
	duplicate
	unknownPayment
	unknownPath
	wrongSignature
)

func invalidField(message string) problem { return problem{invalid, message} }

// serve answers a request in the operator's format.
func (v *visit) serve(n native) {
	a, err := v.route(n)
	var wrong problem
	if errors.As(err, &wrong) {
		a = n.problem(wrong)
	}
	v.write(a)
}

// route calls the handler of a request. It accepts a slash at the end of a path, although only some operators do.
func (v *visit) route(n native) (answer, error) {
	nothing := problem{unknownPath, "no such resource"}
	path := strings.TrimRight(v.path, "/")
	reference, below := strings.CutPrefix(v.path, n.find+"/")
	var serve func(n native) (answer, error)
	switch {
	case v.r.Method == cmp.Or(n.tokenMethod, http.MethodPost) && n.token != "" && path == n.token:
		serve = v.issue
	case v.r.Method == http.MethodPost && path == n.create:
		serve = v.create
	case v.r.Method == http.MethodPost && path == n.verify && n.find == "":
		serve = v.verify
	case v.r.Method == http.MethodGet && n.find != "" && below && reference != "" && !strings.Contains(reference, "/"):
		serve = func(n native) (answer, error) { return v.find(n, reference) }
	default:
		return answer{}, nothing
	}
	return serve(n)
}

// verify answers a request for the status, whose body has the reference.
func (v *visit) verify(n native) (answer, error) {
	if err := v.authorize(n); err != nil {
		return answer{}, err
	}
	reference, err := n.verified(v)
	if err != nil {
		return answer{}, err
	}
	p, found := v.Operators.find(v.operator, reference)
	if !found {
		return answer{}, problem{unknownPayment, "no such payment"}
	}
	return n.tell(v, p)
}

func (v *visit) create(n native) (answer, error) {
	if err := v.authorize(n); err != nil {
		return answer{}, err
	}
	return n.ask(v)
}

func (v *visit) find(n native, escaped string) (answer, error) {
	if err := v.authorize(n); err != nil {
		return answer{}, err
	}
	unknown := problem{unknownPayment, "no such payment"}
	reference, err := url.PathUnescape(escaped)
	if err != nil || !storable(reference) {
		return answer{}, unknown
	}
	p, found := v.Operators.find(v.operator, reference)
	if !found {
		return answer{}, unknown
	}
	return n.tell(v, p)
}

func (v *visit) write(a answer) {
	var out bytes.Buffer
	if a.body != nil {
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(a.body); err != nil {
			panic(err) // encoding an answer does not fail
		}
		v.w.Header().Set("Content-Type", "application/json")
	}
	v.w.WriteHeader(a.code)
	_, _ = v.w.Write(out.Bytes()) // an error means that the caller has disconnected
}
