package operators

import "github.com/cauri-dev/cauri/server/payments"

// airtelPayload is a transaction as Airtel's Open API shows it (o): the request's subscriber and transaction, which are
// objects of their own, and beside them the answer's data and status. No key is left out: what Airtel gives no code for
// has an empty one.
type airtelPayload struct {
	Simulated   bool              `json:"_simulated"`
	Reference   string            `json:"reference"`
	Subscriber  airtelSubscriber  `json:"subscriber"`
	Transaction airtelTransaction `json:"transaction"`
	Data        airtelData        `json:"data"`
	Status      airtelStatus      `json:"status"`
}

type airtelSubscriber struct {
	Country  string `json:"country"`
	Currency string `json:"currency"`
	MSISDN   string `json:"msisdn"`
}

type airtelTransaction struct {
	Amount   int64  `json:"amount"`
	Country  string `json:"country"`
	Currency string `json:"currency"`
	ID       string `json:"id"` // the caller's
}

type airtelData struct {
	Transaction airtelResult `json:"transaction"`
}

type airtelResult struct {
	ID      string `json:"id"` // Airtel's
	Message string `json:"message"`
	Status  string `json:"status"`
}

type airtelStatus struct {
	Code         string `json:"code"` // the HTTP status
	Message      string `json:"message"`
	ResultCode   string `json:"result_code"`   // the gateway's
	ResponseCode string `json:"response_code"` // the payment product's
	Success      bool   `json:"success"`
}

// Statuses of a transaction (o).
const (
	airtelSucceeded  = "TS"
	airtelFailed     = "TF"
	airtelInProgress = "TIP"
	airtelExpired    = "TE"
)

// Result codes of the gateway (o).
const (
	airtelProcessed   = "ESB000010"
	airtelDuplicateID = "ESB000041"
)

// airtelAnswer is how Airtel tells an outcome: the transaction's status and the response code, which disbursements have a
// list of their own for. An empty payout code means that this list has none, so that a payout carries the collection's.
type airtelAnswer struct{ status, collection, payout, message string }

// airtelAnswers are Airtel's answers: the codes are o unless marked, the texts are a.
var airtelAnswers = map[payments.Status]airtelAnswer{
	payments.Success:            {airtelSucceeded, "DP00800001001", "DP00900001001", "Success"},
	payments.Pending:            {airtelInProgress, "DP00800001006", "", "In process"},
	payments.PINInvalid:         {airtelFailed, "DP00800001002", "", "Incorrect PIN"},
	payments.InsufficientFunds:  {airtelFailed, "DP00800001007", "DP00900001007", "Not enough balance"},
	payments.Timeout:            {airtelExpired, "DP00800001029", "", "Transaction expired"},
	payments.AccountBlocked:     {airtelFailed, "DP00800001010", "", "Transaction not permitted to payee"},
	payments.UserCancelled:      {airtelFailed, "DP00800001008", "", "Refused"},
	payments.UnknownMSISDN:      {airtelFailed, "DP00800001012", "DP00900001012", "Invalid mobile number"}, // a of collections
	payments.LimitExceeded:      {airtelFailed, "DP00800001003", "DP00900001003", "Amount limit exceeded"},
	payments.ServiceUnavailable: {airtelFailed, "", "", "Service unavailable"},
	payments.DuplicateReference: {airtelFailed, "", "DP00900001011", "Transaction id already exists"},
}

func newAirtelPayload(t *payments.Transaction) *airtelPayload {
	answer := airtelAnswers[t.Status]
	country, currency := string(t.Country), currencyCode(t)
	return &airtelPayload{
		Simulated:   true,
		Reference:   t.Reference,
		Subscriber:  airtelSubscriber{Country: country, Currency: currency, MSISDN: subscriber(t)},
		Transaction: airtelTransaction{Amount: t.Amount, Country: country, Currency: currency, ID: t.Reference},
		Data: airtelData{
			Transaction: airtelResult{ID: t.ProviderTxID(), Message: answer.message, Status: answer.status},
		},
		Status: newAirtelStatus(t, answer),
	}
}

func newAirtelStatus(t *payments.Transaction, answer airtelAnswer) airtelStatus {
	s := airtelStatus{
		Code:         "200", // a: a refused payment too is an answered request
		Message:      answer.message,
		ResultCode:   airtelProcessed,
		ResponseCode: answer.collection,
		Success:      answer.status == airtelSucceeded || answer.status == airtelInProgress,
	}
	if isPayout(t) && answer.payout != "" {
		s.ResponseCode = answer.payout
	}
	switch t.Status {
	case payments.DuplicateReference:
		s.ResultCode = airtelDuplicateID
	case payments.ServiceUnavailable:
		s.Code, s.ResultCode = "503", "" // a gateway that is away gives no code
	}
	return s
}
