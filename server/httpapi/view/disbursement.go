package view

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// DisbursementOf returns the view of a disbursement. replayed is whether an earlier request recorded it.
func DisbursementOf(t *payments.Transaction, replayed bool) wire.Disbursement {
	return wire.Disbursement{
		TxID: t.ID.String(), Type: string(t.Type), Status: string(t.Status), Amount: t.Amount,
		MerchantBalanceAfter: t.MerchantBalanceAfter, RecipientBalanceAfter: t.SIMBalanceAfter, Idempotent: replayed,
		Faults: t.Faults,
	}
}
