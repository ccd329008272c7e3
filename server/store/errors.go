package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/payments"
)

var (
	// ErrNotFound is returned for a transaction that the tenant does not have.
	ErrNotFound = errors.New("not found")
	// ErrNoOrganization is returned for a sandbox that the database does not know (any more).
	ErrNoOrganization = errors.New("no such organization")
	// ErrKeyTaken is returned for an API key that belongs to another sandbox.
	ErrKeyTaken = errors.New("the API key belongs to another sandbox")
	// ErrConfigChanged is returned when an outcome was decided on a configuration that is not the present one, and for a tenant
	// that no organization stands behind any more.
	ErrConfigChanged = errors.New("the sandbox's configuration has changed")
	// ErrMarketKnown is returned for a market that was presumed from a number's prefix where the registry knows another one.
	ErrMarketKnown = errors.New("the number is registered in another market")
	// ErrCredentialsChanged is returned for credentials that were chosen by ones that are not the present ones any more.
	ErrCredentialsChanged = errors.New("the sandbox's credentials have changed")
	// ErrUnavailable wraps every failure to reach the database, or of the database to serve: a retry may succeed.
	ErrUnavailable = errors.New("the database is not available")
	// ErrUncertain is an [ErrUnavailable] after which it is not known whether what was to be recorded was recorded.
	ErrUncertain = fmt.Errorf("%w, and it is not known whether anything was recorded", ErrUnavailable)
)

// ErrQuotaExceeded is returned when a sandbox has made all the transactions that it may make in this calendar month (UTC).
type ErrQuotaExceeded struct {
	Quota int64
}

func (e ErrQuotaExceeded) Error() string {
	return fmt.Sprintf("the quota of %d transactions a month is used up", e.Quota)
}

// ErrReferenceTaken is returned when a transaction with the reference exists already.
type ErrReferenceTaken struct {
	Transaction *payments.Transaction // as it stands now
	RequestHash []byte                // of the request that made it
}

func (e *ErrReferenceTaken) Error() string {
	return "the reference belongs to " + e.Transaction.ID.String()
}

// ErrDuplicateMSISDN is returned where another SIM of the sandbox holds the number.
type ErrDuplicateMSISDN struct {
	MSISDN    string
	Holder    string // name of the TestClient that holds it
	HolderUID string // of that TestClient
}

func (e ErrDuplicateMSISDN) Error() string {
	return "the number " + e.MSISDN + " belongs to the TestClient " + e.Holder
}

// ErrStaleGeneration is returned for what was read of a resource before a change of its spec that has been applied since.
type ErrStaleGeneration struct {
	Applied int64 // the generation that was applied last
}

func (e ErrStaleGeneration) Error() string {
	return fmt.Sprintf("generation %d of the resource has been applied already", e.Applied)
}

// overBound reports whether a statement wrote nothing because a balance would have passed [payments.MaxBalance].
func overBound(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.ConstraintName == "floats_balance_bound" || answer.ConstraintName == "sims_balance_bound")
}

// ErrNameTaken is returned for a sandbox whose name the rows of another resource have.
type ErrNameTaken struct {
	UID string // of that resource
}

func (e ErrNameTaken) Error() string {
	return "the rows of another resource, with the UID " + e.UID + ", have the sandbox's name"
}

// Absence is why the database is not available, as far as it is known.
type Absence int

// The reasons for an [ErrUnavailable].
const (
	Unreachable Absence = iota // or not known
	Hanging                    // it, or the way to it, swallows what is sent
	DiskFull
	Exhausted // no connections or no memory left
	ReadOnly  // a standby
	NotMigrated
)

// AbsenceOf tells why the database is not available.
func AbsenceOf(err error) Absence {
	var answer *pgconn.PgError
	var network net.Error
	switch {
	case errors.As(err, &answer) && answer.Code == pgerrcode.DiskFull:
		return DiskFull
	case answer != nil && pgerrcode.IsInsufficientResources(answer.Code):
		return Exhausted
	case answer != nil && answer.Code == pgerrcode.ReadOnlySQLTransaction:
		return ReadOnly
	case errors.As(err, new(ErrSchemaBehind)), answer != nil && (answer.Code == pgerrcode.UndefinedTable || answer.Code == pgerrcode.UndefinedFunction):
		return NotMigrated
	case answer == nil && (errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()):
		return Hanging
	}
	return Unreachable
}

// classify says what was being done, and marks an error that is the database's absence as [ErrUnavailable].
func classify(err error, doing string) error {
	switch {
	case err == nil:
		return nil
	case unavailable(err):
		return fmt.Errorf("%s: %w: %w", doing, ErrUnavailable, err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// classifyWrite is classify for what records something.
func classifyWrite(err error, doing string) error {
	if err != nil && unavailable(err) && !recordedNothing(err) {
		return fmt.Errorf("%s: %w: %w", doing, ErrUncertain, err)
	}
	return classify(err, doing)
}

// recordedNothing reports whether a statement that failed is certain to have changed nothing: it was never sent, or Postgres answered
// that it was rolled back. An answer that ends the connection may come after a commit. What pgx calls safe to retry is not believed: it
// says so of a pipeline, too, whose connection was lost behind the statement.
func recordedNothing(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return answer.SeverityUnlocalized == "ERROR"
	}
	var connecting *pgconn.ConnectError
	var unsent notSent
	return errors.Is(err, ErrOverloaded) || errors.As(err, &connecting) || errors.As(err, &unsent)
}

// notSent is the error of a statement whose time was over before it was sent.
type notSent struct{ error }

func (e notSent) Unwrap() error { return e.error }

// waitedFor is the error of a context that ended before what was waited for came. Nothing was sent.
func waitedFor(ctx context.Context, what string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return notSent{fmt.Errorf("waiting for %s: %w", what, ctx.Err())}
	}
	return ctx.Err()
}

// unavailable tells errors that pass from errors that stay.
func unavailable(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		switch {
		case pgerrcode.IsConnectionException(answer.Code), pgerrcode.IsInsufficientResources(answer.Code),
			pgerrcode.IsOperatorIntervention(answer.Code):
			return true
		case answer.Code == pgerrcode.ReadOnlySQLTransaction: // a standby, during a fail-over
			return true
		case answer.Code == pgerrcode.IdleInTransactionSessionTimeout: // this process stood still, see perishable
			return true
		case answer.Code == pgerrcode.UndefinedTable, answer.Code == pgerrcode.UndefinedFunction:
			return true // not migrated yet
		}
		return false
	}
	var connecting *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connecting) || errors.As(err, &network) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, context.DeadlineExceeded) || pgconn.SafeToRetry(err)
}
