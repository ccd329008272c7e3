package wire

// PaymentList is the answer of GET /v1/payments.
type PaymentList struct {
	Data           []Payment `json:"data" doc:"Newest first."`
	NextCursor     *string   `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore        bool      `json:"hasMore"`
	PreviousCursor *string   `json:"previousCursor" doc:"Send it as before to get the page before this one; null on the first one."`
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
