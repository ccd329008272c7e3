package moov

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// referenceMinute is the layout of the minute in Moov's references, after one digit.
const referenceMinute = "200601021504"

// referenceOf returns Moov's reference of a transaction: 17 digits, a 7 and the day first (ThirdParty). The next four are
// the minute, in which statusAnswer looks for the transaction. Two transactions of a minute may have the same reference.
func referenceOf(t *payments.Transaction) string {
	return fmt.Sprintf("7%s%04d", t.CreatedAt.UTC().Format(referenceMinute), operatorapi.NumberOf(t)%10_000)
}

// minuteIn returns the minute in a reference of Moov, in UTC.
func minuteIn(reference string) (minute time.Time, ok bool) {
	if len(reference) != 1+len(referenceMinute)+4 {
		return time.Time{}, false
	}
	minute, err := time.Parse(referenceMinute, reference[1:1+len(referenceMinute)])
	return minute, err == nil
}

func amountIn(t *payments.Transaction) string { return strconv.FormatInt(t.Amount, 10) }

// The codes of Togo and the statuses of Benin for the state of a transaction, and Benin's texts for two of them
// (ThirdParty).
const (
	completed    = "0"
	validation   = "9"   // Togo: the payer has not answered
	notDone      = "10"  // Togo: failed
	inPending    = "100" // Benin: the payer has not answered
	failedCode   = "95"
	payerFunds   = "10"
	ownFunds     = "8"
	pendingState = "IN PENDING STATE"
	success      = "SUCCESS"
)

// outcomeOf returns the code and the text for the state of a transaction, in the form of its country.
func outcomeOf(t *payments.Transaction, how operatorapi.StatusView) (code, text string) {
	code, text = answers[t.Status].code, answers[t.Status].message
	togo := t.Country == payments.Togo
	switch {
	case t.Status == payments.Success && togo:
		return completed, text
	case t.Status == payments.Success:
		return completed, success
	case t.Status == payments.Pending && togo:
		return validation, "Pending validation payment found"
	case t.Status == payments.Pending:
		return inPending, pendingState
	case t.Status == payments.InsufficientFunds && adapter.IsPayout(t):
		code = ownFunds
	case t.Status == payments.InsufficientFunds:
		code = payerFunds
	}
	if how.Vague {
		code, text = failedCode, "FAILED"
	}
	if togo {
		code = notDone
	}
	if how.Reason != "" {
		code = how.Reason
	}
	return code, text
}

// callback is the body of a callback (ThirdParty for Togo, Assumed for Benin).
type callback struct {
	Amount    string `json:"amount"`
	RefID     string `json:"refid"`
	MrchRefID string `json:"mrchrefid"`
	MSISDN    string `json:"msisdn"`
	Status    string `json:"status"`
	Message   string `json:"message"`
}

// newCallback returns the callback of a collection with an outcome.
func newCallback(t *payments.Transaction, _ json.RawMessage, how operatorapi.StatusView) operatorapi.Callback {
	code, text := outcomeOf(t, how)
	return operatorapi.Post(callback{amountIn(t), referenceOf(t), t.Reference, adapter.Subscriber(t), code, text})
}
