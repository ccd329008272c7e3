package system

import (
	"context"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Merchant is a sandbox with its webhook endpoint and a client of its owner.
type Merchant struct {
	*Sandbox
	Receiver *Receiver
	Client   *Client
}

// AddMerchant creates a sandbox, its endpoint with a behavior, and a client at an api. The system closes the endpoint.
func (s *System) AddMerchant(
	ctx context.Context,
	name string,
	api *API,
	behave Behavior,
	change ...func(*sandboxes.Config),
) (*Merchant, error) {
	receiver, err := NewReceiver(behave)
	if err != nil {
		return nil, err
	}
	s.receivers = append(s.receivers, receiver)
	m := &Merchant{Receiver: receiver}
	if m.Sandbox, err = s.AddSandbox(ctx, name, receiver.URL, change...); err != nil {
		return nil, err
	}
	receiver.Trust(m.Secret)
	m.Client, err = m.Sandbox.Client(ctx, api)
	return m, err
}
