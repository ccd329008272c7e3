package orange

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// The states of an order that no [Payload] has (Documented). The other states are pending, failed and expired.
const (
	initiated = "INITIATED" // it waits for its payer
	success   = "SUCCESS"
)

// order is an order with its state.
type order struct {
	operatorapi.Checkout
	checkoutSent
	state  string
	status payments.Status // of its collection; empty: it has none
	txnID  string          // of its collection
}

// read returns an order with its present state. A transaction with the same order id belongs to the order only if it
// also has the same notification token.
func read(ctx context.Context, s operatorapi.Sandbox, o operatorapi.Checkout) (*order, error) {
	found := &order{Checkout: o}
	if err := o.Read(&found.checkoutSent); err != nil {
		return nil, err
	}
	p, err := s.Find(ctx, o.Reference, payCall)
	if err != nil && !operatorapi.IsRefused(err, operatorapi.NotFound) {
		return nil, err
	}
	var kept sent
	switch {
	case err == nil && json.Unmarshal(p.Sent, &kept) == nil && kept.NotifToken == found.NotifToken:
		found.state, found.status, found.txnID = stateOf(p.Status), p.Status, txnIDOf(p.Transaction)
	case o.Ended:
		found.state = failed
	case o.Expired:
		found.state = expired
	default:
		found.state = initiated
	}
	return found, nil
}

// stateOf returns Orange's state for the status of a collection.
func stateOf(status payments.Status) string {
	switch status {
	case payments.Success:
		return success
	case payments.Pending:
		return pending
	case payments.Timeout:
		return expired
	}
	return failed
}

// txnIDOf returns Orange's id of a transaction (Documented).
func txnIDOf(t *payments.Transaction) string { return operatorapi.DatedID("MP", t) }

// statusAnswer answers with the state of an order.
func statusAnswer(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, _ market) (operatorapi.Answer, error) {
	body, err := readBody(r, missingOfStatus, "order_id", "amount", "pay_token")
	if err != nil {
		return operatorapi.Answer{}, err
	}
	amount, err := amountOf(body.Amount)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	found, err := s.FindCheckout(ctx, body.PayToken)
	if err == nil && (found.Reference != body.OrderID || found.Amount != amount) {
		err = operatorapi.Refuse(operatorapi.NotFound)
	}
	if err != nil {
		return operatorapi.Answer{}, operatorapi.ExpectFound(err, "order_id, amount and pay_token", "those of one order")
	}
	o, err := read(ctx, s, found)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	told := struct {
		Status  string `json:"status"`
		OrderID string `json:"order_id"`
		TxnID   string `json:"txnid,omitempty"`
	}{Status: o.state, OrderID: o.Reference}
	if o.state == success {
		told.TxnID = o.txnID
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: told}, nil
}

// newCallback returns the notification of a collection with an outcome. Its status is SUCCESS or FAILED (Documented).
// The merchant recognizes the order by the notification token.
func newCallback(t *payments.Transaction, kept json.RawMessage, _ operatorapi.StatusView) operatorapi.Callback {
	var from sent
	_ = json.Unmarshal(kept, &from) // it was encoded by placeOrder
	told := struct {
		Status     string `json:"status"`
		NotifToken string `json:"notif_token"`
		TxnID      string `json:"txnid"`
	}{failed, from.NotifToken, txnIDOf(t)}
	if t.Status == payments.Success {
		told.Status = success
	}
	return operatorapi.Post(told)
}
