package service

import (
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// TestNumbers returns the test numbers of a sandbox, ordered by country and operator.
func TestNumbers(sandbox *sandboxes.Sandbox) (all []operators.TestNumber) {
	for _, country := range payments.Countries {
		for _, operator := range payments.Operators {
			if hasTestNumbers(sandbox, sandboxes.Market{Operator: operator, Country: country}) {
				all = append(all, operators.TestNumbersOf(operator, country)...)
			}
		}
	}
	return all
}

func hasTestNumbers(sandbox *sandboxes.Sandbox, market sandboxes.Market) bool {
	return sandbox.TestNumbers == payments.StandardTestNumbers && sandbox.Environments[market].Enabled
}

// findTestNumber returns the test number of a sandbox that has this MSISDN.
func findTestNumber(sandbox *sandboxes.Sandbox, msisdn string) (number operators.TestNumber, ok bool) {
	if sandbox.TestNumbers != payments.StandardTestNumbers {
		return number, false
	}
	number, ok = operators.FindTestNumber(msisdn)
	return number, ok && hasTestNumbers(sandbox, sandboxes.Market{Operator: number.Operator, Country: number.Country})
}

// TestNumberIn returns the behavior of an MSISDN in a market; nil if the MSISDN is no test number of the sandbox.
func TestNumberIn(sandbox *sandboxes.Sandbox, market sandboxes.Market, msisdn string) *payments.TestNumber {
	number, ok := findTestNumber(sandbox, msisdn)
	switch {
	case !ok:
		return nil
	case number.Operator != market.Operator || number.Country != market.Country:
		return payments.TestNumberElsewhere
	}
	return &number.TestNumber
}

func behaviorOf(n *payments.TestNumber) payments.Behavior {
	if n == nil {
		return ""
	}
	return n.Behavior
}
