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

// The kinds of accounts in double entries. A kind is the part of an account's name before the colon.
const (
	FloatAccount      = "float"
	TestClientAccount = "testClient"
	commissionAccount = "commission" // what the operators keep
	outsideAccount    = "outside"    // numbers without a SIM in the sandbox
)

// Kind returns FloatAccount or TestClientAccount.
func (a Account) Kind() string {
	if a.MSISDN != "" {
		return TestClientAccount
	}
	return FloatAccount
}

// String returns the account's name in double entries.
func (a Account) String() string {
	if a.MSISDN != "" {
		return TestClientAccount + ":" + a.MSISDN
	}
	return FloatAccount + ":" + string(a.Currency)
}

// EntryType is the cause of a double entry: a type of transaction, or one of the two below.
type EntryType string

// The types of entries that no transaction made. Each has an account of its own, with the name of the type.
const (
	EntryOpening    EntryType = "opening"
	EntryAdjustment EntryType = "adjustment"
)

// EntryTypes are all types of entries.
var EntryTypes = []EntryType{
	EntryOpening, EntryAdjustment, EntryType(payments.Collection), EntryType(payments.Refund), EntryType(payments.Disbursement),
}

// Posting is one side of a double entry. The books are the operators' books. An operator owes each float and each test
// client its balance, so a credit increases a balance and a debit decreases it.
type Posting struct {
	Account       string
	Debit, Credit int64
}

// Entry is a movement of an account's balance as a double entry: its debits equal its credits.
type Entry struct {
	Number       int64 // number of the movement within the account
	At           time.Time
	Type         EntryType
	Transaction  *payments.ID // nil: no transaction made the entry
	Reference    string       // reference of the transaction; OrderRef is also from the transaction
	OrderRef     string
	Currency     payments.Currency
	Postings     []Posting
	BalanceAfter int64
}

// transfer has the amounts that a successful transaction moved.
type transfer struct {
	kind          payments.Type
	currency      payments.Currency // of the float
	merchantDelta int64
	simDelta      int64 // zero if no SIM took part
	commission    int64
	msisdn        string // of the other party
}

// postings returns the postings of a transaction from the recorded changes of both balances. If somebody changed a
// record, the debits differ from the credits.
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

// adjusted returns the postings of a change of a balance that no transaction made.
func adjusted(t EntryType, of Account, delta int64) []Posting {
	return []Posting{debit(string(t)+":"+string(of.Currency), delta), debit(of.String(), -delta)}
}

// debit returns a posting that debits an account. If the amount is negative, it credits the account.
func debit(account string, amount int64) Posting {
	return Posting{Account: account, Debit: max(amount, 0), Credit: max(-amount, 0)}
}
