package operatorstest

import (
	"net/http"
	"time"
)

// moov is a simple version of Moov's API. By the marks of package operators, its payload and codes
// are t, and the rest is a.
var moov = native{
	token: "/auth/token",
	valid: 10 * time.Minute,
	grant: moovGrant,
	issued: func(token string, valid time.Duration) any {
		return map[string]any{"responseCode": "0", "responseMessage": "Success", "token": token, "expiresIn": int(valid.Seconds())}
	},
	create: "/merchant/v1/payments",
	find:   "/merchant/v1/payments",
	ask:    moovAsk,
	tell:   moovTell,

	problem: moovProblem,
}

func moovGrant(v *visit) (clientID, clientSecret string) {
	var request struct {
		Username string `json:"username"`
		Password string `json:"password"`
	}
	if v.body(&request) != nil {
		return "", "" // missing credentials get the same answer as wrong ones
	}
	return request.Username, request.Password
}

// moovRequest is a payment.
type moovRequest struct {
	ExternalReference string `json:"externalReference"`
	Amount            int64  `json:"amount"`
	Currency          string `json:"currency"`
	PhoneNumber       string `json:"phoneNumber"`
	Description       string `json:"description"`
}

// moovState is the status of a payment.
type moovState struct {
	ResponseCode      string `json:"responseCode"`
	ResponseMessage   string `json:"responseMessage"`
	TransactionID     string `json:"transactionId"`
	ExternalReference string `json:"externalReference"`
	Amount            int64  `json:"amount"`
	Currency          string `json:"currency"`
	PhoneNumber       string `json:"phoneNumber"`
	Timestamp         string `json:"timestamp"`
}

func moovAsk(v *visit) (answer, error) {
	var request moovRequest
	if err := v.body(&request); err != nil {
		return answer{}, err
	}
	if err := checkPayment(request.ExternalReference, request.Amount, request.Currency, request.PhoneNumber); err != nil {
		return answer{}, err
	}
	p, err := v.keep(request.ExternalReference, request)
	return moovSaid(request, p), err
}

func moovTell(_ *visit, p Payment) (answer, error) {
	request, _ := p.request.(moovRequest)
	return moovSaid(request, p), nil
}

func moovSaid(request moovRequest, p Payment) answer {
	state := moovState{
		ResponseCode: "100", ResponseMessage: "Pending", TransactionID: p.NativeID, ExternalReference: request.ExternalReference,
		Amount: request.Amount, Currency: request.Currency, PhoneNumber: request.PhoneNumber, Timestamp: p.CreatedAt.UTC().Format(time.RFC3339),
	}
	if p.Answered {
		state.ResponseCode, state.ResponseMessage = "0", "Success"
	}
	return answer{http.StatusOK, state}
}

func moovProblem(p problem) answer {
	failed := func(status int, code string) answer {
		return answer{status, map[string]string{"responseCode": code, "responseMessage": p.message}}
	}
	switch p.kind {
	case badCredentials, badToken:
		return failed(http.StatusUnauthorized, "98")
	case invalid:
		return failed(http.StatusBadRequest, "95")
	case duplicate:
		return failed(http.StatusConflict, "95")
	default:
		return failed(http.StatusNotFound, "95")
	}
}
