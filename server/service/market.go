package service

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// marketOf finds the operator and country of an order: from its fields, else from the registered SIM, else from the
// number, see [detect]. If the number determines the market, it may be presumed without a look at the SIM. The
// statement that records the collection then checks that the registry does not say otherwise.
func (s *Service) marketOf(
	ctx context.Context, sandbox *sandboxes.Sandbox, o *payments.Order, mayPresume bool,
) (market sandboxes.Market, presumed bool, err error) {
	market = sandboxes.Market{Operator: o.Operator, Country: o.Country}
	if market.Operator != "" && market.Country != "" {
		return market, false, nil
	}
	market = detect(sandbox, market, o.MSISDN)
	if _, err := environmentFor(sandbox, market, o); mayPresume && err == nil {
		return market, true, nil
	}
	sim, err := s.ledger.FindSIM(ctx, sandbox.Tenant, o.MSISDN)
	if err != nil {
		return market, false, err
	}
	if sim != nil {
		market.Operator = cmp.Or(o.Operator, sim.Operator)
		market.Country = cmp.Or(o.Country, sim.Country)
	}
	return market, false, undetected(market)
}

// detect finds the operator and country of a number that the registry does not have: of a test number, else by the
// number's prefix. Either may be empty. A request's own values come first.
func detect(sandbox *sandboxes.Sandbox, market sandboxes.Market, msisdn string) sandboxes.Market {
	var operator payments.Operator
	var country payments.Country
	if number, ok := findTestNumber(sandbox, msisdn); ok {
		operator, country = number.Operator, number.Country
	} else {
		operator, country, _ = operators.Detect(msisdn)
	}
	return sandboxes.Market{Operator: cmp.Or(market.Operator, operator), Country: cmp.Or(market.Country, country)}
}

// undetected returns [ErrUndetected] for a market of which something is missing.
func undetected(market sandboxes.Market) error {
	if e := (ErrUndetected{market.Operator == "", market.Country == ""}); e.Operator || e.Country {
		return e
	}
	return nil
}

// environmentFor finds the environment that an order is made in, after its store.
func environmentFor(
	sandbox *sandboxes.Sandbox, market sandboxes.Market, o *payments.Order,
) (sandboxes.Environment, error) {
	if store := storeOf(sandbox, o); !sandbox.Stores[store] {
		return sandboxes.Environment{}, ErrNoStore{store, slices.Sorted(maps.Keys(sandbox.Stores))}
	}
	environment, found := sandbox.Environments[market]
	if !found || !environment.Enabled {
		return environment, ErrNoEnvironment{market, enabledMarkets(sandbox)}
	}
	if payments.CanonicalCurrency(o.Currency) != environment.Currency {
		return environment, ErrWrongCurrency{environment.Currency, market.Country}
	}
	return environment, nil
}

// storeOf is the store of an order.
func storeOf(sandbox *sandboxes.Sandbox, o *payments.Order) string {
	return cmp.Or(o.Store, sandbox.FirstStore)
}

// enabledMarkets are the markets of the enabled environments of a sandbox, in any order.
func enabledMarkets(sandbox *sandboxes.Sandbox) (enabled []sandboxes.Market) {
	for market, environment := range sandbox.Environments {
		if environment.Enabled {
			enabled = append(enabled, market)
		}
	}
	return enabled
}
