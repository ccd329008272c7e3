package orange

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/operatorapi/operatorapitest"
	"github.com/cauri-dev/cauri/server/payments"
)

// decidedMeanwhile is a sandbox in which another tab pays or cancels an order while this one cancels it.
type decidedMeanwhile struct {
	operatorapitest.Recorder
	ended bool
	paid  bool
}

func (d *decidedMeanwhile) Cancel(context.Context, operatorapi.Checkout) error {
	d.ended = true
	return nil
}

func (d *decidedMeanwhile) Find(ctx context.Context, reference string, operations ...string) (operatorapi.Payment, error) {
	if !d.ended || !d.paid {
		return operatorapi.Payment{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	return d.Recorder.Find(ctx, reference, operations...)
}

func (d *decidedMeanwhile) FindCheckout(ctx context.Context, token string) (operatorapi.Checkout, error) {
	o, err := d.Recorder.FindCheckout(ctx, token)
	o.Ended, o.Canceled = d.ended, d.ended
	return o, err
}

// If a payer cancels an order that another tab has paid, the browser does not go to the shop's address for canceled
// orders.
func TestCanceledAfterAPayment(t *testing.T) {
	t.Parallel()
	kept, err := json.Marshal(checkoutSent{
		Country: payments.CoteDIvoire, Currency: payments.XOF, Money: devMoney, ReturnURL: "https://shop.example/return",
		CancelURL: "https://shop.example/cancel", NotifToken: "n",
	})
	if err != nil {
		t.Fatal(err)
	}
	for paid, want := range map[bool]string{true: "0; url=https://shop.example/return", false: "0; url=https://shop.example/cancel"} {
		s := &decidedMeanwhile{Recorder: operatorapitest.Recorder{T: t, Sent: string(kept)}, paid: paid}
		answer, err := servePage(t.Context(), s, &operatorapi.Visit{
			Order: operatorapi.Checkout{Reference: "x", Token: "x", Amount: 5, Sent: json.RawMessage(kept)}, Form: url.Values{"action": {"cancel"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := answer.Header.Get("Refresh"); got != want {
			t.Errorf("paid: %t, the browser goes to %q", paid, got)
		}
	}
}
