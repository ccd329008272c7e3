package service

import (
	"slices"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// RequestFaults are the faults that apply to one request. The file apply_fault.go decides them. All tries of the request
// share the decision. The service decides again only if no fault applied and the configuration changed before the next
// try.
type RequestFaults struct {
	// The front sets these fields.

	At       faults.TargetKind // [faults.AtRequest] or [faults.AtOperator]
	Operator payments.Operator // the operator of the called API; empty for /v1
	Path     string            // path without the prefix of the sandbox
	ReadOnly bool              // whether the request changes nothing
	// Repeats identifies a request without a reference: all its repetitions have the same value. If it is empty, the
	// request repeats no other request.
	Repeats string

	// The service sets these fields.

	ToAnswer *faults.Fault // fault that applies to the answer; nil for none
	ToStatus *faults.Fault // fault that applies to the status that an operator reports; nil for none
	names    []string      // names of the faults that applied to this and earlier requests with this reference
	tenant   int64         // tenant of count
	version  int64         // version of the configuration at the last decision
	count    int           // number of requests with this reference in tenant; 0: not counted
}

// faultsOf returns the faults of a sandbox that have not ended.
func (s *Service) faultsOf(sandbox *sandboxes.Sandbox) faults.Set {
	if len(sandbox.Faults) == 0 {
		return nil
	}
	return sandbox.Faults.At(s.now())
}

// canApply reports whether a fault of the set can still apply to the request.
func (d *RequestFaults) canApply(sandbox *sandboxes.Sandbox, set faults.Set) bool {
	return d.ToAnswer == nil && d.version != sandbox.ConfigVersion &&
		slices.ContainsFunc(set, func(f faults.Fault) bool { return f.Answer() != nil })
}
