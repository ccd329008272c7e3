package service

import (
	"errors"
	"fmt"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

var (
	// ErrUnauthorized is returned for a key that opens no sandbox.
	ErrUnauthorized = errors.New("the key opens no sandbox")
	// ErrSuspended is returned for a sandbox that is suspended and serves no requests.
	ErrSuspended = errors.New("the sandbox is suspended")
	// ErrNoParent is returned for a refund of a collection that the sandbox does not have. It is a [ledger.ErrNotFound].
	ErrNoParent = fmt.Errorf("the collection to refund: %w", ledger.ErrNotFound)
)

// ErrNoStore is returned for a store that the sandbox does not have.
type ErrNoStore struct {
	Store  string
	Stores []string // the stores of the sandbox, sorted
}

func (e ErrNoStore) Error() string { return fmt.Sprintf("the sandbox has no store %q", e.Store) }

// ErrNoEnvironment is returned for a market in which the sandbox has no enabled environment.
type ErrNoEnvironment struct {
	Market  sandboxes.Market
	Enabled []sandboxes.Market // the markets with an enabled environment, sorted
}

func (e ErrNoEnvironment) Error() string {
	return fmt.Sprintf("the sandbox has no enabled environment for %s in %s", e.Market.Operator, e.Market.Country)
}

// ErrWrongCurrency is returned for a currency other than the environment's.
type ErrWrongCurrency struct {
	Currency payments.Currency // the currency of the environment
	Country  payments.Country
}

func (e ErrWrongCurrency) Error() string {
	return fmt.Sprintf("the currency of %s is %s", e.Country, e.Currency)
}

// ErrUndetected is returned for a number that does not determine the operator or the country. A field is true if the
// number does not determine it.
type ErrUndetected struct {
	Operator, Country bool
	In                payments.Country       // country of the request or of the number; empty: it is not known
	Length            *operators.WrongLength // what is wrong with the length; nil: it is right, or the country is not known
	Known             *payments.Known        // what the sandbox knows
}

func (e ErrUndetected) Error() string { return "the market cannot be detected from the number" }

// ErrFormerNumber is returned for a test client with a number in a format that its country has given up.
type ErrFormerNumber struct{ Length *operators.WrongLength }

func (e ErrFormerNumber) Error() string { return e.Length.String() }

// ErrOperatorElsewhere is returned for an operator that is not available in the country.
type ErrOperatorElsewhere struct {
	Operator  payments.Operator
	Countries []payments.Country // in which it is available, as far as the sandbox knows them
}

func (e ErrOperatorElsewhere) Error() string {
	return fmt.Sprintf("%s is available in %s only", e.Operator, payments.AllOf(e.Countries))
}

// ErrDuplicateReference is returned for a reference that another request already uses.
type ErrDuplicateReference struct{ Taken *ledger.ErrReferenceTaken }

func (e ErrDuplicateReference) Error() string {
	return fmt.Sprintf("the reference %q belongs to another request", e.Taken.Transaction.Reference)
}

// ErrFault is returned for a request that a fault of the sandbox ends. Nothing is recorded, and the service does not
// check whether the request is a repetition. The fault either has the status of the answer or drops the connection.
type ErrFault struct{ Fault *faults.Fault }

func (e ErrFault) Error() string { return "the fault " + e.Fault.Name + " ends the request" }

// ErrUnfinished wraps each error of a request to record a transaction. A client that repeats the request must send
// Reference.
type ErrUnfinished struct {
	error
	Reference string // the sent or generated reference; empty: the request failed before one was generated
}

// Unwrap returns the error.
func (e ErrUnfinished) Unwrap() error { return e.error }
