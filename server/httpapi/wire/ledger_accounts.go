package wire

// LedgerAccount is the proof of one balance. It is exported, so that the schemas of structs that embed it have its
// fields.
type LedgerAccount struct {
	Account       string           `json:"account" doc:"Its name in double entries: float:RWF or testClient:+250788123456." example:"float:RWF"`
	Kind          string           `json:"kind" doc:"float: the merchant's balance in a currency. testClient: the balance of a SIM."`
	Currency      string           `json:"currency"`
	MSISDN        *string          `json:"msisdn" doc:"Number of the test client; null for a float."`
	Opening       int64            `json:"opening" doc:"The balance that the account began with."`
	Adjustments   int64            `json:"adjustments" doc:"By how much the configuration changed the balance since then."`
	Collections   int64            `json:"collections" doc:"By how much collections changed the balance: up for a float, which gets their netAmount, and down for a test client."`
	Refunds       int64            `json:"refunds" doc:"By how much refunds changed the balance: down for a float, up for a test client."`
	Disbursements int64            `json:"disbursements" doc:"By how much disbursements changed the balance: down for a float, up for a test client."`
	Balance       int64            `json:"balance" doc:"The sum of opening, adjustments, collections, refunds and disbursements, if the account is balanced."`
	Movements     int64            `json:"movements" doc:"Number of the last movement. Movements have the numbers 1, 2, 3 and so on."`
	Balanced      bool             `json:"balanced" doc:"false: see imbalance."`
	VerifiedUpTo  int64            `json:"verifiedUpTo" doc:"Number of the last movement that a worker verified: none is missing up to it, and each balance is the one before, changed by the movement."`
	VerifiedAt    *string          `json:"verifiedAt" format:"date-time" doc:"When a worker last verified the account. ISO 8601, UTC; null before the first time."`
	Imbalance     *LedgerImbalance `json:"imbalance" doc:"What is wrong; null for nothing."`
}

// LedgerImbalance locates the first difference between an account's balance and the sum of its movements.
type LedgerImbalance struct {
	Difference int64  `json:"difference" doc:"By how much the balance is above the sum of its movements; negative: below."`
	After      int64  `json:"after" doc:"Number of the last movement that is right; 0 for none."`
	Before     *int64 `json:"before" doc:"Number of the movement before which the difference is; null: it is after the last verified one, or in the balance itself."`
}

// LedgerAccountList is the answer of GET /v1/ledger.
type LedgerAccountList struct {
	Balanced   bool            `json:"balanced" doc:"Whether all accounts of the sandbox are balanced, those of the other pages too."`
	Data       []LedgerAccount `json:"data" doc:"The floats by currency, then the test clients by number. All are as they were at one moment."`
	NextCursor *string         `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool            `json:"hasMore"`
}

// VerifyFull is the value of the parameter that requests a verification from the first movement.
const VerifyFull = "full"
