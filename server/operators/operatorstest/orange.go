package operatorstest

import (
	"net/http"
	"strings"
	"time"
)

// orange is Orange's WebPay under the country dev (Documented). Payers confirm without its page.
var orange = native{
	token:    "/oauth/v3/token",
	valid:    time.Hour,
	grant:    func(v *visit) (string, string) { id, secret, _ := v.r.BasicAuth(); return id, secret },
	issued:   issuedOAuth("Bearer"),
	create:   "/orange-money-webpay/dev/v1/webpayment",
	verify:   "/orange-money-webpay/dev/v1/transactionstatus",
	verified: orangeVerified,
	ask:      orangeAsk,
	tell:     orangeTell,

	problem: orangeProblem,
}

// orangeRequest is an order.
type orangeRequest struct {
	MerchantKey string `json:"merchant_key"`
	Currency    string `json:"currency"`
	OrderID     string `json:"order_id"`
	Amount      int64  `json:"amount"`
	ReturnURL   string `json:"return_url"`
	CancelURL   string `json:"cancel_url"`
	NotifURL    string `json:"notif_url"`
	Lang        string `json:"lang"`
	Reference   string `json:"reference"`
}

// payToken is the token of the order of a payment.
func payToken(p Payment) string { return strings.Repeat(p.NativeID, 64)[:64] }

func orangeAsk(v *visit) (answer, error) {
	var request orangeRequest
	if err := v.body(&request); err != nil {
		return answer{}, err
	}
	if request.Currency != "OUV" {
		return answer{}, invalidField("the currency has to be OUV under dev")
	}
	if err := checkPayment(request.OrderID, request.Amount, "XOF", "2250700000009"); err != nil {
		return answer{}, err
	}
	urls := []string{request.ReturnURL, request.CancelURL, request.NotifURL}
	for _, address := range urls {
		if !strings.HasPrefix(address, "http") {
			return answer{}, invalidField("return_url, cancel_url and notif_url have to be URLs")
		}
	}
	if request.MerchantKey == "" || len(request.OrderID) > 30 || len(request.Reference) > 30 {
		return answer{}, invalidField("the merchant key is missing, or the order's id or name is too long")
	}
	p, err := v.keep(request.OrderID, request)
	token := payToken(p)
	return answer{http.StatusCreated, map[string]any{
		"status": http.StatusCreated, "message": "OK", "pay_token": token, "notif_token": token[:32],
		"payment_url": "https://webpayment.example/payment/pay_token/" + token,
	}}, err
}

func orangeVerified(v *visit) (string, error) {
	var request struct {
		OrderID  string `json:"order_id"`
		Amount   int64  `json:"amount"`
		PayToken string `json:"pay_token"`
	}
	if err := v.body(&request); err != nil {
		return "", err
	}
	p, found := v.Operators.find(v.operator, request.OrderID)
	asked, _ := p.request.(orangeRequest)
	if !found || payToken(p) != request.PayToken || asked.Amount != request.Amount {
		return "", problem{unknownPayment, "no such payment"}
	}
	return request.OrderID, nil
}

func orangeTell(_ *visit, p Payment) (answer, error) {
	said := map[string]any{"status": "INITIATED", "order_id": p.Reference, "txnid": ""}
	if p.Answered {
		said["status"], said["txnid"] = "SUCCESS", p.NativeID
	}
	return answer{http.StatusOK, said}, nil
}

func orangeProblem(p problem) answer {
	failed := func(status, code int) answer {
		return answer{status, map[string]any{"code": code, "message": p.message, "description": p.message}}
	}
	switch p.kind {
	case badCredentials:
		return answer{http.StatusUnauthorized, map[string]string{"error": "invalid_client", "error_description": p.message}}
	case badToken:
		return failed(http.StatusUnauthorized, 42)
	case invalid:
		return failed(http.StatusBadRequest, 24)
	case duplicate:
		return failed(http.StatusForbidden, 1204)
	default:
		return failed(http.StatusNotFound, 60)
	}
}
