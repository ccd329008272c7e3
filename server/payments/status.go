package payments

// Status is the status of a transaction. Only [Pending] is not final.
type Status string

// The eleven statuses of the contract.
const (
	Pending            Status = "PENDING"
	Success            Status = "SUCCESS"
	PINInvalid         Status = "PIN_INVALID"
	InsufficientFunds  Status = "INSUFFICIENT_FUNDS"
	Timeout            Status = "TIMEOUT"
	AccountBlocked     Status = "ACCOUNT_BLOCKED"
	UserCancelled      Status = "USER_CANCELLED"
	UnknownMSISDN      Status = "UNKNOWN_MSISDN"
	LimitExceeded      Status = "LIMIT_EXCEEDED"
	ServiceUnavailable Status = "SERVICE_UNAVAILABLE"
	DuplicateReference Status = "DUPLICATE_REFERENCE"
)

// Statuses lists every status, in the order of the contract.
var Statuses = []Status{
	Success, PINInvalid, InsufficientFunds, Timeout, AccountBlocked, UserCancelled,
	UnknownMSISDN, LimitExceeded, ServiceUnavailable, DuplicateReference, Pending,
}

// Terminal reports whether s is final.
func (s Status) Terminal() bool { return s != Pending }

// Type is the direction of a transaction.
type Type string

// The three directions.
const (
	Collection   Type = "collection"   // customer to merchant
	Refund       Type = "refund"       // merchant to customer, linked to a collection
	Disbursement Type = "disbursement" // merchant to any number, linked to nothing
)

// Event returns the name of the event that is sent when a transaction of this type reaches a terminal status.
func (t Type) Event() string {
	switch t {
	case Refund:
		return "payment.refunded"
	case Disbursement:
		return "disbursement.completed"
	default:
		return "payment.completed"
	}
}

// Types lists every type.
var Types = []Type{Collection, Refund, Disbursement}
