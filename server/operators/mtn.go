package operators

import (
	"strconv"

	"github.com/cauri-dev/cauri/server/payments"
)

// mtnPayload is what MTN's Open API answers to a query for a request to pay or, with a payee in the place of the payer,
// for a transfer (o).
type mtnPayload struct {
	Simulated              bool      `json:"_simulated"`
	Amount                 string    `json:"amount"`
	Currency               string    `json:"currency"`
	ExternalID             string    `json:"externalId"`
	Payer                  *mtnParty `json:"payer,omitempty"`
	Payee                  *mtnParty `json:"payee,omitempty"`
	PayerMessage           string    `json:"payerMessage"`
	PayeeNote              string    `json:"payeeNote"`
	Status                 string    `json:"status"`
	FinancialTransactionID string    `json:"financialTransactionId,omitempty"` // of a success only
	Reason                 string    `json:"reason,omitempty"`                 // of a failure only
	Message                string    `json:"message,omitempty"`                // of a failure that is not MTN's: why its API was not reached
}

type mtnParty struct {
	PartyIDType string `json:"partyIdType"`
	PartyID     string `json:"partyId"`
}

const (
	mtnPending    = "PENDING"
	mtnSuccessful = "SUCCESSFUL"
	mtnFailed     = "FAILED"
)

// mtnReasons are the reasons of failed transactions (o).
var mtnReasons = map[payments.Status]string{
	payments.PINInvalid:         "APPROVAL_REJECTED", // a: MTN has no word for a wrong PIN
	payments.InsufficientFunds:  "NOT_ENOUGH_FUNDS",
	payments.Timeout:            "EXPIRED",
	payments.AccountBlocked:     "SENDER_ACCOUNT_NOT_ACTIVE",
	payments.UserCancelled:      "APPROVAL_REJECTED",
	payments.UnknownMSISDN:      "PAYER_NOT_FOUND",
	payments.LimitExceeded:      "PAYER_LIMIT_REACHED",
	payments.ServiceUnavailable: "SERVICE_UNAVAILABLE",
	payments.DuplicateReference: "RESOURCE_ALREADY_EXIST",
}

// mtnPayeeNotFound is the reason of a payout to a number without an account (o).
const mtnPayeeNotFound = "PAYEE_NOT_FOUND"

func newMTNPayload(t *payments.Transaction) *mtnPayload {
	p := &mtnPayload{
		Simulated:    true,
		Amount:       strconv.FormatInt(t.Amount, 10),
		Currency:     currencyCode(t),
		ExternalID:   t.Reference,
		PayerMessage: payerMessage(t),
		PayeeNote:    t.Reference,
	}
	party := &mtnParty{PartyIDType: "MSISDN", PartyID: subscriber(t)}
	if isPayout(t) {
		p.Payee = party
	} else {
		p.Payer = party
	}
	switch t.Status {
	case payments.Pending:
		p.Status = mtnPending
	case payments.Success:
		p.Status = mtnSuccessful
		p.FinancialTransactionID = t.ProviderTxID()
	default:
		p.Status = mtnFailed
		p.Reason = mtnReason(t)
	}
	return p
}

func mtnReason(t *payments.Transaction) string {
	if t.Status == payments.UnknownMSISDN && isPayout(t) {
		return mtnPayeeNotFound
	}
	return mtnReasons[t.Status]
}
