package wire

// PaymentList is the answer of GET /v1/payments.
type PaymentList struct {
	Data           []Payment `json:"data" doc:"Newest first."`
	NextCursor     *string   `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore        bool      `json:"hasMore"`
	PreviousCursor *string   `json:"previousCursor" doc:"Send it as before to get the page before this one; null on the first one."`
}
