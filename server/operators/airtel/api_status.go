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

// inProcess is the response code of a request that was accepted, and notDone the result code of a failure (o).
const (
	inProcess = "DP00800001006"
	notDone   = "ESB000011"
)

// answered is an answer of the application (o).
type answered[T any] struct {
	Data   T      `json:"data"`
	Status Status `json:"status"`
}

// inTransaction has the data of an answer about a transaction.
type inTransaction[T any] struct {
	Transaction T `json:"transaction"`
}

// acceptance is the answer to a payment. The id is that of the request (o).
type acceptance struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

// enquiry is the state of a transaction. Only a success has Airtel's id (o).
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

// vagueFailure is a failure without its reason: the ambiguous state of the product (o).
const vagueFailure = "Transaction failed"

// ofPayout are the response codes of disbursements that /v1 does not have (o).
var ofPayout = map[payments.Status]string{
	payments.Pending: "DP00900001006", payments.AccountBlocked: "DP00900001010", payments.Timeout: "DP00900001014",
}

// outcome is how Airtel tells the state of a transaction.
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

// enquiryStatus returns the status beside the data. A failure has no success, and 200 as its code, since the enquiry succeeded.
func (o outcome) enquiryStatus() Status {
	s := okStatus(o.code, o.message)
	if o.status == failed || o.status == expired {
		s.ResultCode, s.Success = notDone, false
	}
	return s
}

// moneyID returns Airtel's id of a transaction, which begins with a time (o). It has the id of the transaction, so that
// a refund finds it.
func moneyID(prefix string, t *payments.Transaction) string {
	return prefix + t.CreatedAt.UTC().Format("060102.1504") + "." + t.ID.Code()
}

// idIn returns the id of the transaction in Airtel's id.
func idIn(moneyID string) (id payments.ID, ok bool) {
	id, err := payments.ParseCode(moneyID[strings.LastIndexByte(moneyID, '.')+1:])
	return id, err == nil
}

// payoutID returns Airtel's id of a disbursement, which has the id of the request (o).
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

// newCallback returns the callback of a collection with an outcome: TS or TF (o).
func newCallback(t *payments.Transaction, _ json.RawMessage, how operatorapi.StatusView) operatorapi.Callback {
	o := newOutcome(t, how)
	var c callback
	c.Transaction.ID, c.Transaction.Message = t.Reference, o.message
	c.Transaction.StatusCode, c.Transaction.AirtelMoneyID = failed, moneyID("MP", t)
	if o.status == succeeded {
		c.Transaction.StatusCode = succeeded
		c.Transaction.Message = fmt.Sprintf("Paid %s %s to %s", adapter.CurrencyCode(t), withCommas(t.Amount), t.Store)
	}
	return operatorapi.Post(c)
}

// sign adds the hash of a callback beside its transaction: the HMAC-SHA256 of the body without the hash, as in Airtel's
// sample (o; other implementations hash the inner object).
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
