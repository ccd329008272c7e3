package service

import (
	"encoding/json"

	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/payments"
)

// Ask is a request to record a transaction.
type Ask struct {
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
}

// intent is a request while the service records it, over all tries.
type intent struct {
	Ask
	kind        payments.Type
	generated   bool // whether the service generated the reference
	fingerprint []byte
}

func newIntent(kind payments.Type, a Ask) *intent {
	return &intent{Ask: a, kind: kind, fingerprint: a.Fingerprint(a.Reference)}
}

// ensureReference generates a reference for a request without one. The reference is the idempotency key. All tries of
// the request share the generated reference, and the fingerprint includes it. So a client that reads the reference in
// an answer can repeat the request with it. findReplay handles a generated reference that is already taken.
func (s *Service) ensureReference(asked *intent, origin string, op payments.Operation) error {
	if asked.Reference != "" {
		return nil
	}
	generated, err := payments.NewReference(origin, op, s.now(), s.random)
	if err != nil {
		return err
	}
	asked.Reference, asked.generated = generated.String(), true
	asked.fingerprint = asked.Fingerprint(asked.Reference)
	return nil
}
