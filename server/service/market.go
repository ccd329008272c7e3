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

// marketOf returns the operator and country of an order: from its fields, else from the registered SIM, else from the
// number (see detect). If mayPresume is set and the number determines the market, marketOf does not read the SIM, and
// returns presumed=true. The statement that records the collection then compares the market with the registry.
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
	return market, false, undetected(sandbox, market, o.MSISDN)
}

// detect completes the market of a number without a SIM from the test number, else from the number's prefix. It keeps
// the values that the request has. An undetermined operator or country stays empty.
func detect(sandbox *sandboxes.Sandbox, market sandboxes.Market, msisdn string) sandboxes.Market {
	var operator payments.Operator
	var country payments.Country
	if number, ok := findTestNumber(sandbox, msisdn); ok {
		operator, country = number.Operator, number.Country
	} else {
		operator, country, _ = operators.Detect(sandbox.Known, msisdn)
	}
	return sandboxes.Market{Operator: cmp.Or(market.Operator, operator), Country: cmp.Or(market.Country, country)}
}

// undetected returns [ErrUndetected] if the operator or the country of the market of a number is missing; otherwise nil.
func undetected(sandbox *sandboxes.Sandbox, market sandboxes.Market, msisdn string) error {
	if market.Operator != "" && market.Country != "" {
		return nil
	}
	return ErrUndetected{
		Operator: market.Operator == "", Country: market.Country == "", In: market.Country,
		Length: operators.CheckLength(sandbox.Known, msisdn), Known: sandbox.Known,
	}
}

// environmentFor returns the environment for an order. It returns [ErrNoStore], [ErrNoEnvironment] or
// [ErrWrongCurrency].
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

// storeOf returns the store of an order.
func storeOf(sandbox *sandboxes.Sandbox, o *payments.Order) string {
	return cmp.Or(o.Store, sandbox.FirstStore)
}

// enabledMarkets returns the markets of the enabled environments of a sandbox, sorted.
func enabledMarkets(sandbox *sandboxes.Sandbox) (enabled []sandboxes.Market) {
	for market, environment := range sandbox.Environments {
		if environment.Enabled {
			enabled = append(enabled, market)
		}
	}
	slices.SortFunc(enabled, func(a, b sandboxes.Market) int {
		return cmp.Or(cmp.Compare(a.Operator, b.Operator), cmp.Compare(a.Country, b.Country))
	})
	return enabled
}
