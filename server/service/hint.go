package service

import (
	"context"
	"fmt"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// hintOf returns what a person should know about the number of a transaction that was just recorded: why the operator
// does not know it, or that its test client is of another operator or country. It returns "" if there is nothing to
// say, and if the registry cannot be read.
//
// It reads the registry only if the number is unknown, if its prefix is that of another market, or if somebody watches
// the sandbox. So other payments do not wait for this query.
func (s *Service) hintOf(ctx context.Context, sandbox *sandboxes.Sandbox, r *recording, t *payments.Transaction) string {
	market := sandboxes.Market{Operator: t.Operator, Country: t.Country}
	switch {
	case t.Scenario != "" || t.Type == payments.Refund:
		return ""
	case t.Status == payments.UnknownMSISDN:
		return s.WhyUnknown(ctx, sandbox, market, t.MSISDN)
	case r.Call != nil: // the operator knows it
		return ""
	}
	operator, country, detected := operators.Detect(sandbox.Known, t.MSISDN)
	elsewhere := detected && market != sandboxes.Market{Operator: operator, Country: country}
	if !elsewhere && !sandbox.RequestsLogged(s.now()) {
		return ""
	}
	of := s.clientElsewhere(ctx, sandbox, market, t.MSISDN)
	if of == "" {
		return ""
	}
	return fmt.Sprintf("%s. /v1 knows a test client by its number alone, and the own API of %s in %s does not know this one",
		of, market.Operator, market.Country)
}

// WhyUnknown returns why an operator does not know a number, as a sentence in English without its period: its length is
// wrong, or its test client is of another operator or country. It returns "" if neither is the reason, and if the
// registry cannot be read.
func (s *Service) WhyUnknown(ctx context.Context, sandbox *sandboxes.Sandbox, market sandboxes.Market, msisdn string) string {
	if w := operators.CheckLength(sandbox.Known, msisdn); w != nil {
		return w.String()
	}
	return s.clientElsewhere(ctx, sandbox, market, msisdn)
}

// clientElsewhere returns a sentence, without its period, that names the operator and the country of the test client
// with a number. It returns "" if there is no such test client, if it is of this market, or if the registry cannot be
// read.
func (s *Service) clientElsewhere(ctx context.Context, sandbox *sandboxes.Sandbox, market sandboxes.Market, msisdn string) string {
	sim, err := s.ledger.FindSIM(ctx, sandbox.Tenant, msisdn)
	if err != nil || sim == nil || sim.Of(market.Operator, market.Country) {
		return ""
	}
	return fmt.Sprintf("The test client with %s is of %s in %s", msisdn, sim.Operator, sim.Country)
}
