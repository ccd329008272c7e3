package service

import (
	"cmp"
	"context"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// AddTestClient adds a test client. The defaults are those of the TestClient resource: the number determines a missing
// operator or country, and the payer approves payments. AddTestClient returns the errors of
// [ledger.Ledger.AddTestClient], [ErrDenied], [ErrUndetected], [ErrFormerNumber] and
// [ErrOperatorElsewhere].
func (s *Service) AddTestClient(ctx context.Context, who *Caller, c ledger.TestClient) (ledger.TestClient, error) {
	err := completeTestClient(who.Sandbox, &c)
	if err == nil {
		c.ID, err = payments.NewID(s.now(), s.random)
	}
	if err == nil {
		err = s.changeTestClients(ctx, who, func(ctx context.Context, sandbox *sandboxes.Sandbox) error {
			return s.ledger.AddTestClient(ctx, sandbox, c)
		})
	}
	return c, err
}

// completeTestClient sets missing fields of a test client from the client's number.
func completeTestClient(sandbox *sandboxes.Sandbox, c *ledger.TestClient) error {
	if w := operators.CheckLength(sandbox.Known, c.MSISDN); w != nil && w.Present != "" {
		return ErrFormerNumber{w}
	}
	byPrefix, byCallingCode, _ := operators.Detect(sandbox.Known, c.MSISDN)
	c.Operator, c.Country = cmp.Or(c.Operator, byPrefix), cmp.Or(c.Country, byCallingCode)
	if err := undetected(sandbox, sandboxes.Market{Operator: c.Operator, Country: c.Country}, c.MSISDN); err != nil {
		return err
	}
	if !sandbox.Known.Has(c.Operator, c.Country) {
		return ErrOperatorElsewhere{c.Operator, sandbox.Known.CountriesOf(c.Operator)}
	}
	c.Source, c.Behavior = sandboxes.SourceAPI, cmp.Or(c.Behavior, payments.Approve)
	return nil
}

// ChangeTestClient calls the function change on a test client and stores the result. It returns the error of this
// function, [ledger.ErrNotFound], the errors of [ledger.Ledger.ChangeTestClient], and [ErrDenied].
func (s *Service) ChangeTestClient(
	ctx context.Context, who *Caller, msisdn string, change func(*ledger.TestClient) error,
) (changed ledger.TestClient, err error) {
	err = s.changeTestClients(ctx, who, func(ctx context.Context, sandbox *sandboxes.Sandbox) (err error) {
		changed, err = s.ledger.ChangeTestClient(ctx, sandbox, msisdn, change)
		return err
	})
	return changed, err
}

// RemoveTestClient removes a test client. It returns [ledger.ErrNotFound], the errors of
// [ledger.Ledger.RemoveTestClient], and [ErrDenied].
func (s *Service) RemoveTestClient(ctx context.Context, who *Caller, msisdn string) error {
	return s.changeTestClients(ctx, who, func(ctx context.Context, sandbox *sandboxes.Sandbox) error {
		return s.ledger.RemoveTestClient(ctx, sandbox, msisdn)
	})
}

// changeTestClients applies faults and then calls f. It returns [ErrDenied] if the sandbox's key may not change test
// clients.
func (s *Service) changeTestClients(
	ctx context.Context, who *Caller, f func(context.Context, *sandboxes.Sandbox) error,
) error {
	return s.Renewing(ctx, who, func(ctx context.Context) error {
		if err := s.ApplyFault(ctx, who); err != nil {
			return err
		}
		return s.permitted(ctx, who, changeTestClients, f)
	})
}
