package operatorstest

import (
	"net/http"
	"time"
)

// orange is a simple version of Orange's core API. By the marks of package operators, its payload and paths
// are t, and the rest is a.
var orange = native{
	token:  "/oauth/v3/token",
	valid:  time.Hour,
	grant:  func(v *visit) (string, string) { id, secret, _ := v.r.BasicAuth(); return id, secret },
	issued: issuedOAuth("Bearer"),
	create: "/omcoreapis/1.0.2/mp/pay",
	find:   "/omcoreapis/1.0.2/mp/paymentstatus",
	ask:    orangeAsk,
	tell:   orangeTell,

	problem: orangeProblem,
}

// orangeRequest is a payment.
type orangeRequest struct {
	OrderID          string `json:"order_id"`
	SubscriberMSISDN string `json:"subscriber_msisdn"`
	Amount           int64  `json:"amount"`
	Currency         string `json:"currency"`
	Description      string `json:"description"`
}

// orangeState is the status of a payment.
type orangeState struct {
	Status            string  `json:"status"`
	SubscriberMSISDN  string  `json:"subscriber_msisdn"`
	Amount            int64   `json:"amount"`
	TxnID             string  `json:"txnid"`
	PayToken          string  `json:"pay_token"`
	InitTxnStatus     string  `json:"inittxnstatus"`
	InitTxnMessage    string  `json:"inittxnmessage"`
	ConfirmTxnStatus  *string `json:"confirmtxnstatus"`
	ConfirmTxnMessage *string `json:"confirmtxnmessage"`
	OrderID           string  `json:"order_id"`
}

func orangeAsk(v *visit) (answer, error) {
	var request orangeRequest
	if err := v.body(&request); err != nil {
		return answer{}, err
	}
	if err := checkPayment(request.OrderID, request.Amount, request.Currency, request.SubscriberMSISDN); err != nil {
		return answer{}, err
	}
	p, err := v.keep(request.OrderID, request)
	return orangeSaid(request, p), err
}

func orangeTell(_ *visit, p Payment) (answer, error) {
	request, _ := p.request.(orangeRequest)
	return orangeSaid(request, p), nil
}

func orangeSaid(request orangeRequest, p Payment) answer {
	state := orangeState{
		Status: "PENDING", SubscriberMSISDN: request.SubscriberMSISDN, Amount: request.Amount, TxnID: p.NativeID,
		PayToken: "ORANGE_" + p.NativeID, InitTxnStatus: "200", InitTxnMessage: "Ok", OrderID: request.OrderID,
	}
	if p.Answered {
		code, text := "200", "Transaction successfully processed"
		state.Status, state.ConfirmTxnStatus, state.ConfirmTxnMessage = "SUCCESSFULL", &code, &text // spelled as Orange spells it
	}
	return answer{http.StatusOK, map[string]any{"message": "Ok", "data": state}}
}

func orangeProblem(p problem) answer {
	failed := func(status int, code string) answer {
		return answer{status, map[string]any{"code": code, "message": p.message, "data": nil}}
	}
	switch p.kind {
	case badCredentials:
		return answer{http.StatusUnauthorized, map[string]string{"error": "invalid_client", "error_description": p.message}}
	case badToken:
		return failed(http.StatusUnauthorized, "42")
	case invalid:
		return failed(http.StatusBadRequest, "23")
	case duplicate:
		return failed(http.StatusConflict, "60019")
	default:
		return failed(http.StatusNotFound, "60")
	}
}
