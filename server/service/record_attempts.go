package service

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/postgres"
)

// record records a transaction with the function try, after the faults that apply to the request. For a repeated request,
// it returns the transaction of the first request. It tries again as long as the configuration is outdated, at most
// maxTries times.
func (s *Service) record(ctx context.Context, who *Caller, r *recording, describe requestOf, try attempt) (recorded Recorded, err error) {
	ctx, cancel := untilRecorded(ctx)
	defer cancel()
	for again, n := true, 0; again && n < maxTries; n++ {
		if err = s.applyFaultTo(ctx, who, r, describe); err == nil {
			recorded, err = try(ctx, who, r)
		}
		if err != nil && !isFinal(err) {
			recorded, err = s.findReplay(ctx, who.Sandbox.Tenant, r, err)
		}
		if err == nil {
			break
		}
		again, err = s.isOutdated(ctx, who, err)
	}
	switch {
	case err != nil:
		err = ErrUnfinished{err, r.Reference}
	case recorded.Replayed:
		err = s.noteFaultOfReplay(ctx, who, recorded.Transaction)
	default:
		s.metrics.Recorded(string(r.kind), string(recorded.Transaction.Status))
		recorded.BeforeAnswer = s.beforeAnswer(ctx, who.Sandbox, r, recorded.Transaction)
		recorded.Hint = s.hintOf(ctx, who.Sandbox, r, recorded.Transaction)
	}
	return recorded, err
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
