package httpapi

import (
	"errors"
	"fmt"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// answers has the answers of /v1 to [service.Refusals] and [httpfront.Refusals], except the failures of the database, which
// have theirs in [failureOf]. Each returns nil for any other error.
var answers = []func(error) *wire.Error{
	typed(func(e httpfront.ErrRateLimited) *wire.Error { return view.RateLimited(e.Limit, e.Reset()) }),
	typed(func(e httpfront.ErrMisdirected) *wire.Error { return view.Misdirected(e.Host) }),
	typed(tooManyStreams),
	sentinel(service.ErrUnauthorized, view.Unauthorized),
	sentinel(service.ErrSuspended, view.Suspended),

	typed(func(e service.ErrNoStore) *wire.Error { return view.NoSuchStore(e.Store, e.Stores) }),
	typed(func(e service.ErrNoEnvironment) *wire.Error { return view.NoEnvironment(e.Market, e.Enabled) }),
	typed(wrongCurrency),
	typed(undetectedFields),
	sentinel(service.ErrNoParent, view.NoSuchTransaction),
	typed(view.NotRefundable),
	typed(view.ExceedsRefundable),
	typed(duplicateReference),
	typed(view.QuotaExceeded),

	typed(func(e service.ErrDenied) *wire.Error { return view.Forbidden(e.Permission.Action, e.Permission.Field) }),
	typed(func(e service.ErrFormerNumber) *wire.Error { return view.InvalidField("msisdn", e.Length.String()) }),
	typed(operatorElsewhere),
	typed(view.DuplicateMSISDN),
	typed(view.ManagedByResource),
	typed(view.TooManyTestClients),
	typed(func(e service.ErrInvalidFault) *wire.Error { return view.InvalidFault(e.Problems) }),
	typed(view.DeclaredFault),
	sentinel(faultcounts.ErrTooManyFaults, view.TooManyFaults),
	typed(view.TooManyChanges),
	typed(view.PromptClosed),
	sentinel(ledger.ErrNoEndpoint, view.NoWebhook),
	sentinel(ledger.ErrBeingSent, view.BeingSent),
	sentinel(receiverchecks.ErrNoEndedCollection, view.NoEndedCollection),
	typed(view.TooManyChecks),
	typed(view.ClockBackwards),
	typed(view.AdvanceTooFar),
	typed(view.ClockEnd),
	typed(view.ClockBusy),
	sentinel(clocks.ErrClockReset, view.ClockReset),
	sentinel(observations.ErrTooManyRows, view.TooManyRows),
	sentinel(sandboxes.ErrTooManyResets, view.TooManyResets),
	sentinel(sandboxes.ErrNoConsoleSession, view.NoSuchConsoleSession),
	sentinel(proof.ErrNotVerified, view.NotVerified),
}

// sentinel returns the answer to one error.
func sentinel(refused error, answer func() *wire.Error) func(error) *wire.Error {
	return func(err error) *wire.Error {
		if errors.Is(err, refused) {
			return answer()
		}
		return nil
	}
}

// typed returns the answer to the errors of a type.
func typed[E error](answer func(E) *wire.Error) func(error) *wire.Error {
	return func(err error) *wire.Error {
		if refused, ok := errors.AsType[E](err); ok {
			return answer(refused)
		}
		return nil
	}
}

// refusalOf returns the answer of /v1 to an error that the request caused; nil for any other error.
func refusalOf(err error) *wire.Error {
	if known, ok := errors.AsType[*wire.Error](err); ok {
		return known
	}
	if fault, ok := errors.AsType[service.ErrFault](err); ok && fault.Fault.Answer().Status != 0 {
		return view.Simulated(fault.Fault, fault.Fault.Answer())
	}
	for _, answer := range answers {
		if e := answer(err); e != nil {
			return e
		}
	}
	return nil
}

// orMissing returns the answer for [ledger.ErrNotFound], and other errors unchanged.
func orMissing(err error, answer *wire.Error) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return answer
	}
	return err
}

// conflict returns the answer to the error that another request has the reference of a body: it names what differs. It
// returns other errors unchanged.
func conflict[T any](err error, decoder *decode.Decoder[T], kind payments.Type, parent string, body *T) error {
	if duplicate, ok := errors.AsType[service.ErrDuplicateReference](err); ok {
		return decoder.Conflict(duplicate.Taken, kind, parent, body)
	}
	return err
}

// duplicateReference returns the answer of [conflict] without what differs.
func duplicateReference(e service.ErrDuplicateReference) *wire.Error {
	return view.DuplicateReference(e.Taken.Transaction, nil)
}

func tooManyStreams(e httpfront.ErrTooManyStreams) *wire.Error {
	of := "This sandbox"
	if e.Process {
		of = "This process of the API"
	}
	return view.TooManyStreams(of, e.Streams)
}

func wrongCurrency(e service.ErrWrongCurrency) *wire.Error {
	return view.InvalidField("currency", fmt.Sprintf("must be %s, the currency of %s", e.Currency, e.Country))
}

func operatorElsewhere(e service.ErrOperatorElsewhere) *wire.Error {
	const format = "must be %s, where alone %s is available: send %[1]s, or another operator"
	return view.InvalidField("country", fmt.Sprintf(format, payments.OneOf(e.Countries), e.Operator))
}

func undetectedFields(e service.ErrUndetected) *wire.Error {
	if e.Length != nil {
		return view.InvalidField("msisdn", e.Length.String())
	}
	wrong := wire.FieldErrors{}
	if e.Operator {
		wrong["operator"] = []string{"cannot be detected from the msisdn: send one of " + payments.List(e.Known.OperatorsFor(e.In))}
	}
	if e.Country {
		wrong["country"] = []string{"cannot be detected from the msisdn: send one of " + payments.List(e.Known.Countries())}
	}
	return view.InvalidBody(wrong)
}
