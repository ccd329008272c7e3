package store

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// SimulatedSandbox is a sandbox as its simulated operators see it.
type SimulatedSandbox struct {
	Tenant         int64
	UID            string
	LatencyPercent int
}

// SimulatedPayment is a payment that a simulated operator was asked for.
type SimulatedPayment struct {
	Reference string          // the caller's id of it
	NativeID  string          // the operator's
	Request   json.RawMessage // as the simulated operator wants it back
	CreatedAt time.Time       // set by the store
	Answered  bool            // its payer has answered; set by the store
}

// FindSimulatedSandbox returns [ErrNotFound] for a sandbox that does not exist.
func (s *Store) FindSimulatedSandbox(ctx context.Context, namespace, name string) (SimulatedSandbox, error) {
	row, err := s.system().SandboxNamed(ctx, namespace, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return SimulatedSandbox{}, ErrNotFound
	}
	if err != nil {
		return SimulatedSandbox{}, classify(err, "looking for the sandbox")
	}
	return SimulatedSandbox{Tenant: row.Tenant, UID: row.ResourceUid.String(), LatencyPercent: int(row.LatencyPercent)}, nil
}

// AcceptsCredentials reports whether a simulated operator gives a token for the credentials: for those that a store of the
// sandbox has registered with it or, while none has, for any.
func (s *Store) AcceptsCredentials(ctx context.Context, in SimulatedSandbox, operator payments.Operator, clientID, clientSecret string) (bool, error) {
	registered, err := s.tenant(in.Tenant).RegisteredDigests(ctx, in.Tenant, string(operator))
	if err != nil {
		return false, classify(err, "looking for registered credentials")
	}
	if len(registered) == 0 {
		return clientID != "" && clientSecret != "", nil
	}
	given, found := digestOf(in.UID, clientID, clientSecret), 0
	for _, digest := range registered {
		found |= subtle.ConstantTimeCompare(digest, given)
	}
	return found == 1, nil
}

// keptTokens bounds the tokens of one simulated operator of a sandbox.
const keptTokens = 1000

// IssueToken keeps the hash of a token for as long as it is valid.
func (s *Store) IssueToken(ctx context.Context, tenant int64, operator payments.Operator, hash [32]byte, valid time.Duration) error {
	err := s.tenant(tenant).IssueOperatorToken(ctx, db.IssueOperatorTokenParams{
		Tenant: tenant, Operator: string(operator), Hash: hash[:], ValidMs: milliseconds(valid), Keep: keptTokens - 1,
	})
	return classify(err, "keeping a token")
}

// TokenValid reports whether a token was issued and has not expired.
func (s *Store) TokenValid(ctx context.Context, tenant int64, operator payments.Operator, hash [32]byte) (bool, error) {
	valid, err := s.tenant(tenant).OperatorTokenValid(ctx, tenant, string(operator), hash[:])
	return valid, classify(err, "looking for a token")
}

// CreateSimulatedPayment reports false, and writes nothing, if there is a payment of that reference.
func (s *Store) CreateSimulatedPayment(ctx context.Context, tenant int64, operator payments.Operator, p SimulatedPayment, answerAfter time.Duration) (bool, error) {
	rows, err := s.tenant(tenant).CreateOperatorPayment(ctx, db.CreateOperatorPaymentParams{
		Tenant: tenant, Operator: string(operator), Reference: p.Reference, NativeID: p.NativeID, Request: p.Request,
		AnswerAfterMs: milliseconds(answerAfter),
	})
	return rows == 1, classify(err, "keeping a simulated payment")
}

// FindSimulatedPayment returns [ErrNotFound] for a reference that there is no payment of.
func (s *Store) FindSimulatedPayment(ctx context.Context, tenant int64, operator payments.Operator, reference string) (SimulatedPayment, error) {
	row, err := s.tenant(tenant).FindOperatorPayment(ctx, tenant, string(operator), reference)
	if errors.Is(err, pgx.ErrNoRows) {
		return SimulatedPayment{}, ErrNotFound
	}
	return SimulatedPayment{
		Reference: reference, NativeID: row.NativeID, Request: row.Request, CreatedAt: row.CreatedAt, Answered: row.Answered,
	}, classify(err, "looking for a simulated payment")
}
