package view

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// TestClientOf returns the view of a test client.
func TestClientOf(c *ledger.TestClient) wire.TestClient {
	v := wire.TestClient{
		MSISDN: c.MSISDN, Name: c.Name, Source: c.Source, Operator: string(c.Operator), Country: string(c.Country),
		Currency: string(c.Currency()),
		State:    wire.StateActive, Behavior: string(c.Behavior), Balance: c.Balance,
		PendingPrompts: int64(c.Prompts),
	}
	if c.Blocked {
		v.State = wire.StateBlocked
	}
	if c.ManualUntil != nil {
		v.ManualUntil = new(payments.FormatTime(*c.ManualUntil))
	}
	return v
}
