package service

import (
	"slices"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// RequestFaults are the faults that apply to one request. They are decided once, and kept while the request is tried
// again: unless no fault applies, and the configuration changes before the request is recorded.
type RequestFaults struct {
	// What the front says of the request.

	At       faults.Where      // [faults.AtRequest] or [faults.AtOperator]
	Operator payments.Operator // whose own API it is made to; empty for another
	Path     string            // within the sandbox
	ReadOnly bool              // it changes nothing
	// What the request has in common with its repetitions, if it has no reference; empty: each is another request.
	Repeats string

	// What was decided.

	ToAnswer *faults.Fault // applies to the answer; nil for none
	ToStatus *faults.Fault // applies to what an operator says of a transaction; nil for none
	names    []string      // of those that applied to requests with its reference, with this one
	tenant   int64         // in which they were counted
	version  int64         // of the configuration by which it was decided
	count    int           // requests with its reference in the tenant; 0: they were not counted
}

// canApply reports whether a fault of a sandbox can still apply to the request.
func (d *RequestFaults) canApply(sandbox *sandboxes.Sandbox) bool {
	return d.ToAnswer == nil && d.version != sandbox.ConfigVersion &&
		slices.ContainsFunc(sandbox.Faults, func(f faults.Fault) bool { return f.Answer() != nil })
}
