package payments

import (
	"time"

	"github.com/cauri-dev/cauri/server/english"
)

// TestNumberSet says which test numbers a sandbox has.
type TestNumberSet string

// The sets of test numbers.
const (
	NoTestNumbers       TestNumberSet = "None"
	StandardTestNumbers TestNumberSet = "Standard" // those of [TestNumbers], in every enabled environment
)

// TestNumber is the behavior of a number that belongs to no SIM. It has no balance: money goes to it and comes from it
// as from an unregistered wallet.
type TestNumber struct {
	Suffix      string        // the last digits of the number, the same in every environment
	Status      Status        // of the answer to a new collection
	Behavior    Behavior      // what the holder does with a collection that is [Pending]; else empty
	Latency     time.Duration // of a collection, never scaled; 0: drawn from the range of the status
	Description english.Text  // of a collection from the number, a full sentence
}

// SlowLatency is the latency of the slow test number.
const SlowLatency = 20 * time.Second

// The behaviors of test numbers whose holder approves, with a fault of the callback. No test client has them.
const (
	ApproveWithoutCallback Behavior = "ApproveWithoutCallback" // no attempt to deliver the event succeeds
	ApproveCallbackTwice   Behavior = "ApproveCallbackTwice"   // the event is sent twice
	ApproveCallbackFirst   Behavior = "ApproveCallbackFirst"   // the event is sent before the payment is answered
)

// Confirmation returns what the holder does when asked to confirm a collection, without the fault of the callback.
func (b Behavior) Confirmation() Behavior {
	switch b {
	case ApproveWithoutCallback, ApproveCallbackTwice, ApproveCallbackFirst:
		return Approve
	}
	return b
}

// TestNumbers are the standard test numbers of an environment.
var TestNumbers = []TestNumber{
	{Suffix: "901", Status: Pending, Behavior: Approve, Description: "The payer approves."},
	{Suffix: "902", Status: InsufficientFunds, Description: "The payer has not enough money."},
	{Suffix: "903", Status: Pending, Behavior: WrongPIN, Description: "The payer enters a wrong PIN."},
	{Suffix: "904", Status: Pending, Behavior: Cancel, Description: "The payer cancels."},
	{Suffix: "905", Status: Pending, Behavior: Ignore, Description: "The payer never answers: the payment expires."},
	{Suffix: "906", Status: AccountBlocked, Description: "The account is blocked, also for disbursements."},
	{Suffix: "907", Status: LimitExceeded, Description: "The payment exceeds the payer's limit."},
	{Suffix: "908", Status: ServiceUnavailable, Description: "The operator is unavailable."},
	{Suffix: "909", Status: Pending, Behavior: Approve, Latency: SlowLatency, Description: "The payer approves after 20 seconds."},
	{Suffix: "910", Status: Pending, Behavior: ApproveWithoutCallback, Description: "The payer approves, and no callback arrives."},
	{Suffix: "911", Status: Pending, Behavior: ApproveCallbackTwice, Description: "The payer approves, and the callback arrives twice."},
	{Suffix: "912", Status: Pending, Behavior: ApproveCallbackFirst, Description: "The payer approves, and the callback arrives before " +
		"the answer."},
}

// TestNumberElsewhere is a test number at another operator or in another country than its own, where it is unknown.
var TestNumberElsewhere = &TestNumber{Status: UnknownMSISDN}

// CollectionOutcome returns the final status of a collection from the number, if its sandbox is not reset and its float
// is not full.
func (n *TestNumber) CollectionOutcome() Status {
	if n.Status != Pending {
		return n.Status
	}
	if n.Behavior == Ignore {
		return Timeout
	}
	return Answer(n.Behavior.Confirmation()).Outcome()
}

// DisbursementOutcome returns the status of a disbursement to the number, see [DisbursementFacts.Outcome].
func (n *TestNumber) DisbursementOutcome() Status {
	if n.Status == AccountBlocked || n.Status == UnknownMSISDN {
		return n.Status
	}
	return Success
}
