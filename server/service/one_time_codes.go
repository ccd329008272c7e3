package service

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// TestCode is the one-time code of test numbers, and of numbers without a SIM that may pay.
const TestCode = "123456"

// OneTimeCode returns the code with which a payer confirms an order on an operator's page. It returns
// [ledger.ErrNotFound] for a number that has none: it has no SIM of the market, and may not pay in the market. The zero
// market is that of the SIM, else of the number.
func (s *Service) OneTimeCode(
	ctx context.Context, sandbox *sandboxes.Sandbox, msisdn string, market sandboxes.Market,
) (string, error) {
	client, err := s.ledger.FindTestClient(ctx, sandbox.Tenant, msisdn)
	switch {
	case err == nil && (market == sandboxes.Market{} || client.Of(market.Operator, market.Country)):
		return client.Code, nil
	case err != nil && !errors.Is(err, ledger.ErrNotFound):
		return "", err
	}
	if _, isTestNumber := findTestNumber(sandbox, msisdn); isTestNumber {
		return TestCode, nil
	}
	if e := sandbox.Environments[detect(sandbox, market, msisdn)]; e.Enabled && e.UnknownPolicy == payments.Passthrough {
		return TestCode, nil
	}
	return "", ledger.ErrNotFound
}

// AnswerAtOnce gives a new collection the answer of a payer who has confirmed it before it was recorded. The behavior of
// the SIM decides, and a payer who answers by hand has approved. A collection stays pending if its payer ignores it, or
// has no SIM: then a worker settles or forwards it.
func (s *Service) AnswerAtOnce(ctx context.Context, who *Caller, t *payments.Transaction) error {
	if t.Status.Terminal() {
		return nil
	}
	sim, err := s.ledger.FindSIM(ctx, who.Sandbox.Tenant, t.MSISDN)
	if err != nil || sim == nil || sim.Behavior == payments.Ignore {
		return err
	}
	answer := payments.AnswerApprove
	if sim.Behavior != payments.Manual {
		answer = payments.Answer(sim.Behavior)
	}
	_, _, err = s.AnswerPrompt(ctx, who, t.MSISDN, t.ID, answer)
	if errors.Is(err, ledger.ErrNotFound) || errors.As(err, new(*ledger.ErrPromptClosed)) {
		err = nil // a worker has it, or was faster
	}
	return err
}
