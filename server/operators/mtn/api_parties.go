package mtn

import (
	"maps"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// The test numbers of MTN's own sandbox, which act under the target sandbox where no test client has the number, by their digits.
// Documented is which outcome each has; observed are 450 to 454 and 56733123453; that the others are accepted first, and fail then, is
// assumed.

// testParty is what MTN's own sandbox does with one of its test numbers.
type testParty struct {
	status   payments.Status
	behavior payments.Behavior // of one that is pending
	latency  time.Duration     // until it answers; zero: as any other
	begins   string            // how its request is told at first; empty: as any other
	reason   string            // of the failure, if Cauri's status does not say it
}

// number is the party as a number that no SIM has.
func (p testParty) number() *payments.TestNumber {
	return &payments.TestNumber{Status: p.status, Behavior: p.behavior, Latency: p.latency}
}

// failing is a party whose orders fail with a reason for which Cauri has no status of its own.
func failing(reason string) testParty {
	return testParty{status: payments.ServiceUnavailable, reason: reason}
}

// paying is a party that pays after a while.
func paying(after time.Duration, begins string) testParty {
	return testParty{status: payments.Pending, behavior: payments.Approve, latency: after, begins: begins}
}

var (
	rejecting = testParty{status: payments.UserCancelled}
	expiring  = testParty{status: payments.Timeout}
	ongoing   = testParty{status: payments.Pending, behavior: payments.Ignore}
)

// delayed is how long a delayed party takes: 25 to 30 s (o).
const delayed = 25 * time.Second

// partiesOfAll are those that every call knows.
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

// transferTypeUnknown is the code of an error of which MTN documents the words only (a).
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

// parties are those that the payer or payee of a call may be.
var parties = map[string]map[string]testParty{
	payCall: payParties, withdrawCall: withdrawParties, depositCall: withdrawParties, transferCall: transferParties,
}

// refundedTests are what a referenceIdToRefund stands for that no collection has.
var refundedTests = map[string]testParty{
	"1":  failing("RESOURCE_NOT_FOUND"), // a: the code; documented is "transaction not found"
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

// refundedParty is who gets the refund of a test (a). It is no test number, so that no call but this one knows it.
const refundedParty = "46733123400"

// inactiveHolder is an account that is there and not active.
const inactiveHolder operatorapi.Why = "inactive"

// holderParties are what the calls about account holders answer, by the end of their paths. Of the addresses two are documented in full;
// how the others end is assumed.
var holderParties = map[string]operatorapi.Why{
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
