package operators

import (
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// moovPayload is a transaction as Moov's API shows it (t).
type moovPayload struct {
	Simulated         bool   `json:"_simulated"`
	ResponseCode      string `json:"responseCode"`
	ResponseMessage   string `json:"responseMessage"`
	TransactionID     string `json:"transactionId"`
	ExternalReference string `json:"externalReference"`
	Amount            int64  `json:"amount"`
	Currency          string `json:"currency"`
	PhoneNumber       string `json:"phoneNumber"`
	Timestamp         string `json:"timestamp"` // RFC 3339, UTC
}

// moovAnswer is how Moov tells an outcome.
type moovAnswer struct{ code, message string }

// moovAnswers are Moov's answers: the codes are t unless marked, the texts are a. Codes are shared where Moov does not
// tell outcomes apart; the text then does.
var moovAnswers = map[payments.Status]moovAnswer{
	payments.Success:            {"0", "Success"},
	payments.Pending:            {"100", "Pending"},
	payments.PINInvalid:         {"95", "Failed: wrong PIN"}, // a
	payments.InsufficientFunds:  {"51", "Insufficient funds"},
	payments.Timeout:            {"92", "USSD timeout"},
	payments.AccountBlocked:     {"7", "Account locked"}, // a
	payments.UserCancelled:      {"92", "Cancelled by the subscriber"},
	payments.UnknownMSISDN:      {"555", "Subscriber not registered"},
	payments.LimitExceeded:      {"13", "Daily maximum exceeded"},
	payments.ServiceUnavailable: {"99", "Internal error: service unavailable"}, // a
	payments.DuplicateReference: {"95", "Failed: duplicate reference"},         // a
}

func newMoovPayload(t *payments.Transaction) *moovPayload {
	answer := moovAnswers[t.Status]
	return &moovPayload{
		Simulated:         true,
		ResponseCode:      answer.code,
		ResponseMessage:   answer.message,
		TransactionID:     t.ProviderTxID(),
		ExternalReference: t.Reference,
		Amount:            t.Amount,
		Currency:          currencyCode(t),
		PhoneNumber:       subscriber(t),
		Timestamp:         moovTimestamp(t),
	}
}

// moovTimestamp is when the transaction got the status that it has. It is not the current time: the payload of a
// transaction must not change from one reading to the next.
func moovTimestamp(t *payments.Transaction) string {
	at := t.CreatedAt
	if t.CompletedAt != nil {
		at = *t.CompletedAt
	}
	return at.UTC().Format(time.RFC3339)
}
