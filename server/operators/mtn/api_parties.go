package mtn

import (
	"maps"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// This file has the test numbers of MTN's own sandbox. They work only in the target environment sandbox, and only if no
// test client has the number. MTN documents their outcomes (Documented). The numbers ending in 450 to 454, and
// 56733123453, were also observed. For the other numbers, Cauri accepts the request first and fails the payment later
// (Assumed).

// testParty is the behavior of a test number in MTN's own sandbox.
type testParty struct {
	status   payments.Status
	behavior payments.Behavior // behavior of the payer while the payment is pending
	latency  time.Duration     // time until the payer answers; zero: the usual latency
	begins   string            // MTN's status while the payment is pending; empty: PENDING
	reason   string            // reason of the failure; empty: it follows from Cauri's status
}

// number returns the party as a test number of Cauri.
func (p testParty) number() *payments.TestNumber {
	return &payments.TestNumber{Status: p.status, Behavior: p.behavior, Latency: p.latency}
}

// failing returns a party whose payments fail with a reason that has no status in Cauri.
func failing(reason string) testParty {
	return testParty{status: payments.ServiceUnavailable, reason: reason}
}

// paying returns a party that pays after a latency. begins is MTN's status until then.
func paying(after time.Duration, begins string) testParty {
	return testParty{status: payments.Pending, behavior: payments.Approve, latency: after, begins: begins}
}

var (
	rejecting = testParty{status: payments.UserCancelled}
	expiring  = testParty{status: payments.Timeout}
	ongoing   = testParty{status: payments.Pending, behavior: payments.Ignore}
)

// delayed is the latency of a delayed party. MTN documents 25 to 30 s.
const delayed = 25 * time.Second

// partiesOfAll are the test parties that all calls have.
var partiesOfAll = map[string]testParty{
	"46733123450": failing(internalError),
	"46733123451": rejecting,
	"46733123452": expiring,
	"46733123453": ongoing,
	"46733123454": paying(delayed, created),
	"56733123453": paying(10*time.Second, ""),
}

// withdrawParties are the payers of requests to withdraw, and the payees of deposits.
var withdrawParties = with(partiesOfAll, map[string]testParty{
	"46733123455": {status: payments.UnknownMSISDN, reason: "PAYER_NOT_FOUND"},
	"46733123456": failing("PAYEE_NOT_ALLOWED_TO_RECEIVE"),
	"46733123457": failing("NOT_ALLOWED"),
	"46733123458": failing("NOT_ALLOWED_TARGET_ENVIRONMENT"),
	"46733123459": failing("INVALID_CALLBACK_URL_HOST"),
	"46733123460": failing("INVALID_CURRENCY"),
	"46733123461": failing(internalError),
	"46733123462": failing(codeUnavailable),
	"46733123463": failing("COULD_NOT_PERFORM_TRANSACTION"),
})

// transferTypeUnknown is the code of an error (Assumed). MTN documents only the text of the error.
const transferTypeUnknown = "TRANSFER_TYPE_UNKNOWN"

// payParties are the payers of requests to pay.
var payParties = with(withdrawParties, map[string]testParty{"46733123464": failing(transferTypeUnknown)})

// transferParties are the payees of transfers.
var transferParties = with(partiesOfAll, map[string]testParty{
	"46733123455": {status: payments.InsufficientFunds},
	"46733123456": {status: payments.LimitExceeded},
	"46733123457": {status: payments.UnknownMSISDN},
	"46733123458": failing("NOT_ALLOWED"),
	"46733123459": failing("NOT_ALLOWED_TARGET_ENVIRONMENT"),
	"46733123460": failing("INVALID_CALLBACK_URL_HOST"),
	"46733123461": failing("INVALID_CURRENCY"),
	"46733123462": failing(internalError),
	"46733123463": failing(codeUnavailable),
	"46733123464": failing(transferTypeUnknown),
})

// parties are the test parties of each call.
var parties = map[string]map[string]testParty{
	payCall: payParties, withdrawCall: withdrawParties, depositCall: withdrawParties, transferCall: transferParties,
}

// refundedTests maps each test value of the field referenceIdToRefund to the behavior of the refund.
var refundedTests = map[string]testParty{
	"1":  failing("RESOURCE_NOT_FOUND"), // Assumed: MTN documents only the text "transaction not found"
	"2":  failing(internalError),
	"3":  rejecting,
	"4":  expiring,
	"5":  ongoing,
	"6":  paying(delayed, ""),
	"7":  failing("NOT_ALLOWED"),
	"8":  failing("NOT_ALLOWED_TARGET_ENVIRONMENT"),
	"9":  failing("INVALID_CALLBACK_URL_HOST"),
	"10": failing("INVALID_CURRENCY"),
	"11": failing(internalError),
	"12": failing(codeUnavailable),
	"13": failing("COULD_NOT_PERFORM_TRANSACTION"),
}

// refundedParty is the payee of a refund of refundedTests (Assumed). It is not a test number of other calls.
const refundedParty = "46733123400"

// inactiveHolder marks an account holder that exists but is not active.
const inactiveHolder operatorapi.Reason = "inactive"

// holderParties maps the type and the name in the path to the reason of the refusal, for the calls about account
// holders. inactiveHolder is no refusal: the holder is not active. Two of the e-mail addresses are Documented. The
// domains of the others are Assumed.
var holderParties = map[string]operatorapi.Reason{
	"msisdn/46733123450": operatorapi.NotFound, "email/notfound@email.com": operatorapi.NotFound,
	"msisdn/46733123451": inactiveHolder, "email/notactive@email.com": inactiveHolder,
	"msisdn/46733123452": notAllowed, "email/notallowed@email.com": notAllowed,
	"msisdn/46733123453": wrongTarget, "email/notallowedtargetenvironment@email.com": wrongTarget,
	"msisdn/46733123454": operatorapi.Internal, "email/internalprocessingerror@email.com": operatorapi.Internal,
	"msisdn/46733123455": operatorapi.Unavailable, "email/serviceunavailable@email.com": operatorapi.Unavailable,
}

func with[K comparable, V any](base, more map[K]V) map[K]V {
	all := maps.Clone(base)
	maps.Copy(all, more)
	return all
}
