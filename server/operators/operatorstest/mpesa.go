package operatorstest

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// mpesa is M-Pesa Express of Safaricom's Daraja (Documented), with one short code. Each phone shows one prompt at a time.
var mpesa = native{
	tokenMethod: http.MethodGet,
	token:       "/oauth/v1/generate",
	valid:       time.Hour,
	grant:       mpesaGrant,
	issued: func(token string, _ time.Duration) any {
		return map[string]string{"access_token": token, "expires_in": "3599"}
	},
	create:   "/mpesa/stkpush/v1/processrequest",
	verify:   "/mpesa/stkpushquery/v1/query",
	verified: mpesaVerified,
	ask:      mpesaAsk,
	tell:     mpesaTell,

	problem: mpesaProblem,
}

// The merchant whom the fake knows.
const (
	MPesaShortCode = "600123"
	MPesaPasskey   = "pk"
)

var nairobi = time.FixedZone("EAT", 3*60*60)

func mpesaGrant(v *visit) (clientID, clientSecret string) {
	if v.r.URL.Query().Get("grant_type") != "client_credentials" {
		return "", ""
	}
	id, secret, _ := v.r.BasicAuth()
	return id, secret
}

// mpesaSigned are the fields that a push and its query have.
type mpesaSigned struct {
	BusinessShortCode, Password, Timestamp string
}

var mpesaTime = regexp.MustCompile(`^[0-9]{14}$`)

func (s mpesaSigned) check() error {
	password, _ := base64.StdEncoding.DecodeString(s.Password)
	switch {
	case !mpesaTime.MatchString(s.Timestamp):
		return invalidField("Timestamp")
	case string(password) != MPesaShortCode+MPesaPasskey+s.Timestamp || s.BusinessShortCode != MPesaShortCode:
		return problem{wrongSignature, "Wrong credentials"}
	}
	return nil
}

// mpesaRequest is a push.
type mpesaRequest struct {
	mpesaSigned
	TransactionType, PartyA, PartyB, PhoneNumber, CallBackURL, AccountReference, TransactionDesc string

	Amount int64
}

func mpesaAsk(v *visit) (answer, error) {
	var request mpesaRequest
	if err := v.body(&request); err != nil {
		return answer{}, invalidField("BusinessShortCode")
	}
	if err := request.check(); err != nil {
		return answer{}, err
	}
	if err := checkPayment(request.AccountReference, request.Amount, "KES", request.PhoneNumber); err != nil {
		return answer{}, invalidField("Amount, AccountReference or PhoneNumber")
	}
	switch {
	case request.TransactionType != "CustomerPayBillOnline" || request.PartyB != MPesaShortCode || request.PartyA != request.PhoneNumber:
		return answer{}, invalidField("TransactionType, PartyA or PartyB")
	case !strings.HasPrefix(request.CallBackURL, "http"):
		return answer{}, invalidField("CallBackURL")
	case len([]rune(request.AccountReference)) > 12 || request.TransactionDesc == "" || len([]rune(request.TransactionDesc)) > 13:
		return answer{}, invalidField("AccountReference or TransactionDesc")
	}
	p, err := v.ring(request)
	return answer{http.StatusOK, map[string]string{
		"MerchantRequestID": "2654-4b64-97ff-b827b542881d3130", "CheckoutRequestID": p.Reference, "ResponseCode": "0",
		"ResponseDescription": "Success. Request accepted for processing", "CustomerMessage": "Success. Request accepted for processing",
	}}, err
}

// ring stores a push. It returns an error if the phone shows another one.
func (v *visit) ring(request mpesaRequest) (Payment, error) {
	now := v.now()
	for _, p := range v.Payments() {
		other, _ := p.request.(mpesaRequest)
		if other.PhoneNumber == request.PhoneNumber && now.Sub(p.CreatedAt) < v.Answer {
			return p, problem{duplicate, "Unable to lock subscriber, a transaction is already in process for the current subscriber"}
		}
	}
	for at := now.In(nairobi); ; at = at.Add(time.Second / 10) {
		id := "ws_CO_" + at.Format("02012006150405") + strconv.Itoa(at.Nanosecond()/100_000_000) + strings.TrimPrefix(request.PhoneNumber, "254")
		p := Payment{Operator: v.operator, Reference: id, NativeID: id, CreatedAt: now, request: request}
		if v.Keep(p) {
			return p, nil
		}
	}
}

func mpesaVerified(v *visit) (string, error) {
	var request struct {
		mpesaSigned
		CheckoutRequestID string
	}
	if err := v.body(&request); err != nil {
		return "", invalidField("BusinessShortCode")
	}
	return request.CheckoutRequestID, request.check()
}

func mpesaTell(_ *visit, p Payment) (answer, error) {
	said := map[string]string{
		"ResponseCode": "0", "ResponseDescription": "The service request has been accepted successsfully",
		"MerchantRequestID": "2654-4b64-97ff-b827b542881d3130", "CheckoutRequestID": p.Reference,
		"ResultCode": "4999", "ResultDesc": "The transaction is still under processing",
	}
	if p.Answered {
		said["ResultCode"], said["ResultDesc"] = "0", "The service request is processed successfully."
	}
	return answer{http.StatusOK, said}, nil
}

func mpesaProblem(p problem) answer {
	failed := func(status int, code, message string) answer {
		return answer{status, map[string]string{"requestId": "1c5b-4ba8-815c-ac45c57a3db01495926", "errorCode": code, "errorMessage": message}}
	}
	switch p.kind {
	case badCredentials:
		return failed(http.StatusBadRequest, "400.008.01", "Invalid Authentication passed")
	case badToken:
		return failed(http.StatusNotFound, "404.001.03", "Invalid Access Token")
	case invalid:
		return failed(http.StatusBadRequest, "400.002.02", "Bad Request - Invalid "+p.message)
	case duplicate, wrongSignature:
		return failed(http.StatusInternalServerError, "500.001.1001", p.message)
	case unknownPayment:
		return failed(http.StatusInternalServerError, "500.001.1001", "The transaction does not Exist")
	default:
		return failed(http.StatusNotFound, "404.001.01", "Resource not found")
	}
}
