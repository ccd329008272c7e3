package proof

import (
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Account is an account with a balance: a float, or the SIM of a test client.
type Account struct {
	Currency payments.Currency
	MSISDN   string // empty for a float
}

// The kinds of accounts in double entries, the part of their names before the colon.
const (
	FloatAccount      = "float"
	TestClientAccount = "testClient"
	commissionAccount = "commission" // what the operators keep
	outsideAccount    = "outside"    // numbers that the sandbox has no SIM of
)

// Kind is FloatAccount or TestClientAccount.
func (a Account) Kind() string {
	if a.MSISDN != "" {
		return TestClientAccount
	}
	return FloatAccount
}

// String is the account's name in double entries.
func (a Account) String() string {
	if a.MSISDN != "" {
		return TestClientAccount + ":" + a.MSISDN
	}
	return FloatAccount + ":" + string(a.Currency)
}

// EntryType is what a double entry tells of: a type of transaction, or one of the two below.
type EntryType string

// The entries that no transaction made. They have an account of their own, which bears their name.
const (
	EntryOpening    EntryType = "opening"
	EntryAdjustment EntryType = "adjustment"
)

// EntryTypes are all types of entries.
var EntryTypes = []EntryType{
	EntryOpening, EntryAdjustment, EntryType(payments.Collection), EntryType(payments.Refund), EntryType(payments.Disbursement),
}

// Posting is one side of a double entry. The books are those of the operators, who owe each float and each test client
// its balance: a credit increases it, a debit decreases it.
type Posting struct {
	Account       string
	Debit, Credit int64
}

// Entry is a movement of an account's balance as a double entry: its debits equal its credits.
type Entry struct {
	Number       int64 // among the movements of the account
	At           time.Time
	Type         EntryType
	Transaction  *payments.ID // nil for one that no transaction made
	Reference    string       // of the transaction, as its OrderRef
	OrderRef     string
	Currency     payments.Currency
	Postings     []Posting
	BalanceAfter int64
}

// transfer is what a successful transaction moved.
type transfer struct {
	kind          payments.Type
	currency      payments.Currency // of the float
	merchantDelta int64
	simDelta      int64 // zero where no SIM had a part in it
	commission    int64
	msisdn        string // of the other party
}

// postings are those of a transaction. They tell what is recorded of both balances: debits differ from credits where a
// record was changed.
func (t *transfer) postings() []Posting {
	merchant := Account{Currency: t.currency}.String()
	party, paid := outsideAccount+":"+string(t.currency), t.merchantDelta
	if t.kind == payments.Collection {
		paid += t.commission
	}
	if t.simDelta != 0 {
		party, paid = Account{MSISDN: t.msisdn}.String(), -t.simDelta
	}
	if t.kind != payments.Collection {
		return []Posting{debit(merchant, -t.merchantDelta), debit(party, paid)}
	}
	all := []Posting{debit(party, paid), debit(merchant, -t.merchantDelta)}
	if t.commission != 0 {
		all = append(all, debit(commissionAccount+":"+string(t.currency), -t.commission))
	}
	return all
}

// adjusted are the postings of a change of a balance that no transaction made.
func adjusted(t EntryType, of Account, delta int64) []Posting {
	return []Posting{debit(string(t)+":"+string(of.Currency), delta), debit(of.String(), -delta)}
}

// debit debits an account, or credits it with an amount below zero.
func debit(account string, amount int64) Posting {
	return Posting{Account: account, Debit: max(amount, 0), Credit: max(-amount, 0)}
}
