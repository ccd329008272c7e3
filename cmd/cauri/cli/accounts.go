package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// account is a number whose currency, operator and country are known.
type account struct {
	msisdn, currency, operator, country string
	name                                string // of the test client; empty for a test number
	note                                string // what its holder does
	approves                            bool   // whether the payer approves and has enough money
	place                               int    // in the order of choice
}

func (a *account) market() string { return a.operator + "/" + a.country }

// accounts returns the accounts of the test clients, then those of the test numbers, as the API lists them.
func (o *order) accounts(ctx context.Context, api *sandboxapi.Client) ([]account, error) {
	payers, err := api.Payers(ctx, nil, listed)
	if err != nil {
		return nil, err
	}
	numbers, err := api.Numbers(ctx)
	if err != nil {
		return nil, err
	}
	place := func(operator, country string) int {
		at := slices.Index(numbers.Environments, wire.Market{Operator: operator, Country: country})
		if at < 0 { // it is disabled
			return len(numbers.Environments)
		}
		return at
	}
	var all []account
	for i := range payers {
		one := &payers[i]
		approves := one.State == wire.StateActive && one.Behavior == string(payments.Approve) && one.Balance >= o.amount
		all = append(all, account{one.MSISDN, one.Currency, one.Operator, one.Country, one.Name, payerNote(one), approves,
			place(one.Operator, one.Country)})
	}
	numbersBehind := len(numbers.Environments) + 1
	for i := range numbers.Data {
		one := &numbers.Data[i]
		approves := one.CollectionOutcome == string(payments.Success)
		all = append(all, account{one.MSISDN, one.Currency, one.Operator, one.Country, "", one.Description, approves,
			numbersBehind + place(one.Operator, one.Country)})
	}
	return all, nil
}

// complete sets the missing reference, and the missing fields that follow from the number. Without a number, it chooses
// one.
func (o *order) complete(ctx context.Context, api *sandboxapi.Client) error {
	o.reference = cmp.Or(o.reference, newReference())
	if o.msisdn != "" && o.currency != "" && o.operator != "" && o.country != "" {
		return nil
	}
	all, err := o.accounts(ctx, api)
	if err != nil {
		return err
	}
	if o.msisdn == "" {
		return o.choose(all)
	}
	if i := slices.IndexFunc(all, func(one account) bool { return one.msisdn == o.msisdn }); i >= 0 {
		o.currency = cmp.Or(o.currency, all[i].currency)
		o.operator, o.country = cmp.Or(o.operator, all[i].operator), cmp.Or(o.country, all[i].country)
		return nil
	}
	if w := operators.CheckLength(knownOf(all), o.msisdn); w != nil {
		return usage(fmt.Errorf("--msisdn=%s: %s", o.msisdn, w))
	}
	return usage(fmt.Errorf("the number %s is neither a test client nor a test number of the sandbox: "+
		"pass --currency, --operator and --country too%s", o.msisdn, marketLike(o.msisdn, all)))
}

// knownOf returns what a sandbox with these accounts knows.
func knownOf(all []account) *payments.Known {
	return payments.KnownWith(func(o payments.Operator, c payments.Country) bool {
		return slices.ContainsFunc(all, func(a account) bool { return a.operator == string(o) && a.country == string(c) })
	})
}

// marketLike returns the flags of the market that a number probably has, else of the first account, as the end of a
// sentence.
func marketLike(msisdn string, all []account) string {
	markets := knownOf(all)
	operator, country, found := operators.Detect(markets, msisdn)
	if !found && country != "" {
		operator = markets.Operators()[slices.IndexFunc(markets.Operators(), func(o payments.Operator) bool { return markets.Has(o, country) })]
	}
	currency, known := country.Currency()
	if !known && len(all) > 0 {
		operator, country, currency = payments.Operator(all[0].operator), payments.Country(all[0].country), payments.Currency(all[0].currency)
	}
	if country == "" {
		return ""
	}
	return fmt.Sprintf(", such as --currency=%s --operator=%s --country=%s", currency, operator, country)
}

// chooses reports whether the flags choose among the accounts.
func (o *order) chooses() bool { return o.name+o.currency+o.operator+o.country != "" }

// choose takes the first account that approves and fits the flags, else the first that fits them: test clients before test
// numbers, and of each kind those of the sandbox's first environment. Without flags, only one that approves is taken.
func (o *order) choose(all []account) error {
	var fit []account
	for _, one := range all {
		if o.fits(&one) {
			fit = append(fit, one)
		}
	}
	slices.SortStableFunc(fit, func(a, b account) int { return cmp.Compare(a.place, b.place) })
	i := slices.IndexFunc(fit, func(one account) bool { return one.approves })
	switch {
	case i < 0 && !o.chooses():
		return refusedError{errors.New("no test client can pay (state Active, behavior Approve, enough balance) and there are no test numbers: " +
			"apply a TestClient, or pass --msisdn, --currency, --operator and --country")}
	case len(fit) == 0:
		return usage(fmt.Errorf("no test client and no test number fits %s. %s", o.asked(), thereAre(all)))
	}
	one := fit[max(0, i)]
	o.msisdn, o.currency, o.operator, o.country = one.msisdn, one.currency, one.operator, one.country
	return nil
}

func (o *order) fits(one *account) bool {
	return (o.currency == "" || string(payments.CanonicalCurrency(o.currency)) == one.currency) &&
		(o.operator == "" || strings.EqualFold(o.operator, one.operator)) &&
		(o.country == "" || strings.EqualFold(o.country, one.country)) &&
		(o.name == "" || one.name != "" && strings.Contains(folded(one.name), folded(o.name)))
}

// asked returns the flags that choose.
func (o *order) asked() string {
	var all []string
	for _, flag := range [][2]string{{"name", o.name}, {"country", o.country}, {"operator", o.operator}, {"currency", o.currency}} {
		if flag[1] != "" {
			all = append(all, "--"+flag[0]+"="+flag[1])
		}
	}
	return strings.Join(all, " ")
}

// folded returns a name for comparison: a name in a resource has neither capitals nor accents nor spaces.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == '-' || r == '_':
			return ' '
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(name))
}

// thereAre returns a text that lists the test clients, and the markets of the test numbers.
func thereAre(all []account) string {
	const most = 10
	var lines, markets []string
	more := 0
	for i := range all {
		one := &all[i]
		switch {
		case one.name == "":
			if !slices.Contains(markets, one.market()) {
				markets = append(markets, one.market())
			}
		case len(lines) == most:
			more++
		default:
			lines = append(lines, Printable(one.msisdn+"  "+one.note))
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more test clients: `cauri payers` lists them", more))
	}
	if len(markets) > 0 {
		lines = append(lines, "test numbers of "+strings.Join(markets, ", ")+": `cauri numbers` lists them")
	}
	if len(lines) == 0 {
		return "There is none at all: apply a TestClient, or pass --msisdn, --currency, --operator and --country"
	}
	return "There are:\n  " + strings.Join(lines, "\n  ")
}
