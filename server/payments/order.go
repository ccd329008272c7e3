package payments

// Details are what a movement of money is asked with and recorded with, in the same words.
type Details struct {
	Reference    string // of an order, empty: one is generated, for a disbursement and a refund
	Currency     string // as sent; see [CanonicalCurrency]
	MSISDN       string // of the payer, or of the recipient
	OrderURL     *string
	URLProtected bool // marks that the order's link needs a permission
	Description  *string
	Scenario     Scenario // empty: nothing is forced
}

// Order is the order of a request to move money. Fields that requests of its type do not have are empty.
type Order struct {
	Details
	Operator Operator // empty: it is detected from the number, for a collection
	Country  Country  // empty: it is detected from the number, for a collection
	Amount   int64    // in whole units of the currency; 0: a refund of everything that is left
	Store    string   // the slug; empty: the sandbox's first store
	OrderRef string   // empty: the reference
	Parent   ID       // the collection that a refund belongs to
}
