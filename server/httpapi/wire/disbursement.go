package wire

// Disbursement is the answer of POST /v1/disbursements.
type Disbursement struct {
	TxID                  string   `json:"tx_id" doc:"Transaction id." example:"TX_0SGCEVCRD35J7GWVBNSNZ5FWYM"`
	Type                  string   `json:"type" enum:"disbursement"`
	Status                string   `json:"status"`
	Amount                int64    `json:"amount" minimum:"1"`
	MerchantBalanceAfter  *int64   `json:"merchant_balance_after,omitempty" doc:"The merchant's float after the disbursement."`
	RecipientBalanceAfter *int64   `json:"recipient_balance_after" doc:"The balance of the recipient's SIM after the credit; null if no SIM was credited."`
	Idempotent            bool     `json:"idempotent" doc:"The disbursement existed already."`
	Faults                []string `json:"faults,omitempty" doc:"Names of the sandbox's faults that acted on the disbursement. Absent if there are none."`
}
