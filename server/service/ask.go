package service

import (
	"encoding/json"

	"github.com/cauri-dev/cauri/server/payments"
)

// Ask is a request to record a transaction.
type Ask struct {
	payments.Order
	// Fingerprint returns the fingerprint of the request, by which a repetition is recognized. reference is the one
	// that the request was sent with, or else the one generated for it; the fingerprint is that of a request sent with
	// it.
	Fingerprint func(reference string) []byte
	// Call is the call of the operator's own API that makes the request; nil if the request came through /v1.
	Call *OperatorCall
}

// OperatorCall is a call of an operator's own API.
type OperatorCall struct {
	Operation   string
	Sent        json.RawMessage // what the operator's answers repeat
	CallbackURL string          // empty: none
	// Party is how the number behaves if no SIM has it, as the operator's own sandbox has it; nil: as any other number.
	Party *payments.TestNumber
}

// intent is a request that is to be recorded once.
type intent struct {
	Ask
	kind        payments.Type
	generated   bool // the reference
	fingerprint []byte
}

func newIntent(kind payments.Type, a Ask) *intent {
	return &intent{Ask: a, kind: kind, fingerprint: a.Fingerprint(a.Reference)}
}

// ensureReference generates a reference for a request without one; all tries of the request share it. From then on the
// request counts as sent with this reference, so a client that learns the reference can send the request again with it.
// The unique index finds out whether the generated reference is free: see [Service.findReplay].
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
