package operators

import "github.com/cauri-dev/cauri/server/payments"

// orangePayload is a transaction as Orange's core API shows it (t).
type orangePayload struct {
	Simulated         bool    `json:"_simulated"`
	Status            string  `json:"status"`
	SubscriberMSISDN  string  `json:"subscriber_msisdn"`
	Amount            int64   `json:"amount"`
	TxnID             string  `json:"txnid"`
	PayToken          string  `json:"pay_token"`
	InitTxnStatus     string  `json:"inittxnstatus"`
	InitTxnMessage    string  `json:"inittxnmessage"`
	ConfirmTxnStatus  *string `json:"confirmtxnstatus"` // null while pending (t)
	ConfirmTxnMessage *string `json:"confirmtxnmessage"`
	OrderID           string  `json:"order_id"`
}

const (
	orangePending     = "PENDING"
	orangeSuccessfull = "SUCCESSFULL" // spelled as Orange spells it
	orangeFailed      = "FAILED"
	orangeExpired     = "EXPIRED"

	orangeOK      = "200"   // t
	orangeRefused = "60019" // t of missing funds and of a blocked account, a of the other failures
)

// orangeAnswer is how Orange tells an outcome. The code is empty as long as there is none.
type orangeAnswer struct{ status, code, message string }

// orangeAnswers are Orange's answers (t). It writes French without accents.
var orangeAnswers = map[payments.Status]orangeAnswer{
	payments.Success:            {orangeSuccessfull, orangeOK, "Transaction successfully processed"},
	payments.Pending:            {orangePending, "", ""},
	payments.PINInvalid:         {orangeFailed, orangeRefused, "Code PIN incorrect"}, // a
	payments.InsufficientFunds:  {orangeFailed, orangeRefused, "Le solde du compte du payeur est insuffisant"},
	payments.Timeout:            {orangeExpired, orangeRefused, "Delai de confirmation depasse"}, // a: code and text
	payments.AccountBlocked:     {orangeFailed, orangeRefused, "Utilisateur bloque"},
	payments.UserCancelled:      {orangeFailed, orangeRefused, "Transaction annulee par le client"}, // a
	payments.UnknownMSISDN:      {orangeFailed, orangeRefused, "Beneficiaire introuvable"},
	payments.LimitExceeded:      {orangeFailed, orangeRefused, "Montant superieur au montant maximum autorise"}, // a
	payments.ServiceUnavailable: {orangeFailed, orangeRefused, "Service momentanement indisponible"},            // a
	payments.DuplicateReference: {orangeFailed, orangeRefused, "Reference de transaction deja utilisee"},        // a
}

func newOrangePayload(t *payments.Transaction) *orangePayload {
	answer := orangeAnswers[t.Status]
	txn := t.ProviderTxID()
	p := &orangePayload{
		Simulated:        true,
		Status:           answer.status,
		SubscriberMSISDN: subscriber(t),
		Amount:           t.Amount,
		TxnID:            txn,
		PayToken:         "ORANGE_" + txn,
		InitTxnStatus:    orangeOK,
		InitTxnMessage:   "Ok",
		OrderID:          t.Reference,
	}
	if answer.code != "" {
		p.ConfirmTxnStatus = &answer.code
		p.ConfirmTxnMessage = &answer.message
	}
	return p
}
