package wire

import (
	"encoding/json"
)

// Payment is the view of a transaction, also in lists. Raw has no insignificant spaces.
type Payment struct {
	ID                    string          `json:"id" doc:"Transaction id. Webhooks name it tx_id." example:"TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE"`
	Type                  string          `json:"type" enum:"collection,refund,disbursement" doc:"A collection is a payment of a customer."`
	Status                string          `json:"status" doc:"PENDING is the only status that changes."`
	Amount                int64           `json:"amount" doc:"Gross amount, in whole units of the currency."`
	Commission            int64           `json:"commission" doc:"amount x the environment's rate, rounded half up; 0 on payouts."`
	NetAmount             int64           `json:"netAmount" doc:"Credited to the merchant. Reconcile on it once the status is final."`
	CustomerTotal         int64           `json:"customerTotal" doc:"Debited from the payer: netAmount + commission."`
	MerchantAbsorptionPct int             `json:"merchantAbsorptionPct" doc:"Percentage of the commission that the merchant absorbs."`
	MerchantShare         int64           `json:"merchantShare" doc:"Commission that the merchant bears: amount - netAmount."`
	CustomerShare         int64           `json:"customerShare" doc:"Commission that the customer bears: commission - merchantShare."`
	CommissionMode        string          `json:"commissionMode" enum:"customer,merchant" doc:"Who bears the larger share; ties count as the merchant's."`
	Currency              string          `json:"currency" doc:"As sent."`
	Operator              string          `json:"operator" doc:"As sent or detected."`
	Country               string          `json:"country" doc:"As sent or detected."`
	MSISDN                string          `json:"msisdn" doc:"The customer's number."`
	Reference             string          `json:"reference" doc:"As sent, or generated for a payout."`
	OrderRef              string          `json:"orderRef" doc:"The reference if none was sent."`
	OrderURL              *string         `json:"orderUrl" doc:"Link to the order."`
	IsURLProtected        bool            `json:"isUrlProtected" doc:"Whether the order's link needs a permission."`
	ParentTxID            *string         `json:"parentTxId" doc:"The collection that a refund belongs to."`
	Application           string          `json:"application" doc:"Slug of the store."`
	EnvironmentID         string          `json:"environmentId" doc:"The operator and country that it was made in."`
	ProviderTxID          string          `json:"providerTxId" doc:"The operator's id of the transaction."`
	Description           *string         `json:"description" doc:"As sent."`
	Scenario              *string         `json:"scenario" doc:"The forced outcome, null for none."`
	Source                string          `json:"source" enum:"api,native" doc:"api: it was made through this API. native: through the operator's own, see /operators."`
	LatencyMs             int64           `json:"latencyMs" doc:"Simulated operator latency in milliseconds, before the sandbox scales it."`
	CreatedAt             string          `json:"createdAt" format:"date-time" doc:"ISO 8601, UTC."`
	CompletedAt           *string         `json:"completedAt" format:"date-time" doc:"null while PENDING."`
	RefundedAmount        *int64          `json:"refundedAmount,omitempty" doc:"Sum of the successful refunds; collections only."`
	RefundableAmount      *int64          `json:"refundableAmount,omitempty" doc:"What is left to refund; collections only."`
	Faults                []string        `json:"faults,omitempty" doc:"Names of the sandbox's faults that acted on the transaction. Absent if there are none."`
	Effects               []string        `json:"effects,omitempty" doc:"What these faults do, in words, as the sandbox declares them now: twice: sent 2 times."`
	Raw                   json.RawMessage `json:"raw" doc:"The operator-native payload; _simulated is true in it."`
}
