package service

import (
	"errors"
	"slices"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Refusal is an error of a request for which an API has an answer. The answer to any other error is `internal`.
type Refusal struct {
	Example error    // the error, or an error of the same type
	Code    string   // error code in /v1, and in the header X-Cauri-Reason of the operators' APIs
	Of      Requests // the requests that meet the error
	Replay  bool     // whether the service looks for an earlier, identical request; false: the ledger has looked, or need not

	matches func(error) bool
}

// Requests are the requests that meet a refusal. They say which APIs answer it.
type Requests int

// The requests that meet a refusal.
const (
	AnyRequest Requests = iota // the error is about the key, the sandbox or the database: all APIs answer it
	Orders                     // requests to record a transaction: all APIs answer it
	OnlyV1                     // requests that only /v1 has, for example about test clients, events and the clock
)

// Refusals has all refusals, except [ErrFault], whose fault says the answer. The first row that matches an error applies.
// A test of each API walks them.
var Refusals = []Refusal{
	sentinel(ErrUnauthorized, "unauthorized", AnyRequest, false),
	sentinel(ErrSuspended, "suspended", AnyRequest, false),

	typed(ErrNoStore{}, "not_found", Orders, true),
	typed(ErrNoEnvironment{}, "env_not_found", Orders, true),
	typed(ErrWrongCurrency{}, "invalid_body", Orders, true),
	typed(ErrUndetected{}, "invalid_body", Orders, true),
	sentinel(ErrNoParent, "not_found", Orders, true),
	typed(payments.ErrNotRefundable{}, "not_refundable", Orders, true),
	typed(payments.ErrExceedsRefundable{}, "exceeds_refundable", Orders, true),
	typed(ErrDuplicateReference{&ledger.ErrReferenceTaken{Transaction: &payments.Transaction{}}}, "duplicate_reference", Orders, false),
	typed(ledger.ErrQuotaExceeded{}, "quota_exceeded", Orders, false),

	typed(ErrDenied{}, "forbidden", OnlyV1, false),
	typed(ErrFormerNumber{&operators.WrongLength{}}, "invalid_body", OnlyV1, false),
	typed(ErrOperatorElsewhere{}, "invalid_body", OnlyV1, false),
	typed(&ledger.ErrTestClientExists{}, "duplicate_msisdn", OnlyV1, false),
	typed(ledger.ErrManagedByResource{}, "managed_by_resource", OnlyV1, false),
	typed(ledger.ErrTooManyTestClients{}, "too_many_test_clients", OnlyV1, false),
	typed(ErrInvalidFault{}, "invalid_body", OnlyV1, false),
	typed(faultcounts.ErrDeclared{}, "managed_by_resource", OnlyV1, false),
	sentinel(faultcounts.ErrTooManyFaults, "too_many_faults", OnlyV1, false),
	typed(faultcounts.ErrTooManyChanges{}, "too_many_changes", OnlyV1, false),
	typed(&ledger.ErrPromptClosed{Transaction: &payments.Transaction{}}, "prompt_closed", OnlyV1, false),
	sentinel(ledger.ErrNoEndpoint, "no_webhook", OnlyV1, false),
	sentinel(ledger.ErrBeingSent, "being_sent", OnlyV1, false),
	sentinel(receiverchecks.ErrNoEndedCollection, "invalid_body", OnlyV1, false),
	typed(receiverchecks.ErrTooManyChecks{}, "too_many_checks", OnlyV1, false),
	typed(clocks.ErrClockBackwards{}, "clock_backwards", OnlyV1, false),
	typed(clocks.ErrAdvanceTooFar{}, "invalid_body", OnlyV1, false),
	typed(clocks.ErrClockEnd{}, "invalid_body", OnlyV1, false),
	typed(clocks.ErrClockBusy{}, "clock_busy", OnlyV1, false),
	sentinel(clocks.ErrClockReset, "clock_reset", OnlyV1, false),
	sentinel(observations.ErrTooManyRows, "too_many_rows", OnlyV1, false),
	sentinel(sandboxes.ErrTooManyResets, "too_many_resets", OnlyV1, false),
	sentinel(sandboxes.ErrNoConsoleSession, "not_found", OnlyV1, false),
	sentinel(proof.ErrNotVerified, "not_verified", OnlyV1, false),

	sentinel(postgres.ErrConfigChanged, "overloaded", AnyRequest, false),
	sentinel(postgres.ErrOverloaded, "overloaded", AnyRequest, false), // before ErrUnavailable, which it is too
	sentinel(postgres.ErrUnavailable, "unavailable", AnyRequest, false),
}

// sentinel returns the row of one error.
func sentinel(err error, code string, of Requests, replay bool) Refusal {
	return Refusal{err, code, of, replay, func(met error) bool { return errors.Is(met, err) }}
}

// typed returns the row of the errors of a type.
func typed[E error](example E, code string, of Requests, replay bool) Refusal {
	return Refusal{example, code, of, replay, func(met error) bool { return errors.As(met, new(E)) }}
}

// refusalOf returns the row of an error; the zero value for an error without one.
func refusalOf(err error) Refusal {
	if i := slices.IndexFunc(Refusals, func(r Refusal) bool { return r.matches(err) }); i >= 0 {
		return Refusals[i]
	}
	return Refusal{}
}

// CodeOf returns the error code of a refusal; "" for any other error.
func CodeOf(err error) string { return refusalOf(err).Code }
