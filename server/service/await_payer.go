package service

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// payerWait is the default of [Options.PayerWait]. It is less than the minute after which clients and proxies give up.
const payerWait = 50 * time.Second

// AwaitPayer waits until a pending transaction has its outcome, and reports whether it has one. It holds no database
// connection between polls. If many requests of a sandbox wait, they poll less often. AwaitPayer returns false when
// [Options.PayerWait] is over, ctx ends, the process is told to stop, or the sandbox is reset.
func (s *Service) AwaitPayer(ctx context.Context, sandbox *sandboxes.Sandbox, id payments.ID) bool {
	until := s.now().Add(s.payerWait)
	for pause := firstEventPause; s.pause(ctx, min(pause, until.Sub(s.now()))); {
		hasOutcome, err := s.hasOutcome(ctx, sandbox.Tenant, id)
		switch {
		case hasOutcome:
			return true
		case err != nil && !errors.Is(err, postgres.ErrUnavailable), !s.now().Before(until):
			return false
		}
		pause = min(2*pause, max(lastEventPause, lookPause(s.waiting.Count(sandbox.OrganizationID))))
	}
	return false
}

func (s *Service) hasOutcome(ctx context.Context, tenant int64, id payments.ID) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	t, err := s.ledger.GetTransaction(ctx, tenant, id)
	return err == nil && t.Status.Terminal(), err
}
