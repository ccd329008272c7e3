package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
)

var (
	// ErrConfigChanged is returned if the caller's configuration of the sandbox is not the current one, and for a
	// tenant whose organization is gone.
	ErrConfigChanged = errors.New("the sandbox's configuration has changed")
	// ErrUnavailable is returned if the database could not be reached or could not serve. A retry may succeed.
	ErrUnavailable = errors.New("the database is not available")
	// ErrUncertain is an [ErrUnavailable] after which it is not known whether the write was committed.
	ErrUncertain = fmt.Errorf("%w, and it is not known whether anything was recorded", ErrUnavailable)
	// ErrOverloaded is returned if so many statements wait for the database that a request would wait for too long.
	// Nothing was done. It is an [ErrUnavailable].
	ErrOverloaded = fmt.Errorf("%w: too much waits for it", ErrUnavailable)
)

// Absence is the reason why the database is unavailable.
type Absence int

// The reasons for an [ErrUnavailable].
const (
	Unreachable Absence = iota // or not known
	Hanging                    // it does not answer, or packets to it are lost
	DiskFull
	Exhausted // no connections or no memory left
	ReadOnly  // a standby
	NotMigrated
	Refused   // it refuses the login: the password, the right to log in or to connect, or the database itself
	Untrusted // its certificate is not trusted, or is that of another host
)

// AbsenceOf returns why the database is not available.
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
	case refusesLogin(err):
		return Refused
	case distrusts(err):
		return Untrusted
	case errors.As(err, new(ErrSchemaBehind)), errors.Is(err, ErrOtherSchema),
		answer != nil && (answer.Code == pgerrcode.UndefinedTable || answer.Code == pgerrcode.UndefinedFunction):
		return NotMigrated
	case answer == nil && (errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()):
		return Hanging
	}
	return Unreachable
}

// refusesLogin reports whether Postgres answered an attempt to connect with an error that a person has to resolve.
func refusesLogin(err error) bool {
	var answer *pgconn.PgError
	if !errors.As(err, new(*pgconn.ConnectError)) || !errors.As(err, &answer) {
		return false
	}
	switch answer.Code {
	case pgerrcode.InvalidCatalogName, pgerrcode.InsufficientPrivilege, pgerrcode.ObjectNotInPrerequisiteState:
		return true // no such database; no right to connect to it; it takes no connections
	}
	return pgerrcode.IsInvalidAuthorizationSpecification(answer.Code)
}

// distrusts reports whether a connection was given up because of the certificate of the database.
func distrusts(err error) bool {
	// pgx verifies for verify-ca itself.
	return errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(x509.UnknownAuthorityError)) ||
		errors.As(err, new(x509.CertificateInvalidError))
}

// Classify adds a description of the operation, the parameter doing, to an error. It makes the error an
// [ErrUnavailable] if the database was not available. It returns nil for a nil error.
func Classify(err error, doing string) error {
	switch {
	case err == nil:
		return nil
	case unavailable(err):
		return fmt.Errorf("%s: %w: %w", doing, ErrUnavailable, err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// ClassifyWrite is [Classify] for a write: the error is an [ErrUncertain] if the write may have been committed.
func ClassifyWrite(err error, doing string) error {
	if err != nil && unavailable(err) && !recordedNothing(err) {
		return fmt.Errorf("%s: %w: %w", doing, ErrUncertain, err)
	}
	return Classify(err, doing)
}

// recordedNothing reports whether a failed statement certainly changed nothing: it was never sent, or Postgres answered
// that it was rolled back. An answer that ends the connection may come after a commit. recordedNothing does not use
// pgx's SafeToRetry, which is also true for a pipeline whose connection was lost after the statement.
func recordedNothing(err error) bool {
	var answer *pgconn.PgError
	switch {
	case errors.Is(err, ErrOverloaded), errors.As(err, new(*pgconn.ConnectError)), errors.As(err, new(unreadable)),
		errors.As(err, new(notSent)):
		return true
	case errors.As(err, &answer):
		return answer.SeverityUnlocalized == "ERROR"
	}
	return false
}

// notSent is the error of a statement whose deadline passed before it was sent.
type notSent struct{ error }

func (e notSent) Unwrap() error { return e.error }

// waitedFor returns the error for a context that ended before a statement was sent. The parameter what names the
// resource for which the statement waited.
func waitedFor(ctx context.Context, what string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return notSent{fmt.Errorf("waiting for %s: %w", what, ctx.Err())}
	}
	return ctx.Err()
}

// unavailable reports whether an error is temporary, so that a retry may succeed.
func unavailable(err error) bool {
	// Whatever Postgres answers an attempt to connect, and whatever ends a connection: another attempt may succeed.
	if errors.As(err, new(*pgconn.ConnectError)) || errors.As(err, new(unreadable)) {
		return true
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		switch {
		case answer.SeverityUnlocalized == "FATAL", answer.SeverityUnlocalized == "PANIC":
			return true
		case pgerrcode.IsConnectionException(answer.Code), pgerrcode.IsInsufficientResources(answer.Code),
			pgerrcode.IsOperatorIntervention(answer.Code):
			return true
		case answer.Code == pgerrcode.ReadOnlySQLTransaction: // a standby, during a fail-over
			return true
		case answer.Code == pgerrcode.UndefinedTable, answer.Code == pgerrcode.UndefinedFunction:
			return true // not migrated yet
		}
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, context.DeadlineExceeded) || pgconn.SafeToRetry(err)
}
