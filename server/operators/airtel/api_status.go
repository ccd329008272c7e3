package airtel

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// inProcess is the response code of an accepted request. notDone is the result code of a failure (Documented).
const (
	inProcess = "DP00800001006"
	notDone   = "ESB000011"
)

// answered is an answer of the application (Documented).
type answered[T any] struct {
	Data   T      `json:"data"`
	Status Status `json:"status"`
}

// inTransaction has the data of an answer about a transaction.
type inTransaction[T any] struct {
	Transaction T `json:"transaction"`
}

// acceptance is the answer to a payment. The id is that of the request (Documented).
type acceptance struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

// enquiry is the state of a transaction. Only a success has Airtel's id (Documented).
type enquiry struct {
	AirtelMoneyID string `json:"airtel_money_id,omitempty"`
	ID            string `json:"id"`
	Message       string `json:"message"`
	Status        string `json:"status"`
}

type payout struct {
	ReferenceID   string `json:"reference_id"`
	AirtelMoneyID string `json:"airtel_money_id"`
	ID            string `json:"id"`
	Status        string `json:"status"`
}

type refund struct {
	AirtelMoneyID string `json:"airtel_money_id"`
	Status        string `json:"status"`
}

func dataAnswer[T any](data T, s Status) operatorapi.Answer {
	return operatorapi.Answer{Status: http.StatusOK, Body: answered[T]{data, s}}
}

func transactionAnswer[T any](transaction T, s Status) operatorapi.Answer {
	return dataAnswer(inTransaction[T]{transaction}, s)
}

func okStatus(response, message string) Status {
	return Status{Code: "200", Message: message, ResultCode: processed, ResponseCode: response, Success: true}
}

// vagueFailure is the message of a failure that is reported without its reason. The response code of such a failure is
// the ambiguous code of the product (Documented).
const vagueFailure = "Transaction failed"

// ofPayout are the response codes of disbursements that the table answers does not have (Documented).
var ofPayout = map[payments.Status]string{
	payments.Pending: "DP00900001006", payments.AccountBlocked: "DP00900001010", payments.Timeout: "DP00900001014",
}

// outcome is the state of a transaction in Airtel's terms.
type outcome struct{ status, code, message string }

func outcomeOf(p *operatorapi.Payment) outcome { return newOutcome(p.Transaction, p.StatusView) }

func newOutcome(t *payments.Transaction, how operatorapi.StatusView) outcome {
	a := answers[t.Status]
	o := outcome{a.status, cmp.Or(a.collection, "DP00800001000"), a.message}
	family := "DP00800001"
	if adapter.IsPayout(t) {
		family = "DP00900001"
		o.code = cmp.Or(a.payout, ofPayout[t.Status], "DP00900001005")
	}
	switch {
	case o.status == succeeded || o.status == inProgress:
	case how.Reason != "":
		o.code = how.Reason
	case how.Vague:
		o = outcome{failed, family + "000", vagueFailure}
	}
	return o
}

// enquiryStatus returns the Status of an answer to an enquiry. The code is 200 even for a failed transaction, because
// the enquiry succeeded.
func (o outcome) enquiryStatus() Status {
	s := okStatus(o.code, o.message)
	if o.status == failed || o.status == expired {
		s.ResultCode, s.Success = notDone, false
	}
	return s
}

// The prefixes of Airtel's ids (Documented).
const (
	collected = "MP"
	paidOut   = "CI"
)

// moneyID returns Airtel's id of a transaction (Documented).
func moneyID(prefix string, t *payments.Transaction) string { return operatorapi.DatedID(prefix, t) }

// payoutID returns Airtel's id of a disbursement. It contains the id of the request (Documented).
func payoutID(t *payments.Transaction) string {
	hash := sha256.Sum256(t.ID[:])
	return "disburs-" + strings.ToUpper(hex.EncodeToString(hash[:5])) + "-" + t.Reference
}

// callback is the body of a callback.
type callback struct {
	Transaction struct {
		ID            string `json:"id"`
		Message       string `json:"message"`
		StatusCode    string `json:"status_code"`
		AirtelMoneyID string `json:"airtel_money_id"`
	} `json:"transaction"`
}

// newCallback returns the callback of a collection with an outcome. Its status is TS or TF (Documented).
func newCallback(t *payments.Transaction, _ json.RawMessage, how operatorapi.StatusView) operatorapi.Callback {
	o := newOutcome(t, how)
	var c callback
	c.Transaction.ID, c.Transaction.Message = t.Reference, o.message
	c.Transaction.StatusCode, c.Transaction.AirtelMoneyID = failed, moneyID(collected, t)
	if o.status == succeeded {
		c.Transaction.StatusCode = succeeded
		c.Transaction.Message = fmt.Sprintf("Paid %s %s to %s", adapter.CurrencyCode(t), withCommas(t.Amount), t.Store)
	}
	return operatorapi.Post(c)
}

// sign returns the body of a callback with its hash, in a member beside transaction. The hash is the HMAC-SHA256 of the
// body without that member, as in Airtel's sample (Documented). Some implementations hash only the inner object. sign
// returns the body unchanged if the request asked for no hash.
func sign(body []byte, kept json.RawMessage, key string) []byte {
	var s sent
	end, isObject := bytes.CutSuffix(body, []byte("}"))
	if json.Unmarshal(kept, &s) != nil || !s.Hash || !isObject {
		return body
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(body)
	return fmt.Appendf(bytes.Clone(end), `,"hash":%q}`, base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
