package ledger

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// The circuit breaker of an endpoint opens after BreakerFailures failures in a row, over at least BreakerAfter. An
// endpoint with an open circuit breaker gets one event per ProbeInterval, until it acknowledges one.
const (
	BreakerFailures = 20
	BreakerAfter    = 5 * time.Minute
	ProbeInterval   = time.Minute
)

// AttemptResult is the result of one delivery attempt.
type AttemptResult struct {
	StartedAt      time.Time // sandbox time
	Duration       time.Duration
	ResponseStatus int    // 0: no answer came
	ResponseBody   []byte // the beginning of the body
	Error          string // empty: acknowledged

	Signed Signature
	Copies []AttemptCopy // of the copies that a fault sent at the same moment, in the order in which they ended

	State      EventState    // the state of the event after the attempt
	RetryAfter time.Duration // until the next attempt, for EventQueued
}

// CopyBody is how many bytes of the answer to a copy are kept.
const CopyBody = 1 << 10

// AttemptCopy is the result of one of the copies of an event, or a callback, that were sent at the same moment.
type AttemptCopy struct {
	DurationMs     int64  `json:"durationMs"`
	ResponseStatus int    `json:"responseStatus,omitempty"` // 0: no answer came
	ResponseBody   []byte `json:"responseBody,omitempty"`   // the first [CopyBody] bytes
	Error          string `json:"error,omitempty"`          // empty: acknowledged
}

// storedCopies returns the copies as they are stored; nil for none.
func storedCopies(copies []AttemptCopy) json.RawMessage {
	if len(copies) == 0 {
		return nil
	}
	stored, err := json.Marshal(copies)
	if err != nil {
		panic(err) // texts and numbers
	}
	return stored
}

// Signature says how an attempt was signed: the values of its headers, and with which secrets.
type Signature struct {
	At        time.Time // of webhook-timestamp
	Signature string    // X-Service-Signature; empty: nothing was signed
	Previous  string    // X-Service-Signature-Previous; empty: there is no previous secret
	Standard  string    // webhook-signature
	Secrets   []string  // fingerprints of the secrets that signed, in the order of the signatures in Standard
}

// FinishedAttempt is the result of an attempt to send an event.
type FinishedAttempt struct {
	Event *LeasedEvent
	AttemptResult
}

// FinishAttempts records attempts, ends their leases, and updates the health of their endpoints, all in one database
// transaction. The parameter finished is in the order in which the attempts ended. leaseHeld[i] is false if the lease
// of finished[i] had expired, because another worker has the event, or because this call is a repetition.
// FinishAttempts writes nothing for such an attempt.
func (s *Deliveries) FinishAttempts(ctx context.Context, finished []FinishedAttempt) (leaseHeld []bool, err error) {
	params := sqlc.FinishAttemptsParams{
		BreakerFailures: BreakerFailures, BreakerMs: postgres.Milliseconds(BreakerAfter), ProbeMs: postgres.Milliseconds(ProbeInterval),
	}
	for i := range finished {
		addAttempt(&params, i+1, &finished[i])
	}
	ordinals, err := s.finishAttempts(ctx, finished, params)
	if err != nil {
		return nil, postgres.Classify(err, "writing down delivery attempts")
	}
	leaseHeld = make([]bool, len(finished))
	for _, ordinal := range ordinals {
		leaseHeld[ordinal-1] = true
		s.core.Sandboxes.NoteActivity(finished[ordinal-1].Event.Tenant)
	}
	return leaseHeld, nil
}

// finishAttempts runs the statement FinishAttempts. If faults may apply to an attempt, it also calls noteFaults in the
// same database transaction. The result ordinals has the positions in finished, counted from 1, of the attempts whose
// lease was held.
func (s *Deliveries) finishAttempts(
	ctx context.Context, finished []FinishedAttempt, params sqlc.FinishAttemptsParams,
) (ordinals []int32, err error) {
	if !slices.ContainsFunc(finished, func(f FinishedAttempt) bool { return f.Event.Fault != nil || f.Event.OutOfOrder }) {
		return s.core.Polling().FinishAttempts(ctx, params)
	}
	err = s.core.InTx(ctx, func(q *sqlc.Queries) (err error) {
		if ordinals, err = q.FinishAttempts(ctx, params); err != nil {
			return err
		}
		return noteFaults(ctx, q, finished, ordinals)
	})
	return ordinals, err
}

func addAttempt(p *sqlc.FinishAttemptsParams, ordinal int, f *FinishedAttempt) {
	p.Ordinals = append(p.Ordinals, int32(ordinal))
	p.Tenants, p.Ids, p.Fences = append(p.Tenants, f.Event.Tenant), append(p.Ids, postgres.UUID(f.Event.ID)), append(p.Fences, f.Event.Fence)
	p.Urls = append(p.Urls, f.Event.URL)
	p.States, p.RetryAfterMs = append(p.States, string(f.State)), append(p.RetryAfterMs, postgres.Milliseconds(f.RetryAfter))
	p.Probes = append(p.Probes, f.Event.Probe && f.State == EventQueued)
	p.StartedAt, p.RealStartedAt = append(p.StartedAt, f.StartedAt), append(p.RealStartedAt, f.Event.TakenAt)
	p.DurationMs = append(p.DurationMs, int32(f.Duration.Milliseconds()))
	p.ResponseStatuses = append(p.ResponseStatuses, int32(f.ResponseStatus))
	p.ResponseBodies = append(p.ResponseBodies, f.ResponseBody)
	s := &f.Signed
	p.SignedAt, p.SignedWith = append(p.SignedAt, s.At), append(p.SignedWith, strings.Join(s.Secrets, " "))
	p.Signatures, p.PreviousSignatures = append(p.Signatures, s.Signature), append(p.PreviousSignatures, s.Previous)
	p.StandardSignatures = append(p.StandardSignatures, s.Standard)
	p.Errors, p.Faults = append(p.Errors, postgres.Text(f.Error)), append(p.Faults, faultName(f.Event.Fault))
}
