package moov

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// debitCall is the name of the call of Togo that moves money. It is stored with its transactions.
const debitCall = "debit"

// debitBody is the body of a debit, and of a query for its state. Other fields are ignored, for example the merchant's:
// key, mrchname and partnermsisdn.
type debitBody struct {
	// Each is a JSON string (ThirdParty) or number (Assumed).
	MSISDN    operatorapi.TextOrNumber `json:"msisdn"`
	Reference operatorapi.TextOrNumber `json:"mrchrefid"`
	Amount    operatorapi.TextOrNumber `json:"amount"`
}

// debitAnswer has the fields that clients read. Some clients read status and mrorrefid, others code and refid
// (ThirdParty).
type debitAnswer struct {
	Status      string        `json:"status"`
	Message     string        `json:"message"`
	Description string        `json:"description"`
	MrorRefID   string        `json:"mrorrefid"`
	Code        string        `json:"code"`
	RefID       string        `json:"refid"`
	Details     *debitDetails `json:"details,omitempty"`
}

// debitDetails is the state of a debit.
type debitDetails struct {
	PushUSSD       string `json:"pushussd"`
	Callback       string `json:"callback"`
	Amount         string `json:"amount"`
	MrchReference  string `json:"mrchreference"`
	MrchName       string `json:"mrchname"`
	MSISDN         string `json:"msisdn"`
	MrorReference  string `json:"mrorreference"`
	ReferenceID    string `json:"referenceid"`
	ValidationDate string `json:"validationdate"`
	Status         string `json:"status"`
}

const beingProcessed = "Transaction is being processed"

// exampleReference is an example of Moov's reference, for the description of the API.
const exampleReference = "72026112620130009"

// newDebitAnswer returns an answer with a code of Togo.
func newDebitAnswer(code, message, reference string) debitAnswer {
	return debitAnswer{Status: code, Message: message, Description: message, MrorRefID: reference, Code: code, RefID: reference}
}

func debitBodyOf(code, message, reference string) string {
	return string(adapter.Encode(newDebitAnswer(code, message, reference)))
}

func readDebit(r *operatorapi.Request) (*debitBody, error) {
	var body debitBody
	return &body, r.Decode(operatorapi.Invalid, &body)
}

// debitNames are the names of the fields of a debit.
var debitNames = orderNames{reference: "mrchrefid", number: "msisdn", amount: "amount"}

// debit records a collection. Its answer has no outcome: clients call verify to read the outcome.
func debit(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	e, err := environmentIn(s, payments.Togo)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	body, err := readDebit(r)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	order, err := newOrder(s, e, debitCall, debitNames, func(name string) string {
		given := map[string]operatorapi.TextOrNumber{"mrchrefid": body.Reference, "msisdn": body.MSISDN, "amount": body.Amount}
		return strings.TrimSpace(string(given[name]))
	})
	if err == nil {
		order.CallbackURL = e.Callback.URL
		err = s.Collect(ctx, *order)
	}
	if err != nil {
		return operatorapi.Answer{}, inTogo(err)
	}
	p, err := s.Find(ctx, order.Reference, debitCall)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: newDebitAnswer("0", beingProcessed, referenceOf(p.Transaction))}, nil
}

// verify answers with the state of a debit.
func verify(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	if _, err := environmentIn(s, payments.Togo); err != nil {
		return operatorapi.Answer{}, err
	}
	body, err := readDebit(r)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	const field, wanted = "mrchrefid", "the mrchrefid of a debit"
	if body.Reference == "" {
		return operatorapi.Answer{}, operatorapi.Refuse(noReference).Expect(field, wanted)
	}
	p, err := s.Find(ctx, strings.TrimSpace(string(body.Reference)), debitCall)
	if err != nil {
		return operatorapi.Answer{}, operatorapi.ExpectFound(err, field, wanted)
	}
	code, message := outcomeOf(p.Transaction, p.StatusView)
	reference := referenceOf(p.Transaction)
	a := newDebitAnswer(code, message, reference)
	a.Details = &debitDetails{
		PushUSSD: "0", Callback: "0", Amount: amountIn(p.Transaction), MrchReference: p.Reference, MrchName: p.Store,
		MSISDN: adapter.Subscriber(p.Transaction), MrorReference: reference, ReferenceID: reference, Status: code,
	}
	if p.CompletedAt != nil {
		a.Details.ValidationDate = p.CompletedAt.UTC().Format("2006-01-02 15:04:05")
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: a}, nil
}

// inTogo replaces the reason of a refusal about a field of an order by [operatorapi.Invalid], because Togo has one code
// for all fields. It returns any other error unchanged.
func inTogo(err error) error {
	var refused *operatorapi.Refusal
	if errors.As(err, &refused) && slices.Contains([]operatorapi.Reason{wrongNumber, tooLittle, tooMuch, notANumber}, refused.Reason) {
		return operatorapi.Because(operatorapi.Invalid, string(refused.Reason)).Say(refused.Detail)
	}
	return err
}
