package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// complaint is the error of a command in output for programs.
type complaint struct {
	Error         string         `json:"error"` // code
	Message       string         `json:"message"`
	Detail        map[string]any `json:"detail,omitempty"` // of the API's answer
	Status        int            `json:"status,omitempty"`
	RequestID     string         `json:"requestId,omitempty"`
	TransactionID string         `json:"transactionId,omitempty"` // of a transaction that was recorded
	Reference     string         `json:"reference,omitempty"`     // of a request that may have been recorded
	Retryable     bool           `json:"retryable"`
	ExitCode      int            `json:"exitCode"`
	Next          []string       `json:"next"` // commands
}

// Complain prints the error of a command: for people, or as one JSON object if args ask for output in JSON or YAML.
func Complain(out io.Writer, args []string, err error) {
	if !forPrograms(args) {
		Fprintf(out, "%s\n", Complaint(err))
		return
	}
	_ = printJSON(out, complaintOf(err)) // nobody reads the output any more
}

// outputFlag matches the flag --output, also behind short flags without a value, with its value if that is a part of the argument.
var outputFlag = regexp.MustCompile(`^(?:--output|-[Ah]*o)(?:=?(json|yaml)|(=?.+))?$`)

// forPrograms reports whether a command line asks for output in JSON or YAML. The command line may have mistakes.
func forPrograms(args []string) bool {
	format := os.Getenv("CAURI_OUTPUT")
	for i, arg := range args {
		if arg == "--" {
			break
		}
		found := outputFlag.FindStringSubmatch(arg)
		if found == nil {
			continue
		}
		format = found[1]
		if arg == found[0] && found[1]+found[2] == "" && i+1 < len(args) {
			format = args[i+1]
		}
	}
	return format == formatJSON || format == formatYAML
}

// codedError is an error with a code for programs.
type codedError struct {
	error
	code string
}

func (e codedError) Unwrap() error { return e.error }

// recordedError is the error of a command that has recorded a transaction, or may have.
type recordedError struct {
	error
	transaction, reference string
}

func (e recordedError) Unwrap() error { return e.error }

func complaintOf(err error) complaint {
	c := complaint{Error: codeOf(err), Message: Message(err), ExitCode: ExitCode(err), Status: kube.Status(err), Next: commandsIn(err)}
	c.Retryable = c.ExitCode == ExitUnavailable
	if refused, is := errors.AsType[*sandboxapi.RefusedError](err); is {
		c.Status, c.RequestID, c.Detail = refused.Status, refused.RequestID, refused.Detail
	}
	if recorded, is := errors.AsType[recordedError](err); is {
		c.TransactionID, c.Reference = recorded.transaction, recorded.reference
		if strings.HasPrefix(recorded.reference, ownReference) { // the same command would make another transaction
			c.Retryable = false
		}
	}
	return c
}

// codeOf returns the code of an error: the one of the API or of Kubernetes, or one of the command line.
func codeOf(err error) string {
	refused, _ := errors.AsType[*sandboxapi.RefusedError](err)
	coded, isCoded := errors.AsType[codedError](err)
	switch {
	case isCoded:
		return coded.code
	case is[usageError](err):
		return "invalid_arguments"
	case kube.Status(err) != 0:
		return snakeCase(string(apierrors.ReasonForError(err)))
	case refused != nil && refused.Code != "":
		return refused.Code
	case refused != nil, is[*sandboxapi.ForeignError](err):
		return "not_cauri"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return map[int]string{
		ExitFailure: "unexpected", ExitUsage: "invalid_arguments", ExitRefused: "refused", ExitUnavailable: "unreachable", ExitNegative: "negative",
	}[ExitCode(err)]
}

var wordBegins = regexp.MustCompile(`(.)([A-Z])`)

// snakeCase returns the reason of an answer of Kubernetes as a code: NotFound is not_found.
func snakeCase(reason string) string {
	return strings.ToLower(wordBegins.ReplaceAllString(reason, "${1}_${2}"))
}

var (
	quotedCommand = regexp.MustCompile("`((?:kubectl )?cauri [^`]+)`")
	// plainCommand matches command lines without placeholders, and without characters that a shell interprets.
	plainCommand = regexp.MustCompile(`^[\w ./=:,+@-]+$`)
	placeholder  = regexp.MustCompile(`(^|[ =/])[A-Z]+( |$)`)
)

// commandsIn returns the commands that the text of an error names. It does not look at what a server answered.
func commandsIn(err error) []string {
	text := Message(err)
	if refused, is := errors.AsType[*sandboxapi.RefusedError](err); is {
		text = strings.ReplaceAll(text, refused.Error(), "")
	}
	next := []string{}
	for _, found := range quotedCommand.FindAllStringSubmatch(text, -1) {
		if c := found[1]; plainCommand.MatchString(c) && !placeholder.MatchString(c) && !slices.Contains(next, c) {
			next = append(next, c)
		}
	}
	return next
}

// recorded adds to an error the transaction that the command has recorded; nil for nil.
func recorded(err error, transaction, reference string) error {
	if err == nil {
		return nil
	}
	return recordedError{err, transaction, reference}
}

// Recorded adds to an error the transaction that the command has recorded; nil for nil.
func Recorded(err error, made *wire.Payment) error { return recorded(err, made.ID, made.Reference) }

// negative returns the negative result of a command that worked, with a code for programs.
func negative(code, format string, args ...any) error {
	return negativeError{codedError{fmt.Errorf(format, args...), code}}
}
