package service

import (
	"slices"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// RequestFaults are the faults that apply to one request. The decision is kept while the request is tried again. It is
// made again only if no fault applied and the configuration changed before the request was recorded. The decision itself
// is in faults.go.
type RequestFaults struct {
	// The front sets these fields.

	At       faults.Where      // [faults.AtRequest] or [faults.AtOperator]
	Operator payments.Operator // the operator whose own API it is made to; empty for /v1
	Path     string            // within the sandbox
	ReadOnly bool              // the request changes nothing
	// Repeats is the same for all repetitions of a request without a reference; empty: each request is a new one.
	Repeats string

	// The service sets these fields.

	ToAnswer *faults.Fault // applies to the answer; nil for none
	ToStatus *faults.Fault // applies to the status that an operator reports; nil for none
	names    []string      // of the faults that applied to requests with this reference, this one included
	tenant   int64         // in which count was counted
	version  int64         // of the configuration that decided
	count    int           // of requests with this reference in the tenant; 0: not counted
}

// canApply reports whether a fault of a sandbox can still apply to the request.
func (d *RequestFaults) canApply(sandbox *sandboxes.Sandbox) bool {
	return d.ToAnswer == nil && d.version != sandbox.ConfigVersion &&
		slices.ContainsFunc(sandbox.Faults, func(f faults.Fault) bool { return f.Answer() != nil })
}
