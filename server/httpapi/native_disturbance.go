package httpapi

import (
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

// nativeFaults describes a call to the decision which fault applies.
func nativeFaults(api *operatorapi.API, r *http.Request) service.RequestFaults {
	f := requestFaults(r)
	f.At, f.Operator = faults.AtOperator, api.Operator
	return f
}

// disturbTold lets a fault apply to what the operator tells of a transaction that has its outcome.
func (n *nativeSandbox) disturbTold(ctx context.Context, told *operatorapi.Payment) error {
	f, staysPending, err := n.server.service.StatusFault(ctx, n.who, told.Transaction)
	if err != nil || f == nil {
		return err
	}
	told.Reason = f.Operator.Reason
	if staysPending {
		pending := *told.Transaction
		pending.Status, pending.CompletedAt = payments.Pending, nil
		told.Transaction = &pending
	}
	return nil
}
