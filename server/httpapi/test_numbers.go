package httpapi

import (
	"cmp"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func (s *Server) listTestNumbers(_ http.ResponseWriter, r *http.Request) (answer, error) {
	sandbox := sessionOf(r).sandbox
	list := wire.TestNumberList{Data: []wire.TestNumber{}}
	for _, country := range payments.Countries {
		for _, operator := range payments.Operators {
			if !hasTestNumbers(sandbox, sandboxes.Market{Operator: operator, Country: country}) {
				continue
			}
			for _, n := range operators.TestNumbersOf(operator, country) {
				list.Data = append(list.Data, wire.TestNumberOf(n))
			}
		}
	}
	return answer{status: http.StatusOK, body: list}, nil
}

func hasTestNumbers(sandbox *sandboxes.Sandbox, market sandboxes.Market) bool {
	return sandbox.TestNumbers == payments.StandardTestNumbers && sandbox.Environments[market].Enabled
}

// findTestNumber finds the test number that an MSISDN is in a sandbox.
func findTestNumber(sandbox *sandboxes.Sandbox, msisdn string) (number operators.TestNumber, ok bool) {
	if sandbox.TestNumbers != payments.StandardTestNumbers {
		return number, false
	}
	number, ok = operators.FindTestNumber(msisdn)
	return number, ok && hasTestNumbers(sandbox, sandboxes.Market{Operator: number.Operator, Country: number.Country})
}

// testNumberIn is how an MSISDN behaves in a market if it is a test number of the sandbox; else nil.
func testNumberIn(sandbox *sandboxes.Sandbox, market sandboxes.Market, msisdn string) *payments.TestNumber {
	number, ok := findTestNumber(sandbox, msisdn)
	switch {
	case !ok:
		return nil
	case number.Operator != market.Operator || number.Country != market.Country:
		return payments.TestNumberElsewhere
	}
	return &number.TestNumber
}

// detect finds the operator and country of a number that the registry does not have: of a test number, else by the number's prefix.
// Either may be empty. A request's own values come first.
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
