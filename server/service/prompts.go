package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// AnswerPrompt answers the prompt of a pending payment as its payer. It returns the errors of
// [ledger.Ledger.AnswerPrompt]. The result repeated is true if the same answer was given before.
func (s *Service) AnswerPrompt(
	ctx context.Context, who *Caller, msisdn string, id payments.ID, answer payments.Answer,
) (t *payments.Transaction, repeated bool, err error) {
	ctx, cancel := untilRecorded(ctx)
	defer cancel()
	err = s.Renewing(ctx, who, func(ctx context.Context) (err error) {
		t, repeated, err = s.ledger.AnswerPrompt(ctx, who.Sandbox.Tenant, msisdn, id, answer)
		return err
	})
	return t, repeated, err
}

// SetManual lets the holder of a test client answer by hand for [ledger.ManualFor], or ends that. It returns the errors of
// [ledger.Ledger.SetManual].
func (s *Service) SetManual(ctx context.Context, who *Caller, msisdn string, on bool) (c ledger.TestClient, err error) {
	err = s.Renewing(ctx, who, func(ctx context.Context) (err error) {
		c, err = s.ledger.SetManual(ctx, who.Sandbox, msisdn, on)
		return err
	})
	return c, err
}
