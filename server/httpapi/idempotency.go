package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// requestHash tells whether two requests are the same: of one type, with the same known fields as they were sent, before
// anything was detected or filled in.
func requestHash(kind payments.Type, body fields) []byte {
	text, err := json.Marshal(body) // of a map: its keys are sorted
	if err != nil {
		panic("encoding a decoded request: " + err.Error()) // it came from JSON
	}
	hash := sha256.Sum256(append([]byte(kind+"\n"), text...))
	return hash[:]
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
	if taken.Transaction.Type != kind || !bytes.Equal(taken.RequestHash, hash) {
		return nil, duplicateReference(reference)
	}
	return taken.Transaction, nil
}

// takenReference returns who has the reference of a refused request, or the refusal if nobody has.
func (s *Server) takenReference(ctx context.Context, tenant int64, reference string, refusal error) (*store.ErrReferenceTaken, error) {
	var taken *store.ErrReferenceTaken
	var refused *Error
	switch {
	case errors.As(refusal, &taken):
		return taken, nil
	case !errors.As(refusal, &refused):
		return nil, refusal // the store has looked already, or cannot
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
	changed = present.ConfigVersion != who.sandbox.ConfigVersion
	who.sandbox = present
	return changed, nil
}
