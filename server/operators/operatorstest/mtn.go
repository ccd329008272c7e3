package operatorstest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// mtn is the collection product of MTN's Open API. The mark is Documented unless another is given.
var mtn = native{
	token:  "/collection/token",
	valid:  time.Hour,
	grant:  func(v *visit) (string, string) { id, secret, _ := v.r.BasicAuth(); return id, secret },
	issued: issuedOAuth("access_token"),
	create: "/collection/v1_0/requesttopay",
	find:   "/collection/v1_0/requesttopay",
	ask:    mtnAsk,
	tell:   mtnTell,

	problem: mtnProblem,
}

type mtnParty struct {
	PartyIDType string `json:"partyIdType"`
	PartyID     string `json:"partyId"`
}

// mtnRequest is a request to pay.
type mtnRequest struct {
	Amount       string   `json:"amount"`
	Currency     string   `json:"currency"`
	ExternalID   string   `json:"externalId"`
	Payer        mtnParty `json:"payer"`
	PayerMessage string   `json:"payerMessage"`
	PayeeNote    string   `json:"payeeNote"`
}

// mtnState is the status of a request to pay.
type mtnState struct {
	mtnRequest
	Status                 string `json:"status"`
	FinancialTransactionID string `json:"financialTransactionId,omitempty"`
}

var randomUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func mtnAsk(v *visit) (answer, error) {
	reference := v.r.Header.Get("X-Reference-Id")
	if !randomUUID.MatchString(reference) {
		return answer{}, invalidField("X-Reference-Id has to be a version 4 UUID in lower case")
	}
	if v.r.Header.Get("X-Target-Environment") == "" {
		return answer{}, invalidField("X-Target-Environment is missing")
	}
	var request mtnRequest
	if err := v.body(&request); err != nil {
		return answer{}, err
	}
	amount, _ := strconv.ParseInt(request.Amount, 10, 64) // an invalid number becomes 0, which checkPayment refuses
	if err := checkPayment(reference, amount, request.Currency, request.Payer.PartyID); err != nil {
		return answer{}, err
	}
	if request.Payer.PartyIDType != "MSISDN" {
		return answer{}, invalidField("the payer's partyIdType has to be MSISDN")
	}
	_, err := v.keep(reference, request)
	return answer{code: http.StatusAccepted}, err
}

func mtnTell(_ *visit, p Payment) (answer, error) {
	request, _ := p.request.(mtnRequest)
	state := mtnState{mtnRequest: request, Status: "PENDING"}
	if p.Answered {
		state.Status, state.FinancialTransactionID = "SUCCESSFUL", p.NativeID
	}
	return answer{http.StatusOK, state}, nil
}

func mtnProblem(p problem) answer {
	failed := func(status int, code string) answer {
		return answer{status, map[string]string{"code": code, "message": p.message}}
	}
	switch p.kind {
	case badCredentials: // Assumed
		return answer{http.StatusUnauthorized, map[string]string{"error": "login_failed"}}
	case badToken: // Assumed
		return answer{http.StatusUnauthorized, json.RawMessage(`{"error":"invalid_token"}`)}
	case invalid:
		return failed(http.StatusBadRequest, "BAD_REQUEST") // Assumed
	case duplicate:
		return failed(http.StatusConflict, "RESOURCE_ALREADY_EXIST")
	default:
		return failed(http.StatusNotFound, "RESOURCE_NOT_FOUND")
	}
}

// issuedOAuth returns a function that returns the answer with a token, in the format of OAuth 2.0.
func issuedOAuth(kind string) func(string, time.Duration) any {
	return func(token string, valid time.Duration) any {
		return map[string]any{"access_token": token, "token_type": kind, "expires_in": int(valid.Seconds())}
	}
}
