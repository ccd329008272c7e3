package cli

import (
	"context"
	"errors"
	"net/http"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

// The exit codes of all commands.
const (
	ExitSuccess     = 0
	ExitFailure     = 1 // any other error; of expect and grade also their red result, as of tools for tests
	ExitUsage       = 2 // wrong flags or arguments
	ExitRefused     = 3 // the API or Kubernetes refused: not found, not allowed, or a conflict
	ExitUnavailable = 4 // no answer, or an answer that tells the client to retry later
	ExitNegative    = 5 // the command worked, but its result is negative, such as a failed payment or a wrong signature
)

// ExitCodes explains the exit codes, for the help and the documents.
var ExitCodes = []string{
	ExitSuccess:     "it worked",
	ExitFailure:     "it failed for another reason; of expect and grade, also that an expectation or a line of the grade failed",
	ExitUsage:       "a flag, an argument or a variable is missing or wrong",
	ExitRefused:     "the API or Kubernetes refused: something does not exist, is not allowed, or is in conflict",
	ExitUnavailable: "no answer in time, or an answer that says to repeat it later",
	ExitNegative:    "the command worked and the result is negative: the payment failed, the signature is wrong, a line of check failed, or nothing is there",
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

// Usage returns err as an error of the command line, with the exit code [ExitUsage].
func Usage(err error) error { return usage(err) }

// refusedError is the error of a request that this program does not send, because an object does not exist or
// conflicts.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// negativeError is the negative result of a command that worked.
type negativeError struct{ error }

// ExitCode returns the exit code for the error of a command.
func ExitCode(err error) int {
	var (
		wrong       usageError
		conflict    refusedError
		negative    negativeError
		refused     *sandboxapi.RefusedError
		unreachable *sandboxapi.UnreachableError
	)
	switch {
	case err == nil:
		return ExitSuccess
	case errors.As(err, &wrong):
		return ExitUsage
	case errors.As(err, &conflict):
		return ExitRefused
	case errors.As(err, &negative):
		return ExitNegative
	case errors.As(err, &unreachable), errors.Is(err, context.DeadlineExceeded):
		return ExitUnavailable
	case errors.As(err, &refused):
		if refused.Status >= http.StatusInternalServerError || refused.Status == http.StatusTooManyRequests {
			return ExitUnavailable
		}
		return ExitRefused
	case kube.IsRefused(err):
		return ExitRefused
	}
	return ExitFailure
}
