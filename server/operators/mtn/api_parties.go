package mtn

import (
	"time"

	"github.com/cauri-dev/cauri/server/operators/native"
	"github.com/cauri-dev/cauri/server/payments"
)

// The test numbers of MTN's own sandbox, which act under the target sandbox where no test client has the number. Documented is which
// outcome each has; observed are 450 to 454; that the others are accepted first, and fail then, is assumed.
const (
	testPrefix = "+46733123"
	slowParty  = 25 * time.Second // 25 to 30 s (o)
)

// failing is a party whose orders fail with a reason for which Cauri has no status of its own.
func failing(reason string) testParty {
	return testParty{status: payments.ServiceUnavailable, reason: reason}
}

// collectionParties are the payers of requests to pay and to withdraw, and the payees of deposits.
var collectionParties = map[string]testParty{
	"450": failing(internalError),
	"451": {status: payments.UserCancelled},
	"452": {status: payments.Timeout},
	"453": {status: payments.Pending, behavior: payments.Ignore},
	"454": {status: payments.Pending, behavior: payments.Approve, slow: true},
	"455": {status: payments.UnknownMSISDN, reason: "PAYER_NOT_FOUND"},
	"456": failing("PAYEE_NOT_ALLOWED_TO_RECEIVE"),
	"457": failing("NOT_ALLOWED"),
	"458": failing("NOT_ALLOWED_TARGET_ENVIRONMENT"),
	"459": failing("INVALID_CALLBACK_URL_HOST"),
	"460": failing("INVALID_CURRENCY"),
	"461": failing(internalError),
	"462": failing(codeUnavailable),
	"463": failing("COULD_NOT_PERFORM_TRANSACTION"),
	"464": failing("TRANSFER_TYPE_UNKNOWN"), // a: the code; documented is "transfer type unknown"
}

// transferParties are the payees of transfers.
var transferParties = map[string]testParty{
	"450": failing(internalError),
	"451": {status: payments.UserCancelled},
	"452": {status: payments.Timeout},
	"455": {status: payments.InsufficientFunds},
	"456": {status: payments.LimitExceeded},
	"457": {status: payments.UnknownMSISDN},
	"458": failing("NOT_ALLOWED"),
	"459": failing("NOT_ALLOWED_TARGET_ENVIRONMENT"),
	"460": failing("INVALID_CALLBACK_URL_HOST"),
	"461": failing("INVALID_CURRENCY"),
	"462": failing(internalError),
	"463": failing(codeUnavailable),
	"464": failing("TRANSFER_TYPE_UNKNOWN"), // a, as above
}

// inactiveHolder is an account that is there and not active.
const inactiveHolder native.Why = "inactive"

// holderParties are what the calls about account holders answer.
var holderParties = map[string]native.Why{
	"450": native.NotFound, "451": inactiveHolder, "452": notAllowed, "453": wrongTarget, "454": native.Internal, "455": native.Unavailable,
}
