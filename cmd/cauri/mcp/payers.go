package mcp

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// payer is a test client or a test number.
type payer struct {
	MSISDN   string `json:"msisdn"`
	Kind     string `json:"kind"` // test_client or test_number
	Name     string `json:"name,omitempty"`
	Operator string `json:"operator"`
	Country  string `json:"country"`
	Currency string `json:"currency"`
	Behavior string `json:"behavior,omitempty"`
	State    string `json:"state,omitempty"`
	Balance  *int64 `json:"balance,omitempty"`
	Prompts  int64  `json:"pendingPrompts,omitempty"`
	// The final status of a payment and of a payout. That of a payment depends on the amount for a test client.
	CollectionOutcome   string `json:"collectionOutcome"`
	DisbursementOutcome string `json:"disbursementOutcome"`
}

// mostClients is the largest number of test clients that are read to choose one.
const mostClients = 500

// payers returns the test clients, then the test numbers.
func (c *call) payers(ctx context.Context) (all []payer, err error) {
	clients, err := c.sandbox.API.Payers(ctx, url.Values{}, mostClients)
	if err != nil {
		return nil, err
	}
	numbers, err := c.sandbox.API.TestNumbers(ctx)
	if err != nil {
		return nil, err
	}
	for i := range clients {
		all = append(all, clientPayer(&clients[i]))
	}
	for _, n := range numbers {
		one := payer{
			MSISDN: n.MSISDN, Kind: "test_number", Operator: n.Operator, Country: n.Country, Currency: n.Currency,
			CollectionOutcome: n.CollectionOutcome, DisbursementOutcome: n.DisbursementOutcome,
		}
		if n.Behavior != nil {
			one.Behavior = *n.Behavior
		}
		all = append(all, one)
	}
	return all, nil
}

func clientPayer(p *wire.TestClient) payer {
	one := payer{
		MSISDN: p.MSISDN, Kind: "test_client", Name: p.Name, Operator: p.Operator, Country: p.Country, Currency: p.Currency,
		Behavior: p.Behavior, State: p.State, Balance: &p.Balance, Prompts: p.PendingPrompts,
	}
	one.CollectionOutcome, one.DisbursementOutcome = outcomeOf(p)
	return one
}

// outcomeOf returns how a payment and a payout of a test client end, if its balance suffices.
func outcomeOf(p *wire.TestClient) (collection, disbursement string) {
	if p.State == wire.StateBlocked {
		return string(payments.AccountBlocked), string(payments.AccountBlocked)
	}
	switch payments.Behavior(p.Behavior) {
	case payments.Approve, payments.Cancel, payments.WrongPIN:
		return string(payments.Answer(p.Behavior).Outcome()), string(payments.Success)
	case payments.Manual:
		return string(payments.Pending), string(payments.Success)
	}
	return string(payments.Timeout), string(payments.Success)
}

// choice selects payers.
type choice struct{ country, operator, currency, outcome string }

func (c *choice) fits(p *payer) bool {
	return fits(c.country, p.Country) && fits(c.operator, p.Operator) && fits(c.outcome, p.CollectionOutcome) &&
		(c.currency == "" || string(payments.CanonicalCurrency(c.currency)) == p.Currency)
}

func fits(asked, found string) bool { return asked == "" || strings.EqualFold(asked, found) }

// chosen returns the payer of a payment: the first that fits and ends as asked, SUCCESS if nothing is asked. One with too
// little money does not fit. It returns a [*failure] that says who there is.
func (c choice) chosen(all []payer, amount int64) (*payer, error) {
	wanted := c
	wanted.outcome = cmp.Or(c.outcome, string(payments.Success))
	short := string(payments.InsufficientFunds)
	for i := range all {
		p := &all[i]
		poor := p.Balance != nil && *p.Balance < amount
		if poor && strings.EqualFold(c.outcome, short) && fits(c.country, p.Country) && fits(c.operator, p.Operator) {
			return p, nil
		}
		if wanted.fits(p) && !poor {
			return p, nil
		}
	}
	return nil, &failure{
		Code: "no_payer", Message: "No test client and no test number fits. There are " + offered(all) + ".",
		Next: []step{
			{Tool: "list_payers", Because: "lists who can pay"},
			{Tool: "save_test_client", Because: "adds a payer: give it a msisdn and a balance"},
		},
	}
}

// offered lists the markets and the outcomes of payers.
func offered(all []payer) string {
	var markets, outcomes []string
	for i := range all {
		if market := all[i].Operator + " in " + all[i].Country; !slices.Contains(markets, market) {
			markets = append(markets, market)
		}
		if !slices.Contains(outcomes, all[i].CollectionOutcome) {
			outcomes = append(outcomes, all[i].CollectionOutcome)
		}
	}
	if len(markets) == 0 {
		return "none: the sandbox has no test clients, and spec.testNumbers is None"
	}
	return "payers of " + strings.Join(markets, ", ") + ", whose payments end " + strings.Join(outcomes, ", ")
}

type listPayersInput struct {
	Country  string `json:"country,omitempty" enum:"$countries"`
	Operator string `json:"operator,omitempty" enum:"$operators"`
	Outcome  string `json:"outcome,omitempty" enum:"$statuses" doc:"Only those whose payments end so."`
	Limit    int    `json:"limit,omitempty" minimum:"1" maximum:"100" doc:"Rows; 20 if left out."`
	Cursor   string `json:"cursor,omitempty" doc:"nextCursor of the page before."`
}

type listPayersOutput struct {
	head
	Payers     []payer `json:"payers"`
	NextCursor *string `json:"nextCursor,omitempty"`
}

var listPayers = define(tool{
	name: "list_payers", title: "Who can pay", reads: true,
	description: "Who can pay here: test clients (with a balance, they answer as their behavior says) and test numbers (a fixed outcome each). " +
		"collectionOutcome is how a payment from the number ends.",
}, func(ctx context.Context, c *call, in *listPayersInput) (*listPayersOutput, error) {
	all, err := c.payers(ctx)
	if err != nil {
		return nil, err
	}
	asked := choice{country: in.Country, operator: in.Operator, outcome: in.Outcome}
	found := slices.DeleteFunc(slices.Clone(all), func(p payer) bool { return !asked.fits(&p) })
	out := &listPayersOutput{Payers: []payer{}}
	out.Payers, out.NextCursor, err = window(found, in.Cursor, in.Limit, func(p *payer) string { return p.MSISDN })
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		out.say("Nobody fits. There are %s.", offered(all))
		out.add(step{Tool: "save_test_client", Because: "adds a payer: give it a msisdn and a balance"})
		return out, nil
	}
	out.say("%s, %d here.", english.Plural(len(found), "payer", "payers"), len(out.Payers))
	out.add(step{Tool: "make_payment", Arguments: arguments("msisdn", out.Payers[0].MSISDN, "amount", 1500), Because: "pays from the first number"})
	return out, nil
})
