package advice

import (
	"strings"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
)

// Outcome is a transaction that ended without success.
type Outcome struct {
	Status   payments.Status
	Type     payments.Type
	Scenario string // that the request asked for; empty: none
	Amount   string // what the payer lacks, or the float, as money
	Limit    string // of the operator for one payment, as money; empty: it is not known, or the amount is not above it
	Of       string // operator and country of the test client with the number, if they are others; empty: there is none
	Length   string // what is wrong with the length of the number, as a sentence; empty: nothing
}

// OutcomeCode returns the code of the cause of a status.
func OutcomeCode(status payments.Status) Code {
	return Code("payment." + strings.ToLower(string(status)))
}

// OfOutcome returns why a transaction ended without success. The sentence has its full stop.
func OfOutcome(o *Outcome) Advice {
	if o.Scenario != "" {
		a := Of(Scenario, o.Scenario, string(o.Status))
		a.What = english.Say("The scenario %s of the request asked for this.", o.Scenario)
		return a
	}
	return Advice{
		Code: OutcomeCode(o.Status), Title: english.Say(english.Text(o.Status)), What: o.why(), Do: english.Say(english.Text(o.do())),
	}
}

func (o *Outcome) why() english.Phrase {
	switch o.Status {
	case payments.PINInvalid:
		return english.Say("The PIN was wrong.")
	case payments.InsufficientFunds:
		if o.Type == payments.Collection {
			return english.Say("The payer's balance is below %s.", o.Amount)
		}
		return english.Say("The merchant's float is below %s.", o.Amount)
	case payments.Timeout:
		return english.Say("Nobody answered in time.")
	case payments.AccountBlocked:
		return english.Say("The account is blocked.")
	case payments.UserCancelled:
		return english.Say("The payer canceled on the phone.")
	case payments.UnknownMSISDN:
		return o.unknown()
	case payments.LimitExceeded:
		if o.Limit != "" {
			return english.Say("The operator takes %s at most.", o.Limit)
		}
		return english.Say("The amount is outside the limits of the operator or of the number, or a balance would be too large.")
	case payments.ServiceUnavailable:
		return english.Say("The operator did not work.")
	}
	return english.Say("The operator has this reference already.")
}

// unknown says why the operator does not know the number.
func (o *Outcome) unknown() english.Phrase {
	switch {
	case o.Of != "":
		return english.Say("The operator does not know this number: its test client is of %s.", o.Of)
	case o.Length != "":
		return english.Say("%s %s", english.Say("The operator does not know this number."), o.Length)
	}
	return english.Say("The operator does not know this number: no test client of the sandbox has it.")
}

// do says what helps: for the tester, or in the shop.
func (o *Outcome) do() string {
	switch o.Status {
	case payments.PINInvalid:
		return "The shop tells the payer, and offers to pay again with a new reference."
	case payments.InsufficientFunds:
		if o.Type == payments.Collection {
			return "Give the test client a higher balance, or another payer. The shop tells the payer, and offers to pay again with a new reference."
		}
		return "Collect before you pay out, or set a higher spec.openingFloat. The shop repeats the payout later, with a new reference."
	case payments.Timeout:
		return "The shop takes TIMEOUT as not paid, releases the order, and offers to pay again with a new reference."
	case payments.AccountBlocked:
		return "Set the state of the test client to Active, or take another payer."
	case payments.UserCancelled:
		return "The shop takes it as not paid, and offers to pay again with a new reference."
	case payments.UnknownMSISDN:
		return "Add a test client with this number, or take a number that the sandbox knows. Check the form of the number: +, code of the country, all digits."
	case payments.LimitExceeded:
		return "Send an amount within the limits of the operator and of the number, or give the number a smaller balance."
	case payments.ServiceUnavailable:
		return "The shop tries again later, with a new reference."
	}
	return "The shop makes a new reference for each new payment."
}
