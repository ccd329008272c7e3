package service

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
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
	return s.poll(ctx, sandbox, s.payerWait, func(ctx context.Context) (bool, error) {
		t, err := s.ledger.GetTransaction(ctx, sandbox.Tenant, id)
		return err == nil && t.Status.Terminal(), err
	})
}

// AwaitReply waits for the only attempt to send a callback, and returns it. It returns nil if no attempt has ended
// within limit, in real time. It holds no database connection between polls. It returns [postgres.ErrOverloaded] if it
// stops before limit, because too many requests wait, ctx ends, or the process is told to stop.
func (s *Service) AwaitReply(
	ctx context.Context, sandbox *sandboxes.Sandbox, id payments.ID, limit time.Duration,
) (reply *ledger.AttemptRecord, err error) {
	release, mayWait := s.waiting.Acquire(sandbox.OrganizationID)
	defer release()
	until := s.now().Add(limit)
	replied := mayWait && s.poll(ctx, sandbox, limit, func(ctx context.Context) (bool, error) {
		reply, err = s.ledger.LastCallbackAttempt(ctx, sandbox.Tenant, id)
		return reply != nil, err
	})
	if !replied && s.now().Before(until) && err == nil {
		err = postgres.ErrOverloaded
	}
	return reply, err
}

// poll calls look until it returns true, and reports whether it did so within limit. The pause before the first call is
// 50 ms. Later pauses are longer. An error of look ends poll early, except [postgres.ErrUnavailable].
func (s *Service) poll(
	ctx context.Context, sandbox *sandboxes.Sandbox, limit time.Duration, look func(context.Context) (bool, error),
) bool {
	until := s.now().Add(limit)
	for pause := firstEventPause; s.pause(ctx, min(pause, until.Sub(s.now()))); {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
		found, err := look(bounded)
		cancel()
		switch {
		case found:
			return true
		case err != nil && !errors.Is(err, postgres.ErrUnavailable), !s.now().Before(until):
			return false
		}
		pause = min(2*pause, max(lastEventPause, lookPause(s.waiting.Count(sandbox.OrganizationID))))
	}
	return false
}
