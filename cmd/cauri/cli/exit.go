package cli

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

// The exit codes of all commands.
const (
	ExitSuccess     = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitRefused     = 3
	ExitUnavailable = 4
	ExitNegative    = 5
)

// ExitCodes explains the exit codes, for the help and the documents.
var ExitCodes = []string{
	ExitSuccess:     "it worked, and the result is good",
	ExitFailure:     "an unexpected failure, worth a report",
	ExitUsage:       "the command line, a variable or a file that it names is wrong or missing, or no sandbox is named",
	ExitRefused:     "refused: something does not exist, is not allowed, or is in conflict",
	ExitUnavailable: "no answer in time, or an answer that says to repeat it later: worth a retry",
	ExitNegative: "it worked and the result is negative: a failed payment, a wrong signature, an expectation that is not met, " +
		"a grade that is not A or B, a failed check",
}

// usageError is an error of the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usage returns err as a usageError; nil for nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// Usage returns err as an error of the command line, with the exit code [ExitUsage]; nil for nil.
func Usage(err error) error { return usage(err) }

// refusedError is the error of a request that this program does not send, because an object does not exist or
// conflicts.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// Refused returns err as an error with the exit code [ExitRefused].
func Refused(err error) error { return refusedError{err} }

// negativeError is the negative result of a command that worked.
type negativeError struct{ error }

func (e negativeError) Unwrap() error { return e.error }

// Negative returns err as the negative result of a command that worked, with the exit code [ExitNegative].
func Negative(err error) error { return negativeError{err} }

// ExitCode returns the exit code for the error of a command.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitSuccess
	case is[usageError](err):
		return ExitUsage
	case is[refusedError](err):
		return ExitRefused
	case is[negativeError](err):
		return ExitNegative
	}
	return codeOfCause(err)
}

// is reports whether an error of type T is err, or is wrapped by it.
func is[T error](err error) bool {
	_, found := errors.AsType[T](err)
	return found
}

// codeOfCause returns the exit code for an error of the API, of Kubernetes or of a library.
func codeOfCause(err error) int {
	listening, _ := errors.AsType[*net.OpError](err)
	switch {
	case kube.Status(err) != 0:
		return codeOfStatus(kube.Status(err))
	case is[*sandboxapi.UnreachableError](err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ExitUnavailable
	case is[*sandboxapi.ForeignError](err), is[*pgconn.PgError](err):
		return ExitRefused
	case is[*sandboxapi.RefusedError](err):
		refused, _ := errors.AsType[*sandboxapi.RefusedError](err)
		return codeOfStatus(refused.Status)
	case is[*fs.PathError](err), listening != nil && listening.Op == "listen": // a file or an address of the command line
		return ExitUsage
	case listening != nil, is[*url.Error](err), is[*net.DNSError](err), is[*pgconn.ConnectError](err):
		return ExitUnavailable
	}
	return ExitFailure
}

// codeOfStatus returns the exit code for a status of HTTP.
func codeOfStatus(status int) int {
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		return ExitUnavailable
	}
	return ExitRefused
}
