package service

import (
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// targetOfTransaction returns a target with the fields that follow from a transaction.
func targetOfTransaction(t *payments.Transaction, sandbox *sandboxes.Sandbox) faults.Target {
	return faults.Target{
		Type: t.Type, Status: t.Status, Operator: t.Operator, Country: t.Country, Store: t.Store, MSISDN: t.MSISDN,
		Reference: t.Reference, Draws: faults.DrawsOf(sandbox.Seed, sandbox.Tenant),
	}
}

// targetOfOrder returns the target of a request that records an order.
func targetOfOrder(sandbox *sandboxes.Sandbox, r *recording, market sandboxes.Market) *faults.Target {
	return &faults.Target{
		Type: r.kind, Operator: market.Operator, Country: market.Country, Store: storeOf(sandbox, &r.Order.Order),
		MSISDN: r.MSISDN, Reference: r.Reference,
	}
}
