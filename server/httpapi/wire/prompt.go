package wire

// Prompt is a pending payment that waits for the answer of its payer.
type Prompt struct {
	ID            string  `json:"id" doc:"Id of the payment that waits for an answer." example:"TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE"`
	Amount        int64   `json:"amount" doc:"Gross amount, in whole units of the currency."`
	CustomerTotal int64   `json:"customerTotal" doc:"What the payer pays after an approval."`
	Currency      string  `json:"currency" doc:"As sent."`
	Application   string  `json:"application" doc:"Slug of the store."`
	Reference     string  `json:"reference"`
	Description   *string `json:"description"`
	CreatedAt     string  `json:"createdAt" format:"date-time" doc:"ISO 8601, UTC."`
	ExpiresAt     string  `json:"expiresAt" format:"date-time" doc:"Without an answer, the payment ends TIMEOUT at this time."`
}

// PromptList is the answer of GET /v1/test_clients/{msisdn}/prompts.
type PromptList struct {
	Data       []Prompt `json:"data" doc:"Oldest first."`
	NextCursor *string  `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool     `json:"hasMore"`
}
