package wire

// appendJSON implements appender.
func (v Payment) appendJSON(b []byte) []byte {
	o := jsonObject(append(b, '{'))
	o.text("id", v.ID)
	o.text("type", v.Type)
	o.text("status", v.Status)
	o.integer("amount", v.Amount)
	o.integer("commission", v.Commission)
	o.integer("netAmount", v.NetAmount)
	o.integer("customerTotal", v.CustomerTotal)
	o.integer("merchantAbsorptionPct", int64(v.MerchantAbsorptionPct))
	o.integer("merchantShare", v.MerchantShare)
	o.integer("customerShare", v.CustomerShare)
	o.text("commissionMode", v.CommissionMode)
	o.text("currency", v.Currency)
	o.text("operator", v.Operator)
	o.text("country", v.Country)
	o.text("msisdn", v.MSISDN)
	o.text("reference", v.Reference)
	o.text("orderRef", v.OrderRef)
	o.optionalText("orderUrl", v.OrderURL)
	o.boolean("isUrlProtected", v.IsURLProtected)
	o.optionalText("parentTxId", v.ParentTxID)
	o.text("application", v.Application)
	o.text("environmentId", v.EnvironmentID)
	o.text("providerTxId", v.ProviderTxID)
	o.optionalText("description", v.Description)
	o.optionalText("scenario", v.Scenario)
	o.text("source", v.Source)
	o.integer("latencyMs", v.LatencyMs)
	o.text("createdAt", v.CreatedAt)
	o.optionalText("completedAt", v.CompletedAt)
	if v.RefundedAmount != nil {
		o.integer("refundedAmount", *v.RefundedAmount)
	}
	if v.RefundableAmount != nil {
		o.integer("refundableAmount", *v.RefundableAmount)
	}
	o.texts("faults", v.Faults)
	o.texts("effects", v.Effects)
	if v.Raw == nil {
		o.null("raw")
		return append(o, '}')
	}
	o.name("raw")
	return append(append(o, v.Raw...), '}')
}

// appendJSON implements appender.
func (v PaymentList) appendJSON(b []byte) []byte {
	b = append(b, `{"data":[`...)
	for i, payment := range v.Data {
		if i > 0 {
			b = append(b, ',')
		}
		b = payment.appendJSON(b)
	}
	o := jsonObject(append(b, ']'))
	o.optionalText("nextCursor", v.NextCursor)
	o.boolean("hasMore", v.HasMore)
	o.optionalText("previousCursor", v.PreviousCursor)
	return append(o, '}')
}
