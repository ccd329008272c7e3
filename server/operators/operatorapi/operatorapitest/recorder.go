// Package operatorapitest has what tests of one operator's own API need, without a database.
package operatorapitest

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// Recorder is a sandbox in Rwanda that accepts everything. Every transaction succeeds. References that contain a 0 are
// unknown.
type Recorder struct {
	T *testing.T
	// Check checks an order that was accepted. User checks an added user; nil if the API adds none.
	Check func(*testing.T, operatorapi.Order)
	User  func(*testing.T, operatorapi.User)
	// OnCheckout checks an order that is opened; nil if the API has no page.
	OnCheckout func(*testing.T, operatorapi.Checkout)
	Key        *rsa.PrivateKey // key for PINs and passwords; nil for none
	// Sent are the stored fields of all requests.
	Sent string
	In   []operatorapi.Environment // nil: Rwanda
}

var _ operatorapi.Sandbox = Recorder{}

// Environments implements [operatorapi.Sandbox].
func (r Recorder) Environments() []operatorapi.Environment {
	if r.In != nil {
		return r.In
	}
	return []operatorapi.Environment{{Country: payments.Rwanda, Currency: payments.RWF}}
}

// Collect implements [operatorapi.Sandbox].
func (r Recorder) Collect(_ context.Context, o operatorapi.Order) error {
	r.Check(r.T, o)
	return nil
}

// Disburse implements [operatorapi.Sandbox].
func (r Recorder) Disburse(ctx context.Context, o operatorapi.Order) error { return r.Collect(ctx, o) }

// Refund implements [operatorapi.Sandbox].
func (r Recorder) Refund(ctx context.Context, o operatorapi.Order) error { return r.Collect(ctx, o) }

func found(reference string) (*payments.Transaction, error) {
	if strings.Contains(reference, "0") {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	return &payments.Transaction{
		Details: payments.Details{Reference: reference, MSISDN: "+250788123456"}, Type: payments.Collection,
		Status: payments.Success, Amount: 5, Country: payments.Rwanda,
	}, nil
}

// Find implements [operatorapi.Sandbox].
func (r Recorder) Find(_ context.Context, reference string, operations ...string) (operatorapi.Payment, error) {
	t, err := found(reference)
	return operatorapi.Payment{Transaction: t, Operation: operations[0], Sent: json.RawMessage(r.Sent)}, err
}

// ApplyFault implements [operatorapi.Sandbox].
func (Recorder) ApplyFault(context.Context) error { return nil }

// HasPending implements [operatorapi.Sandbox].
func (Recorder) HasPending(context.Context, string, string) (bool, error) { return false, nil }

// Claim implements [operatorapi.Sandbox].
func (Recorder) Claim(string) (func(), bool) { return func() {}, true }

// FindInMinute implements [operatorapi.Sandbox].
func (Recorder) FindInMinute(context.Context, time.Time, func(*payments.Transaction) bool) (*payments.Transaction, error) {
	return found("in-a-minute")
}

// OpenCheckout implements [operatorapi.Sandbox].
func (r Recorder) OpenCheckout(_ context.Context, o operatorapi.Checkout) error {
	r.OnCheckout(r.T, o)
	return nil
}

// FindCheckout implements [operatorapi.Sandbox].
func (r Recorder) FindCheckout(_ context.Context, token string) (operatorapi.Checkout, error) {
	t, err := found(token)
	if err != nil {
		return operatorapi.Checkout{}, err
	}
	return operatorapi.Checkout{Reference: t.Reference, Token: token, Amount: t.Amount, Sent: json.RawMessage(r.Sent)}, nil
}

// Confirm implements [operatorapi.Sandbox].
func (r Recorder) Confirm(ctx context.Context, _ operatorapi.Checkout, _ string, o operatorapi.Order) error {
	return r.Collect(ctx, o)
}

// Cancel implements [operatorapi.Sandbox].
func (Recorder) Cancel(context.Context, operatorapi.Checkout) error { return nil }

// PageOf implements [operatorapi.Sandbox].
func (Recorder) PageOf(o operatorapi.Checkout) string { return "http://cauri.example/" + o.Token }

// FindCollection implements [operatorapi.Sandbox].
func (Recorder) FindCollection(_ context.Context, reference string) (*payments.Transaction, error) {
	return found(reference)
}

// ListPaid implements [operatorapi.Sandbox].
func (Recorder) ListPaid(
	context.Context, payments.Country, time.Time, time.Time, payments.SentValue, int,
) ([]*payments.Transaction, error) {
	t, err := found("paid")
	return []*payments.Transaction{t}, err
}

// Keep implements [operatorapi.Sandbox].
func (r Recorder) Keep(_ context.Context, name string, value any) error {
	encoded, err := json.Marshal(value)
	if err != nil || name == "" || !operatorapi.IsText(name, 80) || len(encoded) > operatorapi.MaxKept {
		r.T.Errorf("%q cannot be kept: %s, %v", name, encoded, err)
	}
	return nil
}

// Kept implements [operatorapi.Sandbox]. Nothing was kept under a name with a 0.
func (r Recorder) Kept(_ context.Context, name string, into any) error {
	if strings.Contains(name, "0") {
		return operatorapi.Refuse(operatorapi.NotFound)
	}
	return json.Unmarshal([]byte(r.Sent), into)
}

// Notify implements [operatorapi.Sandbox].
func (Recorder) Notify(context.Context, operatorapi.Notice) error { return nil }

// Ask implements [operatorapi.Sandbox]. Nobody replies.
func (Recorder) Ask(context.Context, operatorapi.Notice, time.Duration) (*operatorapi.Reply, error) {
	return nil, nil
}

// Balance implements [operatorapi.Sandbox].
func (Recorder) Balance(context.Context, payments.Currency) (int64, error) { return 1, nil }

// Holder implements [operatorapi.Sandbox].
func (Recorder) Holder(context.Context, operatorapi.Environment, string) (operatorapi.Holder, error) {
	return operatorapi.Holder{}, nil
}

// MayCall implements [operatorapi.Sandbox].
func (Recorder) MayCall(string) bool { return true }

// Checks implements [operatorapi.Sandbox].
func (Recorder) Checks(string, string) bool { return true }

// PINKey implements [operatorapi.Sandbox].
func (r Recorder) PINKey() *rsa.PublicKey {
	if r.Key == nil {
		return nil
	}
	return &r.Key.PublicKey
}

// OpenPIN implements [operatorapi.Sandbox].
func (r Recorder) OpenPIN(_ context.Context, text []byte) ([]byte, error) {
	return new(big.Int).Exp(new(big.Int).SetBytes(text), r.Key.D, r.Key.N).FillBytes(make([]byte, r.Key.Size())), nil
}

// CredentialKey implements [operatorapi.Sandbox].
func (r Recorder) CredentialKey() *rsa.PublicKey { return r.PINKey() }

// OpenCredential implements [operatorapi.Sandbox].
func (r Recorder) OpenCredential(ctx context.Context, text []byte) ([]byte, error) {
	return r.OpenPIN(ctx, text)
}

// IssueToken implements [operatorapi.Sandbox].
func (Recorder) IssueToken(context.Context, string, string, operatorapi.User, time.Duration) error {
	return nil
}

// AddUser implements [operatorapi.Sandbox].
func (r Recorder) AddUser(_ context.Context, u operatorapi.User) error {
	r.User(r.T, u)
	return nil
}

// SetPassword implements [operatorapi.Sandbox].
func (Recorder) SetPassword(context.Context, string, string) error { return nil }

// FindUser implements [operatorapi.Sandbox].
func (Recorder) FindUser(context.Context, string) (operatorapi.User, error) {
	return operatorapi.User{}, operatorapi.Refuse(operatorapi.NotFound)
}

// Now implements [operatorapi.Sandbox].
func (Recorder) Now(context.Context) (time.Time, error) {
	return time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC), nil
}

// Text implements [operatorapi.Sandbox].
func (Recorder) RandomHex() (string, error) { return "0123456789abcdef0123456789abcdef", nil }

// CallAll sends a request to every call of an API. A call must answer as its description says, or refuse for a reason
// that the description has. The text is the value of all parameters of paths.
func CallAll(r Recorder, api *operatorapi.API, header http.Header, body []byte, text string) {
	r.T.Helper()
	for i := range api.Routes {
		route := &api.Routes[i]
		param := func(name string) string {
			if strings.Contains(route.Path, "{"+name+"}") {
				return text
			}
			return ""
		}
		answer, err := route.Handle(r.T.Context(), r, &operatorapi.Request{Header: header, Body: body, Param: param, Product: route.Product})
		var refusal *operatorapi.Refusal
		switch {
		case errors.As(err, &refusal):
			if !slices.Contains(api.Refusals(route), refusal.Reason) {
				r.T.Errorf("%s %s refuses for %s, which its description does not have", route.Method, route.Path, refusal.Reason)
			}
		case err != nil:
			r.T.Errorf("%s %s: %v", route.Method, route.Path, err)
		case answer.Status != route.Doc.Status || (answer.Body == nil) != (route.Doc.Answer == ""):
			r.T.Errorf("%s %s answers %d %v", route.Method, route.Path, answer.Status, answer.Body)
		}
	}
}
