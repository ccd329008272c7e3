package service

import (
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// optionalFields returns the data that is recorded with a request's transaction. It has the faults that applied to the
// request, and the call of an operator's own API. If the sandbox has a seed, it also has the operator's transaction id.
func optionalFields(who *Caller, r *recording) ledger.OptionalFields {
	var o ledger.OptionalFields
	sandbox := who.Sandbox
	if sandbox.Seed != nil {
		digest := faults.DrawsOf(sandbox.Seed, sandbox.Tenant).Digest("operator's number", r.Reference)
		o.ProviderTxID = payments.ProviderTxIDOf(digest)
	}
	o.Faults = who.Faults.names
	if r.Call != nil {
		o.Native = callToKeep(r.Call, sandbox)
	}
	return o
}

func callToKeep(c *OperatorCall, sandbox *sandboxes.Sandbox) *ledger.NativeRequest {
	return &ledger.NativeRequest{
		Operation: c.Operation, Sent: c.Sent, Callbacks: c.Callbacks, LatencyPercent: LatencyPercent(sandbox), Checkout: c.Checkout,
	}
}

// LatencyPercent returns the percentage that scales the delay of a callback that waits for no other latency: that of a
// transaction that completes at once, or one without a transaction.
func LatencyPercent(sandbox *sandboxes.Sandbox) int {
	if sandbox.ClockMode == sandboxes.ManualClock {
		return 0 // a manual clock does not run, so a callback must not wait for it
	}
	return sandbox.LatencyPercent
}
