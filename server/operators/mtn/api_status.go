package mtn

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// collectionStatus is MTN's status of a request to pay or to withdraw, with MTN's order of fields (Documented).
type collectionStatus struct {
	FinancialTransactionID string `json:"financialTransactionId,omitempty"`
	ExternalID             string `json:"externalId"`
	Amount                 string `json:"amount"`
	Currency               string `json:"currency"`
	Payer                  Party  `json:"payer"`
	PayerMessage           string `json:"payerMessage"`
	PayeeNote              string `json:"payeeNote"`
	Status                 string `json:"status"`
	Reason                 string `json:"reason,omitempty"`
}

// payoutStatus is MTN's status of a transfer, a deposit or a refund (Documented).
type payoutStatus struct {
	Amount                 string `json:"amount"`
	Currency               string `json:"currency"`
	FinancialTransactionID string `json:"financialTransactionId,omitempty"`
	ExternalID             string `json:"externalId"`
	Payee                  Party  `json:"payee"`
	PayerMessage           string `json:"payerMessage"`
	PayeeNote              string `json:"payeeNote"`
	Status                 string `json:"status"`
	Reason                 string `json:"reason,omitempty"`
}

// statusBody returns MTN's status of a transaction.
func statusBody(t *payments.Transaction, raw json.RawMessage, how operatorapi.StatusView) (any, error) {
	var s sent
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("reading what was sent for %s: %w", t.ID, err)
	}
	c := collectionStatus{
		ExternalID: s.ExternalID, Amount: strconv.FormatInt(t.Amount, 10), Currency: s.Currency, Payer: s.Party, PayerMessage: s.PayerMessage,
		PayeeNote: s.PayeeNote, Status: failed,
	}
	switch {
	case t.Status == payments.Pending:
		c.Status = cmp.Or(s.Begins, pending)
	case isPaid(t):
		c.Status, c.FinancialTransactionID = successful, financialTransactionID(t)
	default:
		c.Reason = nativeReason(t, &s, how)
	}
	if t.Type == payments.Collection {
		return c, nil
	}
	return payoutStatus{
		Amount: c.Amount, Currency: c.Currency, FinancialTransactionID: c.FinancialTransactionID, ExternalID: c.ExternalID, Payee: c.Payer,
		PayerMessage: c.PayerMessage, PayeeNote: c.PayeeNote, Status: c.Status, Reason: c.Reason,
	}, nil
}

func isPaid(t *payments.Transaction) bool { return t.Status == payments.Success }

// nativeReason returns MTN's reason of a failed transaction. In answers, a reason is always a string (Documented).
func nativeReason(t *payments.Transaction, s *sent, how operatorapi.StatusView) string {
	switch {
	case how.Reason != "":
		return how.Reason
	case how.Vague:
		return internalError
	case s.Reason != "" && s.ReasonOf == t.Status:
		return s.Reason
	case t.Status == payments.AccountBlocked && adapter.IsPayout(t):
		return "PAYEE_NOT_ALLOWED_TO_RECEIVE" // Assumed
	}
	return reason(t)
}

// financialTransactionID returns MTN's number of a transaction. It has ten digits (Documented), and is derived from
// Cauri's id.
func financialTransactionID(t *payments.Transaction) string {
	const first, count = 1_000_000_000, 9_000_000_000
	hash := sha256.Sum256([]byte(t.ProviderTxID()))
	return strconv.FormatUint(first+binary.BigEndian.Uint64(hash[:])%count, 10)
}

// newCallback returns the callback of a transaction with an outcome. It is unsigned and does not contain the reference.
// MTN's documentation names two methods: Cauri uses PUT for calls of version 2_0, and POST for others.
func newCallback(t *payments.Transaction, raw json.RawMessage, how operatorapi.StatusView) operatorapi.Callback {
	c := operatorapi.Callback{
		Method: http.MethodPost,
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}, "User-Agent": {"LWAC Http Client 1.0"}},
	}
	var s sent
	if json.Unmarshal(raw, &s) == nil && s.Second {
		c.Method = http.MethodPut
	}
	body, err := statusBody(t, raw, how)
	if err != nil {
		body = map[string]string{"status": failed, "reason": internalError}
	}
	c.Body = adapter.Encode(body)
	return c
}
