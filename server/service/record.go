package service

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/postgres"
)

// record records a transaction with the function try. For a repeated request, it returns the transaction of the first
// request.
func (s *Service) record(ctx context.Context, who *Caller, asked *intent, try attempt) (Recorded, error) {
	ctx, cancel := untilRecorded(ctx)
	defer cancel()
	recorded, err := s.recordOnce(ctx, who, asked, try)
	switch {
	case err != nil:
		err = ErrUnfinished{err, asked.Reference}
	case recorded.Replayed:
		err = s.noteFaultOfReplay(ctx, who, recorded.Transaction)
	default:
		s.metrics.Recorded(string(asked.kind), string(recorded.Transaction.Status))
		recorded.BeforeAnswer = s.beforeAnswer(ctx, who.Sandbox, asked, recorded.Transaction)
		recorded.Hint = s.hintOf(ctx, who.Sandbox, asked, recorded.Transaction)
	}
	return recorded, err
}

// recordOnce repeats tryOrFind as long as it fails because of an outdated configuration, at most maxTries times.
func (s *Service) recordOnce(ctx context.Context, who *Caller, asked *intent, try attempt) (recorded Recorded, err error) {
	for again, n := true, 0; again && n < maxTries; n++ {
		if recorded, err = s.tryOrFind(ctx, who, asked, try); err == nil {
			break
		}
		again, err = s.isOutdated(ctx, who, err)
	}
	return recorded, err
}

// tryOrFind tries to record a transaction. If the try is refused, it looks for the transaction of an earlier, identical
// request.
func (s *Service) tryOrFind(ctx context.Context, who *Caller, asked *intent, try attempt) (Recorded, error) {
	recorded, err := try(ctx, who, asked)
	if err == nil || isFinal(err) {
		return recorded, err
	}
	return s.findReplay(ctx, who.Sandbox.Tenant, asked, err)
}

// isOutdated reports whether a try failed because of an outdated configuration. It also refreshes the caller's
// configuration. The returned error is the result of the request if no further try follows.
func (s *Service) isOutdated(ctx context.Context, who *Caller, failure error) (bool, error) {
	if isFinal(failure) {
		return false, failure
	}
	changed, err := s.renew(ctx, who)
	if err != nil {
		return false, err
	}
	return changed || errors.Is(failure, postgres.ErrConfigChanged), failure
}

// isFinal reports whether a try failed for a reason that is independent of the configuration.
func isFinal(err error) bool {
	return errors.Is(err, postgres.ErrUnavailable) || errors.As(err, new(ErrFault))
}
