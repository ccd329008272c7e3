package service

import (
	"encoding/json"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/payments"
)

// Order is a request to record a transaction.
type Order struct {
	payments.Order
	// Fingerprint returns the fingerprint of the request as if it had been sent with this reference. The service
	// recognizes a repetition by its fingerprint.
	Fingerprint func(reference string) []byte
	// Call is the call of the operator's own API that makes the request; nil if the request came through /v1.
	Call *OperatorCall
}

// OperatorCall is a call of an operator's own API.
type OperatorCall struct {
	Operation string
	Sent      json.RawMessage // fields of the request that the operator's answers repeat
	Callbacks []payments.PlannedCallback
	// Checkout is the one whose payer confirms it: the service records both, or none; nil for none.
	Checkout *nativestore.Checkout
	// Party is the behavior of the number in the operator's own sandbox, used if no SIM has the number; nil for none.
	Party *payments.TestNumber
	// AnyNumber is whether a number without a SIM is passed through, except a test number of the sandbox. The worker
	// then approves the payment, even if the store names an API of the operator.
	AnyNumber bool
	// Failed is the status with which a disbursement fails, whoever the recipient is; empty for none.
	Failed payments.Status
	// PromptTime is how long the payer of a collection may take to answer, in sandbox time; zero: see
	// [operatorapi.Order].
	PromptTime time.Duration
}

// recording is an order while the service records it, over all tries.
type recording struct {
	Order
	kind        payments.Type
	generated   bool // whether the service generated the reference
	fingerprint []byte
}

// policy returns what happens to a number that is not in the registry, given the policy of the environment.
func (r *recording) policy(of payments.UnknownPolicy) payments.UnknownPolicy {
	if r.Call != nil && r.Call.AnyNumber {
		return payments.Passthrough
	}
	return of
}

// expireAfter returns the time after which a pending collection ends, given the pending timeout of the sandbox.
func (r *recording) expireAfter(timeout time.Duration) time.Duration {
	if r.Call != nil && r.Call.PromptTime > 0 {
		return min(r.Call.PromptTime, timeout)
	}
	return timeout
}

func newRecording(kind payments.Type, o Order) *recording {
	return &recording{Order: o, kind: kind, fingerprint: o.Fingerprint(o.Reference)}
}

// ensureReference generates a reference for a request without one. The reference is the idempotency key. All tries of
// the request share the generated reference, and the fingerprint includes it. So a client that reads the reference in
// an answer can repeat the request with it. findReplay handles a generated reference that is already taken.
func (s *Service) ensureReference(r *recording, origin string, op payments.Operation) error {
	if r.Reference != "" {
		return nil
	}
	generated, err := payments.NewReference(origin, op, s.now(), s.random)
	if err != nil {
		return err
	}
	r.Reference, r.generated = generated.String(), true
	r.fingerprint = r.Fingerprint(r.Reference)
	return nil
}
