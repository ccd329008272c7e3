package service

import (
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// placeOfTransaction returns the part of a fault's place that follows from a transaction.
func placeOfTransaction(t *payments.Transaction, sandbox *sandboxes.Sandbox) faults.Place {
	return faults.Place{
		Type: t.Type, Status: t.Status, Operator: t.Operator, Country: t.Country, Store: t.Store, MSISDN: t.MSISDN,
		Reference: t.Reference, Draws: faults.DrawsOf(sandbox.Seed, sandbox.Tenant),
	}
}

// placeOfOrder returns the place of a request that records an order.
func placeOfOrder(sandbox *sandboxes.Sandbox, asked *intent, market sandboxes.Market) *faults.Place {
	return &faults.Place{
		Type: asked.kind, Operator: market.Operator, Country: market.Country, Store: storeOf(sandbox, &asked.Order),
		MSISDN: asked.MSISDN, Reference: asked.Reference,
	}
}
