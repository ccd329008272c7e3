package service

import (
	"context"

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
