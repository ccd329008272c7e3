package wire

// LedgerEntry is a movement of one account's balance as a double entry. It is exported, so that the schemas of structs
// that embed it have its fields.
type LedgerEntry struct {
	Number    int64     `json:"number" doc:"Of the movement, among those of the account: 1, 2, 3 and so on without a gap."`
	Time      string    `json:"time" format:"date-time" doc:"When the money moved. ISO 8601, UTC."`
	Type      string    `json:"type" doc:"opening and adjustment: the configuration set the balance. The others are types of transaction."`
	TxID      *string   `json:"txId" doc:"The transaction; null for opening and adjustment."`
	Reference *string   `json:"reference" doc:"Of the transaction."`
	OrderRef  *string   `json:"orderRef" doc:"Of the transaction."`
	Currency  string    `json:"currency"`
	Postings  []Posting `json:"postings" doc:"What the entry debits and credits. The sum of the debits is the sum of the credits."`
	Balance   int64     `json:"balance" doc:"Of the account, after the entry."`
}

// Posting is one side of a double entry.
type Posting struct {
	Account string `json:"account" doc:"float:RWF, testClient:+250788123456, commission:RWF, outside:RWF (numbers that have no SIM), opening:RWF or adjustment:RWF." example:"float:RWF"`
	Debit   int64  `json:"debit" doc:"0 for a credit. A debit decreases the balance of a float or a test client."`
	Credit  int64  `json:"credit" doc:"0 for a debit. A credit increases the balance of a float or a test client."`
}

// LedgerEntryList is the answer of GET /v1/ledger/entries.
type LedgerEntryList struct {
	Account        string        `json:"account" doc:"The account whose entries these are." example:"float:RWF"`
	Data           []LedgerEntry `json:"data" doc:"In the order of their numbers."`
	NextCursor     *string       `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore        bool          `json:"hasMore"`
	PreviousCursor *string       `json:"previousCursor" doc:"Send it as before to get the page before this one; null on the first one."`
}

// MaxEntries is the maximum number of entries on a page. It is higher than [MaxLimit], because entries are small and an
// account may have a million.
const MaxEntries = 1000
