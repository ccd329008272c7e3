package operators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// airtelAPI is a client of the collections of Airtel's Open API (o). Airtel does not tell the amount of a payment.
type airtelAPI struct{ connection }

const (
	airtelTokenPath    = "/auth/oauth2/token"
	airtelPaymentsPath = "/merchant/v1/payments/"
	airtelEnquiryPath  = "/standard/v1/payments/"

	airtelAmbiguous = "TA"
	airtelInvalid   = "ESB000008"
)

// airtelRequest is the body of a payment.
type airtelRequest struct {
	Reference   string            `json:"reference"`
	Subscriber  airtelSubscriber  `json:"subscriber"`
	Transaction airtelTransaction `json:"transaction"`
}

// airtelReply is what both requests are answered with.
type airtelReply struct {
	Data struct {
		Transaction struct {
			airtelResult
			AirtelMoneyID string `json:"airtel_money_id"`
		} `json:"transaction"`
	} `json:"data"`
	Status airtelStatus `json:"status"`
}

// Collect implements [API].
func (a *airtelAPI) Collect(ctx context.Context, t *payments.Transaction) (Answer, error) {
	p := newAirtelPayload(t)
	p.Transaction.ID = requestID(t)
	said, err := a.ask(ctx, t, request{
		method: http.MethodPost, path: airtelPaymentsPath, body: airtelRequest{p.Transaction.ID, p.Subscriber, p.Transaction},
	})
	switch {
	case err != nil:
		return Answer{}, err
	case said.Status.Success:
		return Answer{Status: payments.Pending, NativeID: said.id(t)}, nil
	case said.Status.ResultCode == airtelDuplicateID:
		return said.answer(t, payments.DuplicateReference), nil
	case said.Status.ResultCode != airtelInvalid && airtelFailure(said.Status.ResponseCode) != payments.ServiceUnavailable:
		return said.answer(t, airtelFailure(said.Status.ResponseCode)), nil
	}
	return Answer{}, ErrRefused{fmt.Sprintf("the operator refused the request (%s %s)", said.Status.ResultCode, said.Status.ResponseCode)}
}

// Ask implements [API].
func (a *airtelAPI) Ask(ctx context.Context, t *payments.Transaction) (Answer, error) {
	said, err := a.ask(ctx, t, request{method: http.MethodGet, path: airtelEnquiryPath + requestID(t)})
	if err != nil {
		return Answer{}, err
	}
	switch said.Data.Transaction.Status {
	case airtelSucceeded:
		return said.answer(t, payments.Success), nil
	case airtelInProgress, airtelAmbiguous: // ambiguous is not decided yet
		return said.answer(t, payments.Pending), nil
	case airtelExpired:
		return said.answer(t, payments.Timeout), nil
	case airtelFailed:
		return said.answer(t, airtelFailure(said.Status.ResponseCode)), nil
	case "":
		return Answer{}, fmt.Errorf("the operator answered without a status (%s)", said.Status.ResultCode)
	}
	return Answer{}, errors.New("the operator answered with an unknown status")
}

// ask makes a request and reads its answer, which has the same form whatever its HTTP status.
func (a *airtelAPI) ask(ctx context.Context, t *payments.Transaction, r request) (airtelReply, error) {
	var said airtelReply
	r.header = map[string]string{"X-Country": string(t.Country), "X-Currency": currencyCode(t)}
	answer, err := a.authorized(ctx, r, a.token)
	if err != nil {
		return said, err
	}
	if answer.code >= 500 || answer.code == http.StatusTooManyRequests {
		return said, answer.failed()
	}
	if err := answer.into(&said); err != nil {
		return said, err
	}
	if !answer.ok() && (said.Status.Success || said.Data.Transaction.Status == airtelSucceeded) {
		return said, answer.failed() // two things at once: not a success that money moves by
	}
	return said, nil
}

func (a *airtelAPI) token(ctx context.Context) (string, time.Duration, error) {
	answer, err := a.do(ctx, request{method: http.MethodPost, path: airtelTokenPath, body: struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		GrantType    string `json:"grant_type"`
	}{a.ClientID, a.ClientSecret, "client_credentials"}})
	if err != nil {
		return "", 0, err
	}
	return answer.token()
}

// answer puts what Airtel said beside what it was asked for, as the merchant sees it.
func (r airtelReply) answer(t *payments.Transaction, status payments.Status) Answer {
	p := newAirtelPayload(t)
	id := r.id(t)
	p.Data.Transaction, p.Status = r.Data.Transaction.airtelResult, r.Status
	p.Data.Transaction.ID = cmp.Or(id, t.ProviderTxID())
	return Answer{Status: status, NativeID: id, Raw: encode(p)}
}

// id is Airtel's id of the payment, empty while it gave none: the id that it gave first stays, and the caller's own, which its answers
// repeat (o), is none.
func (r airtelReply) id(t *payments.Transaction) string {
	given := r.Data.Transaction
	switch {
	case t.NativeID != "":
		return t.NativeID
	case given.AirtelMoneyID != "":
		return nativeID(given.AirtelMoneyID)
	case given.ID != requestID(t):
		return nativeID(given.ID)
	}
	return ""
}

// airtelFailure is the status that a response code of a failed payment stands for (o, but for 012: a).
func airtelFailure(code string) payments.Status {
	switch code {
	case "DP00800001002":
		return payments.PINInvalid
	case "DP00800001003":
		return payments.LimitExceeded
	case "DP00800001005", "DP00800001008": // no PIN entered; refused
		return payments.UserCancelled
	case "DP00800001007":
		return payments.InsufficientFunds
	case "DP00800001010":
		return payments.AccountBlocked
	case "DP00800001012":
		return payments.UnknownMSISDN
	case "DP00800001024", "DP00800001029":
		return payments.Timeout
	}
	return payments.ServiceUnavailable
}
