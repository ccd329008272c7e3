// Package orange has the payloads (payload.go) and a client (client.go) of Orange's own API, and a simulation of that
// API (api.go). Package operators explains the marks Documented, ThirdParty and Assumed.
package orange

import (
	"encoding/json"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// Payload is a transaction in the format of Orange's core API (ThirdParty).
type Payload struct {
	Simulated         bool    `json:"_simulated"`
	Status            string  `json:"status"`
	SubscriberMSISDN  string  `json:"subscriber_msisdn"`
	Amount            int64   `json:"amount"`
	TxnID             string  `json:"txnid"`
	PayToken          string  `json:"pay_token"`
	InitTxnStatus     string  `json:"inittxnstatus"`
	InitTxnMessage    string  `json:"inittxnmessage"`
	ConfirmTxnStatus  *string `json:"confirmtxnstatus"` // null while pending (ThirdParty)
	ConfirmTxnMessage *string `json:"confirmtxnmessage"`
	OrderID           string  `json:"order_id"`

	// These fields are set only for a forwarded collection that waits for its payer. PaymentURL is the page on which
	// the payer confirms the collection. OperatorOrderID is the id of its order at the operator.
	PaymentURL      string `json:"payment_url,omitempty"`
	OperatorOrderID string `json:"operator_order_id,omitempty"`
}

const (
	pending     = "PENDING"
	successfull = "SUCCESSFULL" // spelled as Orange spells it
	failed      = "FAILED"
	expired     = "EXPIRED"

	codeOK  = "200"   // ThirdParty
	refused = "60019" // ThirdParty for missing funds and a blocked account, Assumed for the others
)

// answer is Orange's report of an outcome. The code is empty while the payment is pending.
type answer struct{ status, code, message string }

// answers are the answers of Orange (ThirdParty). Orange writes French without accents.
var answers = map[payments.Status]answer{
	payments.Success:            {successfull, codeOK, "Transaction successfully processed"},
	payments.Pending:            {pending, "", ""},
	payments.PINInvalid:         {failed, refused, "Code PIN incorrect"}, // Assumed
	payments.InsufficientFunds:  {failed, refused, "Le solde du compte du payeur est insuffisant"},
	payments.Timeout:            {expired, refused, "Delai de confirmation depasse"}, // Assumed: code and text
	payments.AccountBlocked:     {failed, refused, "Utilisateur bloque"},
	payments.UserCancelled:      {failed, refused, "Transaction annulee par le client"}, // Assumed
	payments.UnknownMSISDN:      {failed, refused, "Beneficiaire introuvable"},
	payments.LimitExceeded:      {failed, refused, "Montant superieur au montant maximum autorise"}, // Assumed
	payments.ServiceUnavailable: {failed, refused, "Service momentanement indisponible"},            // Assumed
	payments.DuplicateReference: {failed, refused, "Reference de transaction deja utilisee"},        // Assumed
}

// Raw returns the encoded payload of a transaction.
func Raw(t *payments.Transaction) json.RawMessage { return adapter.Encode(NewPayload(t)) }

// Unavailable returns the payload of a collection that ended with [payments.ServiceUnavailable] because Orange's API
// could not be used. Its message is the parameter reason.
func Unavailable(t *payments.Transaction, reason string) json.RawMessage {
	p := NewPayload(adapter.Ended(t, payments.ServiceUnavailable))
	p.ConfirmTxnMessage = &reason
	return adapter.Encode(p)
}

// NewPayload returns the payload of a transaction of any type and status.
func NewPayload(t *payments.Transaction) *Payload {
	answer := answers[t.Status]
	txn := t.ProviderTxID()
	p := &Payload{
		Simulated:        true,
		Status:           answer.status,
		SubscriberMSISDN: adapter.Subscriber(t),
		Amount:           t.Amount,
		TxnID:            txn,
		PayToken:         "ORANGE_" + txn,
		InitTxnStatus:    codeOK,
		InitTxnMessage:   "Ok",
		OrderID:          t.Reference,
	}
	if answer.code != "" {
		p.ConfirmTxnStatus = &answer.code
		p.ConfirmTxnMessage = &answer.message
	}
	return p
}
