package console

import (
	"cmp"

	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	// newestOrders is the maximum number of orders that are read for each operator. The newest ones are read.
	newestOrders = 25
	// ordersEvery is the interval in seconds at which the browser reads the orders again. Without it, the page would not
	// show a new order, because no stream reports one.
	ordersEvery = 30
)

// openCheckout is an order that waits for its payer on an operator's page. It is no transaction.
type openCheckout struct {
	nativestore.Checkout
	operatorapi.CheckoutView
	page string // its address; empty: the session may not open the page, which can end the order
}

// called returns the merchant's name of the order.
func (o *openCheckout) called() string { return cmp.Or(o.Title, o.Reference) }

// pageOperators returns the operators of the sandbox whose payers confirm orders on a page.
func (v *visit) pageOperators() (all []payments.Operator) {
	for _, api := range operators.NativeAPIs() {
		for _, m := range v.who.Sandbox.Markets {
			if api.Page != nil && m.Operator == api.Operator {
				all = append(all, api.Operator)
				break
			}
		}
	}
	return all
}

// readCheckouts returns the orders that wait for their payers, newest first for each operator.
func (c *Console) readCheckouts(v *visit) (all []openCheckout, err error) {
	for _, operator := range v.pageOperators() {
		open, err := c.Ledger.ListOpenCheckouts(v.ctx(), v.who.Sandbox.Tenant, operator, newestOrders)
		if err != nil {
			return nil, err
		}
		page := operators.NativeAPI(operator).Page
		for _, o := range open {
			w := openCheckout{Checkout: o}
			if w.CheckoutView, err = page.View(operatorapi.Checkout{Sent: o.Sent}); err != nil {
				return nil, err
			}
			if v.may(full) {
				w.page = v.uri + "/operators/" + string(operator) + page.Of(w.CheckoutView.Token)
			}
			all = append(all, w)
		}
	}
	return all, nil
}
