package native

import (
	"context"
	"errors"
	"net/http"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

// Scan returns what a phone of the console shows of the QR code of an order. It refuses with [operatorapi.NotFound] if the
// sandbox of who has no such order.
func (n *Native) Scan(r *http.Request, who *service.Caller, o payments.Operator, token string) (scanned operatorapi.Scanned, err error) {
	err = n.scan(r, who, o, token, func(ctx context.Context, s *sandbox, found operatorapi.Checkout) error {
		scanned, err = s.api.Page.Scan.Read(ctx, s, found)
		return err
	})
	return scanned, err
}

// PayScanned pays an order whose QR code a phone of the console has scanned. accepted is false if the merchant did not
// accept the payment.
func (n *Native) PayScanned(
	r *http.Request, who *service.Caller, o payments.Operator, token, msisdn, draft string,
) (accepted bool, err error) {
	err = n.scan(r, who, o, token, func(ctx context.Context, s *sandbox, found operatorapi.Checkout) error {
		accepted, err = s.api.Page.Scan.Pay(ctx, s, found, msisdn, draft)
		return err
	})
	return accepted, err
}

// scan calls f with the order that has a token. The session of the console has been admitted.
func (n *Native) scan(
	r *http.Request, session *service.Caller, o payments.Operator, token string,
	f func(context.Context, *sandbox, operatorapi.Checkout) error,
) error {
	api := operators.NativeAPI(o)
	if api == nil || api.Page == nil || api.Page.Scan == nil || !api.Page.Token.MatchString(token) {
		return operatorapi.Refuse(operatorapi.NotFound)
	}
	path := prefix + string(o) + api.Page.Of(token)
	who := &service.Caller{Sandbox: session.Sandbox, Key: session.Key, Faults: service.RequestFaults{
		At: faults.AtOperator, Operator: o, Path: path, Repeats: http.MethodPost + " " + path,
	}}
	s := &sandbox{native: n, api: api, request: r, who: who}
	return n.service.Renewing(r.Context(), who, func(ctx context.Context) error {
		found, err := n.ledger.FindCheckout(ctx, who.Sandbox.Tenant, o, hashOf(token))
		if errors.Is(err, ledger.ErrNotFound) || err == nil && (found.Expired || !s.holds(found.MadeWith)) {
			return operatorapi.Refuse(operatorapi.NotFound)
		}
		if err != nil {
			return err
		}
		who.Key = found.MadeWith
		return f(ctx, s, checkoutOf(found, token))
	})
}
