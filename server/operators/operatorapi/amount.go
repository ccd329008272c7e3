package operatorapi

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// AmountForm is the form of amounts in the descriptions of the APIs.
const AmountForm = `^[0-9]{1,18}(\.0{1,18})?$`

// number matches an amount. It limits the exponent to two digits too, because WholeAmount computes the value exactly.
var number = regexp.MustCompile(`^[0-9]{1,18}(\.[0-9]{1,18})?([eE]\+?[0-9]{1,2})?$`)

// WholeUnits says what an amount has to be, for [Refusal.Expect].
const WholeUnits = "whole units, from 1 to 1000000000000"

// WholeAmount returns an amount in whole units, from a JSON number or from a JSON string with one. It accepts
// floating-point numbers, which clients send: 5.0 is 5, and Java's 1.0E7 is 10000000. ok is false for anything else,
// such as an amount with decimals.
func WholeAmount(raw json.RawMessage) (amount int64, ok bool) {
	text := strings.Trim(string(raw), `"`)
	if !number.MatchString(text) {
		return 0, false
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok || !exact.IsInt() || !exact.Num().IsInt64() {
		return 0, false
	}
	return exact.Num().Int64(), true
}

// PayableAmount is [WholeAmount] for the amounts that a transaction may have.
func PayableAmount(raw json.RawMessage) (amount int64, ok bool) {
	amount, ok = WholeAmount(raw)
	return amount, ok && amount >= 1 && amount <= payments.MaxAmount
}
