package view

import (
	"bytes"
	"encoding/json"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// PaymentOf returns the view of a transaction of any type. declared are the faults of the sandbox.
func PaymentOf(t *payments.Transaction, declared faults.Set) wire.Payment {
	v := wire.Payment{
		ID: t.ID.String(), Type: string(t.Type), Status: string(t.Status),
		Amount: t.Amount, Commission: t.Commission, NetAmount: t.NetAmount, CustomerTotal: t.CustomerTotal(),
		MerchantAbsorptionPct: t.AbsorptionPct, MerchantShare: t.MerchantShare(), CustomerShare: t.CustomerShare(),
		CommissionMode: string(t.CommissionMode()), Currency: t.Currency, Operator: string(t.Operator),
		Country: string(t.Country), MSISDN: t.MSISDN, Reference: t.Reference, OrderRef: t.OrderRef, OrderURL: t.OrderURL,
		IsURLProtected: t.URLProtected, Application: t.Store, EnvironmentID: t.EnvironmentID, ProviderTxID: t.ProviderTxID(),
		Description: t.Description, LatencyMs: t.Latency.Milliseconds(), CreatedAt: payments.FormatTime(t.CreatedAt),
		Source: "api", Faults: t.Faults, Effects: declared.Effects(t.Faults), Raw: operators.Raw(t),
	}
	if len(t.NativeRaw) > 0 { // what the operators' packages encode has no spaces
		v.Raw = appendCompact(nil, t.NativeRaw)
	}
	if t.NativeCall != "" {
		v.Source = "native"
	}
	if t.Scenario != "" {
		scenario := string(t.Scenario)
		v.Scenario = &scenario
	}
	if t.CompletedAt != nil {
		completed := payments.FormatTime(*t.CompletedAt)
		v.CompletedAt = &completed
	}
	if t.ParentID != nil {
		parent := t.ParentID.String()
		v.ParentTxID = &parent
	}
	if t.Type == payments.Collection {
		refunded, refundable := t.Refunded, t.Refundable()
		v.RefundedAmount, v.RefundableAmount = &refunded, &refundable
	}
	return v
}

// appendCompact appends a JSON value to b without insignificant spaces. It appends null if value is empty.
func appendCompact(b []byte, value json.RawMessage) []byte {
	out := bytes.NewBuffer(b)
	if value == nil || json.Compact(out, value) != nil { // a JSON column of the database always has valid JSON
		return append(b, "null"...)
	}
	return out.Bytes()
}
