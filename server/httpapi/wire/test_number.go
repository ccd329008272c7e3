package wire

// TestNumber is a phone number with a fixed behavior that needs no test client.
type TestNumber struct {
	MSISDN              string  `json:"msisdn" doc:"The number."`
	Operator            string  `json:"operator" doc:"Its operator, where a request leaves it out."`
	Country             string  `json:"country" doc:"Its country, where a request leaves it out."`
	Currency            string  `json:"currency" doc:"Currency of the country."`
	Behavior            *string `json:"behavior" doc:"What its holder does when asked to confirm a payment. Null if nobody is asked."`
	CollectionOutcome   string  `json:"collectionOutcome" doc:"Final status of a payment from it."`
	DisbursementOutcome string  `json:"disbursementOutcome" doc:"Final status of a disbursement to it, if the float suffices."`
	Description         string  `json:"description"`
}

// TestNumberList is the answer of GET /v1/test_numbers.
type TestNumberList struct {
	Data         []TestNumber `json:"data" doc:"Ordered by country, operator and number. Empty if the sandbox has none."`
	Environments []Market     `json:"environments" doc:"Enabled environments of the sandbox, in its order. Examples are of the first one."`
}

// Market is an operator in a country.
type Market struct {
	Operator string `json:"operator"`
	Country  string `json:"country"`
}
