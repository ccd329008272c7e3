package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// requestHash tells whether two requests are the same: of one type, for the same parent if they have one, with the same known
// fields as they were sent, before anything was detected or filled in.
func requestHash(kind payments.Type, body fields, parent ...string) []byte {
	text, err := json.Marshal(body) // of a map: its keys are sorted
	if err != nil {
		panic("encoding a decoded request: " + err.Error()) // it came from JSON
	}
	hash := sha256.Sum256([]byte(string(kind) + "\n" + strings.Join(parent, "") + "\n" + string(text)))
	return hash[:]
}

// recorded is a transaction that was recorded, or one that was found, with the time at which its answer is due.
type recorded struct {
	transaction *payments.Transaction
	answerAt    time.Time
}

// maxTries bounds how often a request is tried anew because the configuration changed under it.
const maxTries = 10

// once records a transaction by try, or finds the one that the same request made before. A try is repeated when the
// configuration that it was decided on, or that refused it, turns out not to be the present one.
func (s *Server) once(
	ctx context.Context, who session, kind payments.Type, reference string, hash []byte, try func(*store.Sandbox) (recorded, error),
) (made recorded, replayed bool, err error) {
	for range maxTries {
		if made, err = try(who.sandbox); err == nil {
			s.metrics.Recorded(string(kind), string(made.transaction.Status))
			return made, false, nil
		}
		var transaction *payments.Transaction
		if transaction, err = s.findReplay(ctx, who.sandbox.Tenant, kind, reference, hash, err); transaction != nil {
			return recorded{transaction: transaction}, true, nil
		}
		changed, refreshErr := s.refreshSession(ctx, &who)
		if refreshErr != nil {
			return recorded{}, false, refreshErr
		}
		if !changed && !errors.Is(err, store.ErrConfigChanged) {
			return recorded{}, false, err
		}
	}
	return recorded{}, false, err
}

// created answers with a transaction, once its answer is due. A replay is answered at once.
func created(made recorded, replayed bool) answer {
	if replayed {
		header := http.Header{"Idempotent-Replayed": {"true"}}
		return answer{status: http.StatusOK, header: header, body: viewOf(made.transaction)}
	}
	location := "/v1/payments/" + made.transaction.ID.String()
	return answer{status: http.StatusCreated, location: location, body: viewOf(made.transaction), due: made.answerAt}
}

// findReplay looks whether a request that was refused is the repetition of one that was not: it is answered then whatever the
// configuration says by now. It returns the transaction, or else the error that the request ends with.
func (s *Server) findReplay(
	ctx context.Context, tenant int64, kind payments.Type, reference string, hash []byte, refusal error,
) (*payments.Transaction, error) {
	taken, err := s.takenReference(ctx, tenant, reference, refusal)
	if err != nil {
		return nil, err
	}
	if reference == "" {
		return nil, store.ErrConfigChanged // a generated reference was taken by chance: another is made
	}
	if taken.Transaction.Type != kind || !bytes.Equal(taken.RequestHash, hash) {
		return nil, duplicateReference(reference)
	}
	return taken.Transaction, nil
}

// takenReference returns who has the reference of a refused request, or the refusal if nobody has.
func (s *Server) takenReference(ctx context.Context, tenant int64, reference string, refusal error) (*store.ErrReferenceTaken, error) {
	var taken *store.ErrReferenceTaken
	var refused *Error
	var quota store.ErrQuotaExceeded
	switch {
	case errors.As(refusal, &taken):
		return taken, nil
	case errors.As(refusal, &quota):
		return nil, quotaExceeded(quota)
	case !errors.As(refusal, &refused) || reference == "":
		return nil, refusal // the store has looked already, or there is nothing to look for
	}
	transaction, hash, err := s.store.FindReference(ctx, tenant, reference)
	if errors.Is(err, store.ErrNotFound) {
		return nil, refusal
	}
	if err != nil {
		return nil, err
	}
	return &store.ErrReferenceTaken{Transaction: transaction, RequestHash: hash}, nil
}

// refreshSession brings a session's configuration up to date and reports whether it changed.
func (s *Server) refreshSession(ctx context.Context, who *session) (changed bool, err error) {
	if err := s.directory.Refresh(ctx); err != nil {
		return false, err
	}
	present, valid := s.directory.ByKey(who.key)
	if !valid {
		return false, unauthorized()
	}
	if present.Suspended {
		return false, suspended()
	}
	changed = present.ConfigVersion != who.sandbox.ConfigVersion
	who.sandbox = present
	return changed, nil
}
