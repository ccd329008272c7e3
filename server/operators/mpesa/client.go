package mpesa

import (
	"context"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// client is a client of M-Pesa's API.
type client struct{ adapter.Connection }

// NewClient returns a client of M-Pesa's API.
func NewClient(a adapter.Access) adapter.Client { return &client{adapter.NewConnection(a)} }

// Collect implements [adapter.Client].
func (c *client) Collect(context.Context, *payments.Transaction) (adapter.Answer, error) {
	return adapter.Answer{}, adapter.ErrRefused{Reason: "payments are not forwarded to this operator"}
}

// Ask implements [adapter.Client].
func (c *client) Ask(context.Context, *payments.Transaction) (adapter.Answer, error) {
	return adapter.Answer{}, adapter.ErrRefused{Reason: "payments are not forwarded to this operator"}
}
