package native

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/httpfront/static"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// OpenCheckout implements [operatorapi.Sandbox].
func (s *sandbox) OpenCheckout(ctx context.Context, o operatorapi.Checkout) error {
	sent, err := json.Marshal(o.Sent)
	if err != nil {
		return fmt.Errorf("keeping what was sent: %w", err)
	}
	opened, err := s.native.ledger.OpenCheckout(ctx, s.who.Sandbox.Tenant, &nativestore.Checkout{
		Operator: s.api.Operator, Reference: o.Reference, Token: hashOf(o.Token), MadeWith: s.who.Key, Amount: o.Amount, Sent: sent,
		Lifetime: o.Lifetime,
	})
	if err == nil && !opened {
		err = s.refuseCheckout(ctx, &o)
	}
	return err
}

// refuseCheckout returns the refusal of an order whose reference is taken.
func (s *sandbox) refuseCheckout(ctx context.Context, o *operatorapi.Checkout) error {
	var holder string
	t, _, err := s.native.ledger.FindReference(ctx, s.who.Sandbox.Tenant, o.Reference)
	switch {
	case err == nil:
		holder = whoseReference(&operatorapi.Order{Order: payments.Order{Amount: o.Amount}}, t)
	case errors.Is(err, ledger.ErrNotFound):
		holder, err = s.whoWaits(ctx, o)
	}
	if err != nil {
		return err
	}
	return operatorapi.Refuse(operatorapi.Duplicate).Say(holder)
}

// newestCheckouts is the number of open orders, newest first, among which [sandbox.whoWaits] searches.
const newestCheckouts = 100

// whoWaits returns a sentence without a period about the open order whose reference is that of the order o.
func (s *sandbox) whoWaits(ctx context.Context, o *operatorapi.Checkout) (string, error) {
	open, err := s.native.ledger.ListOpenCheckouts(ctx, s.who.Sandbox.Tenant, s.api.Operator, newestCheckouts)
	for i := range open {
		if open[i].Reference == o.Reference && open[i].Amount != o.Amount {
			return fmt.Sprintf("the reference belongs to an order of %d that waits for its payer", open[i].Amount), err
		}
	}
	return "the reference belongs to an order that waits for its payer", err
}

// FindCheckout implements [operatorapi.Sandbox].
func (s *sandbox) FindCheckout(ctx context.Context, token string) (operatorapi.Checkout, error) {
	found, err := s.native.ledger.FindCheckout(ctx, s.who.Sandbox.Tenant, s.api.Operator, hashOf(token))
	if errors.Is(err, ledger.ErrNotFound) {
		err = operatorapi.Refuse(operatorapi.NotFound)
	}
	if err != nil {
		return operatorapi.Checkout{}, err
	}
	return checkoutOf(found, token), nil
}

func checkoutOf(o *nativestore.Checkout, token string) operatorapi.Checkout {
	return operatorapi.Checkout{
		Reference: o.Reference, Token: token, Amount: o.Amount, Sent: o.Sent, Expired: o.Expired, Ended: o.Ended,
		Canceled: o.Canceled, Tried: o.Tried, Codes: nativestore.MaxCheckoutCodes,
	}
}

// stored returns an order with the fields by which the ledger finds it.
func (s *sandbox) stored(o operatorapi.Checkout) *nativestore.Checkout {
	return &nativestore.Checkout{Operator: s.api.Operator, Token: hashOf(o.Token)}
}

// Cancel implements [operatorapi.Sandbox].
func (s *sandbox) Cancel(ctx context.Context, o operatorapi.Checkout) error {
	return s.end(ctx, o, true)
}

func (s *sandbox) end(ctx context.Context, o operatorapi.Checkout, canceled bool) error {
	ending := s.stored(o)
	ending.Canceled = canceled
	return s.native.ledger.EndCheckout(ctx, s.who.Sandbox.Tenant, ending)
}

// Confirm implements [operatorapi.Sandbox].
func (s *sandbox) Confirm(ctx context.Context, checkout operatorapi.Checkout, code string, o operatorapi.Order) error {
	left, err := s.native.ledger.TryCheckoutCode(ctx, s.who.Sandbox.Tenant, s.stored(checkout))
	if errors.Is(err, ledger.ErrNotFound) {
		return operatorapi.Refuse(operatorapi.NotFound)
	}
	if err != nil {
		return err
	}
	o.Operator = s.api.Operator
	market := sandboxes.Market{Operator: o.Operator, Country: o.Country}
	wanted, err := s.native.service.OneTimeCode(ctx, s.who.Sandbox, o.MSISDN, market)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return err
	}
	if err != nil || subtle.ConstantTimeCompare([]byte(wanted), []byte(code)) != 1 {
		// The hint is for the merchant's request log. WhyUnknown takes the same time for known and unknown numbers.
		s.recorded.Hint = s.native.service.WhyUnknown(ctx, s.who.Sandbox, market, o.MSISDN)
		if left == 0 {
			err = s.end(ctx, checkout, false)
		} else {
			err = nil
		}
		return errors.Join(operatorapi.Refuse(operatorapi.WrongCode), err)
	}
	return s.payCheckout(ctx, checkout, o)
}

// payCheckout records the collection of an order after its payer has given the right code. If the collection cannot be
// recorded, the code does not count as tried. If the reference is taken, the order ends instead. If the order has ended
// already, payCheckout refuses with [operatorapi.NotFound].
func (s *sandbox) payCheckout(ctx context.Context, checkout operatorapi.Checkout, o operatorapi.Order) error {
	err := s.recordOnce(ctx, o, func(ctx context.Context, who *service.Caller, order service.Order) (service.Recorded, error) {
		order.Call.Checkout = s.stored(checkout)
		return s.collectConfirmed(ctx, who, order)
	})
	var refused *operatorapi.Refusal
	switch {
	case errors.Is(err, ledger.ErrOrderEnded):
		return operatorapi.Refuse(operatorapi.NotFound)
	case errors.As(err, &refused) && refused.Reason == operatorapi.Duplicate:
		s.recorded.Hint = refused.Detail // for the merchant's request log: the payer reads none of it
		return errors.Join(err, s.end(ctx, checkout, false))
	case err != nil:
		return errors.Join(err, s.native.ledger.GiveBackCheckoutCode(ctx, s.who.Sandbox.Tenant, s.stored(checkout)))
	}
	return nil
}

// PageOf implements [operatorapi.Sandbox]. The page is at the host of the request. This host or the path names the
// sandbox, because a payer's browser has no credential that identifies the sandbox.
func (s *sandbox) PageOf(o operatorapi.Checkout) string {
	if root := httpfront.RootOf(s.request); root != nil {
		return root.URL + s.api.Page.Of(o.Token)
	}
	origin, _ := static.AskedAt(s.request, s.native.baseURL, "")
	return origin + "/sandboxes/" + s.who.Sandbox.Namespace + "/" + s.who.Sandbox.Name + prefix + string(s.api.Operator) +
		s.api.Page.Of(o.Token)
}
