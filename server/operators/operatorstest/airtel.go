package operatorstest

import (
	"net/http"
	"strconv"
	"time"
)

// airtel is the collection product of Airtel's Open API. The mark is Documented unless another is given.
var airtel = native{
	token: "/auth/oauth2/token",
	valid: 3 * time.Minute,
	grant: airtelGrant,
	issued: func(token string, valid time.Duration) any {
		return map[string]string{"access_token": token, "token_type": "bearer", "expires_in": strconv.Itoa(int(valid.Seconds()))}
	},
	create: "/merchant/v1/payments",
	find:   "/standard/v1/payments",
	ask:    airtelAsk,
	tell:   airtelTell,

	problem: airtelProblem,
}

func airtelGrant(v *visit) (clientID, clientSecret string) {
	var request struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		GrantType    string `json:"grant_type"`
	}
	if v.body(&request) != nil || request.GrantType != "client_credentials" {
		return "", "" // missing credentials have the same answer as wrong ones
	}
	return request.ClientID, request.ClientSecret
}

// airtelRequest is a payment.
type airtelRequest struct {
	Reference  string `json:"reference"`
	Subscriber struct {
		Country  string `json:"country"`
		Currency string `json:"currency"`
		MSISDN   string `json:"msisdn"`
	} `json:"subscriber"`
	Transaction struct {
		Amount   int64  `json:"amount"`
		Country  string `json:"country"`
		Currency string `json:"currency"`
		ID       string `json:"id"`
	} `json:"transaction"`
}

// airtelBody is the body of every answer.
type airtelBody struct {
	Data   *airtelData  `json:"data,omitempty"`
	Status airtelStatus `json:"status"`
}

type airtelData struct {
	Transaction airtelTransaction `json:"transaction"`
}

type airtelTransaction struct {
	AirtelMoneyID string `json:"airtel_money_id,omitempty"` // only in an answer to a status query
	ID            string `json:"id"`
	Message       string `json:"message,omitempty"`
	Status        string `json:"status"`
}

type airtelStatus struct {
	Code         string `json:"code"`
	Message      string `json:"message"`
	ResultCode   string `json:"result_code"`
	ResponseCode string `json:"response_code"`
	Success      bool   `json:"success"`
}

func airtelSaid(t airtelTransaction, message, responseCode string) answer {
	return answer{http.StatusOK, airtelBody{
		Data:   &airtelData{t},
		Status: airtelStatus{Code: "200", Message: message, ResultCode: "ESB000010", ResponseCode: responseCode, Success: true},
	}}
}

func airtelAsk(v *visit) (answer, error) {
	var request airtelRequest
	if err := v.body(&request); err != nil {
		return answer{}, err
	}
	t, s := request.Transaction, request.Subscriber
	if err := checkPayment(t.ID, t.Amount, t.Currency, s.MSISDN); err != nil {
		return answer{}, err
	}
	switch {
	case v.r.Header.Get("X-Country") != t.Country || s.Country != t.Country || t.Country != "RW":
		return answer{}, invalidField("X-Country and both countries have to be RW")
	case v.r.Header.Get("X-Currency") != t.Currency || s.Currency != t.Currency || t.Currency != "RWF":
		return answer{}, invalidField("X-Currency and both currencies have to be RWF")
	}
	p, err := v.keep(t.ID, request)
	return airtelSaid(airtelTransaction{ID: p.NativeID, Status: "SUCCESS"}, "SUCCESS", "DP00800001006"), err
}

func airtelTell(v *visit, p Payment) (answer, error) {
	if v.r.Header.Get("X-Country") != "RW" || v.r.Header.Get("X-Currency") != "RWF" {
		return answer{}, invalidField("X-Country has to be RW, and X-Currency RWF")
	}
	t := airtelTransaction{AirtelMoneyID: p.NativeID, ID: p.NativeID, Message: "In process", Status: "TIP"}
	code := "DP00800001006"
	if p.Answered {
		t.Message, t.Status, code = "Success", "TS", "DP00800001001"
	}
	return airtelSaid(t, t.Message, code), nil
}

func airtelProblem(p problem) answer {
	failed := func(code int, result string) answer {
		return answer{code, airtelBody{Status: airtelStatus{Code: strconv.Itoa(code), Message: p.message, ResultCode: result}}}
	}
	switch p.kind {
	case badCredentials:
		return answer{http.StatusUnauthorized, map[string]string{"error": "invalid_client", "error_description": p.message}}
	case badToken: // Assumed
		return answer{http.StatusUnauthorized, map[string]string{"error": "invalid_token", "error_description": p.message}}
	case invalid:
		return failed(http.StatusBadRequest, "ESB000008")
	case duplicate:
		return failed(http.StatusBadRequest, "ESB000041") // Assumed: the HTTP status
	default:
		return failed(http.StatusNotFound, "ESB000045") // Assumed: the HTTP status
	}
}
