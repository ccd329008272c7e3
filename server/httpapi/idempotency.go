package httpapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// intent is a request that is to be recorded once.
type intent struct {
	kind      payments.Type
	reference string // empty: none was sent, and none is generated yet
	generated bool
	hash      []byte
	hashWith  func(reference string) []byte // the hash of the same request, sent with a reference; see [wire.Decoder.Hash]
}

func newIntent(kind payments.Type, reference string, hashWith func(reference string) []byte) *intent {
	return &intent{kind: kind, reference: reference, hash: hashWith(reference), hashWith: hashWith}
}

// referenceFor is the reference of a request. A request without one gets a generated reference, which all its tries share. From then on
// it counts as sent with this reference, so that a client that learns it can send the request again with it. The unique index finds out
// whether the generated reference is free: see [Server.findReplay].
func (s *Server) referenceFor(asked *intent, origin string, op payments.Operation) (string, error) {
	if asked.reference != "" {
		return asked.reference, nil
	}
	generated, err := payments.NewReference(origin, op, s.now(), s.random)
	if err != nil {
		return "", err
	}
	asked.reference, asked.generated = generated.String(), true
	asked.hash = asked.hashWith(asked.reference)
	return asked.reference, nil
}

// recorded is a transaction that was recorded, or one that was found, with the time at which its answer is due.
type recorded struct {
	transaction *payments.Transaction
	answerAt    time.Time
	event       *awaitedEvent // that is sent before the answer; nil for none
}

// maxTries bounds how often a request is tried again because the configuration changed.
const maxTries = 10

// once records a transaction with try, or finds the one that the same request recorded before. It tries again if the configuration that
// decided or refused the request is not the current one. It does not try again if the database is unavailable.
func (s *Server) once(
	ctx context.Context, who session, asked *intent, try func(context.Context, *sandboxes.Sandbox) (recorded, error),
) (made recorded, replayed bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookingTimeout)
	defer cancel()
	for range maxTries {
		if made, err = try(ctx, who.sandbox); err == nil {
			s.metrics.Recorded(string(asked.kind), string(made.transaction.Status))
			made.event = s.toldFirst(ctx, faults.AtWebhook, who.sandbox, made.transaction)
			return made, false, nil
		}
		if errors.Is(err, postgres.ErrUnavailable) {
			return recorded{}, false, unfinished{err, asked.reference}
		}
		if errors.As(err, new(endedByFault)) {
			return recorded{}, false, err
		}
		var transaction *payments.Transaction
		if transaction, err = s.findReplay(ctx, who.sandbox.Tenant, asked, err); transaction != nil {
			return recorded{transaction: transaction}, true, s.noteReplay(ctx, who, transaction)
		}
		changed, refreshErr := s.refreshSession(ctx, &who)
		if refreshErr != nil {
			return recorded{}, false, refreshErr
		}
		if !changed && !errors.Is(err, postgres.ErrConfigChanged) {
			break
		}
	}
	return recorded{}, false, unfinished{err, asked.reference}
}

// unfinished is an error after which the request has to be repeated with its reference.
type unfinished struct {
	error
	reference string // empty: none was sent, and none generated before it failed
}

func (e unfinished) Unwrap() error { return e.error }

// created answers with a transaction, once its answer is due. A replay is answered at once.
func created(r *http.Request, made recorded, replayed bool) answer {
	view := wire.PaymentOf(made.transaction, sessionOf(r).sandbox.Faults)
	if replayed {
		header := http.Header{"Idempotent-Replayed": {"true"}}
		return answer{status: http.StatusOK, header: header, body: view}
	}
	location := "/v1/payments/" + made.transaction.ID.String()
	return answer{status: http.StatusCreated, location: location, body: view, due: made.answerAt,
		event: made.event}
}

// findReplay finds out whether a refused request repeats one that was recorded. Such a request gets its transaction, whatever the current
// configuration says. findReplay returns the transaction, or the error that the request ends with.
func (s *Server) findReplay(
	ctx context.Context, tenant int64, asked *intent, refusal error,
) (*payments.Transaction, error) {
	taken, err := s.takenReference(ctx, tenant, asked, refusal)
	if err != nil {
		return nil, err
	}
	if asked.generated { // it was taken by chance: another is made
		asked.reference = ""
		return nil, postgres.ErrConfigChanged
	}
	if taken.Transaction.Type != asked.kind || !bytes.Equal(taken.RequestHash, asked.hash) {
		return nil, wire.DuplicateReference(asked.reference)
	}
	return taken.Transaction, nil
}

// takenReference returns the transaction that has the reference of a refused request. If there is none, the error is the refusal.
func (s *Server) takenReference(ctx context.Context, tenant int64, asked *intent, refusal error) (*ledger.ErrReferenceTaken, error) {
	var taken *ledger.ErrReferenceTaken
	var refused *wire.Error
	var quota ledger.ErrQuotaExceeded
	switch {
	case errors.As(refusal, &taken):
		return taken, nil
	case errors.As(refusal, &quota):
		return nil, wire.QuotaExceeded(quota)
	case !errors.As(refusal, &refused) || asked.reference == "" || asked.generated:
		return nil, refusal // the store has looked already, or there is nothing to look for
	}
	transaction, hash, err := s.ledger.FindReference(ctx, tenant, asked.reference)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, refusal
	}
	if err != nil {
		return nil, err
	}
	return &ledger.ErrReferenceTaken{Transaction: transaction, RequestHash: hash}, nil
}

// refreshSession brings a session's configuration up to date and reports whether it changed.
func (s *Server) refreshSession(ctx context.Context, who *session) (changed bool, err error) {
	if err := s.directory.Refresh(ctx); err != nil {
		return false, err
	}
	present, valid := s.directory.ByKey(who.key)
	if !valid {
		return false, wire.Unauthorized()
	}
	if present.Suspended {
		return false, wire.Suspended()
	}
	changed = present.ConfigVersion != who.sandbox.ConfigVersion
	who.sandbox = present
	return changed, nil
}
