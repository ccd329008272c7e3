package payments

// Order is the order of a request to move money. Fields that requests of its type do not have are empty.
type Order struct {
	Reference    string   // empty: one is generated, for a disbursement and a refund
	Operator     Operator // empty: it is detected from the number, for a collection
	Country      Country  // empty: it is detected from the number, for a collection
	Currency     string   // as sent; see [CanonicalCurrency]
	MSISDN       string   // of the payer, or of the recipient
	Amount       int64    // in whole units of the currency; 0: a refund of everything that is left
	Store        string   // the slug; empty: the sandbox's first store
	Scenario     Scenario // empty: nothing is forced
	OrderRef     string   // empty: the reference
	OrderURL     *string
	URLProtected bool
	Description  *string
	Parent       ID // the collection that a refund belongs to
}
