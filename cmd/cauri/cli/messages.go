package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// Message returns the text of an error for people. The program prints every error with it. It replaces the texts of
// errors of libraries, also those of wrapped errors.
func Message(err error) string {
	text := err.Error()
	reword(err, func(library, said string) { text = strings.Replace(text, library, said, 1) })
	return text
}

// reword calls replace for each error of a library in err and its wrapped errors, with the old and the new text.
func reword(err error, replace func(library, said string)) {
	if said, known := ofLibrary(err); known {
		replace(err.Error(), said)
		return
	}
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		if inner := wrapper.Unwrap(); inner != nil {
			reword(inner, replace)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			reword(inner, replace)
		}
	}
}

// constants are error values of libraries, with the messages that replace their own.
var constants = []struct {
	err  error
	said string
}{
	{context.DeadlineExceeded, "no answer came in time"},
	{context.Canceled, "it was interrupted"},
	{io.EOF, "the connection ended before the answer"},
	{io.ErrUnexpectedEOF, "the connection ended within the answer"},
	{http.ErrSchemeMismatch, "there is no TLS at this address: write http:// in place of https://"},
	{net.ErrClosed, "the connection is closed"},
}

// ofLibrary returns the text for an error of a library. It does not look at wrapped errors.
func ofLibrary(err error) (said string, known bool) {
	switch e := err.(type) {
	case *pflag.InvalidValueError:
		return fmt.Sprintf("--%s=%s: write %s", e.GetFlag().Name, e.GetValue(), kindOf(e.GetFlag())), true
	case *pflag.ValueRequiredError:
		return fmt.Sprintf("--%s needs a value: write --%s=VALUE, %s", e.GetFlag().Name, e.GetFlag().Name, kindOf(e.GetFlag())), true
	case *pflag.NotExistError:
		if short := e.GetSpecifiedShortnames(); short != "" {
			return "there is no flag -" + short, true
		}
		return "there is no flag --" + e.GetSpecifiedName(), true
	case *pflag.InvalidSyntaxError:
		return e.GetSpecifiedFlag() + " is no flag: write --name=value", true
	case *url.Error:
		return Message(e.Err), true
	case *net.OpError:
		return connectionFailed(e), true
	case *net.DNSError:
		return unknownHost(e), true
	case *tls.CertificateVerificationError:
		return "its certificate is not one that this machine trusts", true
	case *fs.PathError:
		return fileFailed(e), true
	case *json.SyntaxError, *json.UnmarshalTypeError:
		return "it is not JSON of the expected form", true
	case *pgconn.ParseConfigError:
		return "it is not the URL of a Postgres: write postgres://user:password@host:5432/database", true
	case *pgconn.ConnectError:
		return notConnected(e), true
	case *pgconn.PgError:
		return fmt.Sprintf("Postgres says: %s (%s)", e.Message, e.Code), true
	case apierrors.APIStatus:
		return kubernetesRefused(e), true
	}
	if clientcmd.IsEmptyConfig(err) {
		return "there is no kubeconfig", true
	}
	for _, one := range constants {
		if err == one.err {
			return one.said, true
		}
	}
	return "", false
}

// kindOf returns a text with the kind of a flag's value.
func kindOf(flag *pflag.Flag) string {
	switch flag.Value.Type() {
	case "duration":
		return "a duration in h, m, s or ms, such as 90s, 61m or 24h for a day"
	case "int", "int32", "int64", "uint16", "uint":
		return "a whole number, such as 100"
	case "float64":
		return "a number, such as 0.5"
	case "bool":
		return "true or false"
	}
	return "a value"
}

// isTimeout reports whether an error is a timeout.
func isTimeout(err error) bool {
	var late net.Error
	return errors.As(err, &late) && late.Timeout()
}

func connectionFailed(e *net.OpError) string {
	at := "the address"
	if e.Addr != nil {
		at = e.Addr.String()
	}
	var unknown *net.DNSError
	switch {
	case errors.As(e.Err, &unknown):
		return unknownHost(unknown)
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return "nothing listens at " + at
	case errors.Is(e.Err, syscall.ECONNRESET), errors.Is(e.Err, syscall.EPIPE):
		return at + " ended the connection"
	case errors.Is(e.Err, syscall.EADDRINUSE):
		return at + " is used by another program"
	case e.Op == "listen":
		return "this machine does not allow to listen at " + at
	case isTimeout(e.Err):
		return at + " does not answer"
	}
	return at + " cannot be reached"
}

// notConnected returns the reason why there is no connection to the database. It is the text of the innermost error,
// because the outer errors only add the address.
func notConnected(e *pgconn.ConnectError) string {
	why := "it ended the connection"
	var answer *pgconn.PgError
	var failed *net.OpError
	var unknown *net.DNSError
	switch {
	case errors.As(e, &answer):
		why = Message(answer)
	case errors.As(e, &failed):
		why = connectionFailed(failed)
	case errors.As(e, &unknown):
		why = unknownHost(unknown)
	case isTimeout(e), errors.Is(e, context.DeadlineExceeded):
		why = "it does not answer"
	}
	return fmt.Sprintf("the database %s at %s cannot be used as the user %s: %s", e.Config.Database, e.Config.Host, e.Config.User, why)
}

func unknownHost(e *net.DNSError) string {
	if e.IsNotFound {
		return "there is no host " + e.Name
	}
	return "the address of the host " + e.Name + " is not known, because the name server does not answer"
}

func fileFailed(e *fs.PathError) string {
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		missing := e.Path
		if folder := filepath.Dir(e.Path); folder != e.Path {
			if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
				missing = "folder " + folder // a new file cannot be made there either
			}
		}
		return "there is no " + missing + ": write the path of one that exists"
	case errors.Is(e.Err, fs.ErrPermission):
		return "you may not open " + e.Path
	case errors.Is(e.Err, fs.ErrExist):
		return e.Path + " exists"
	case errors.Is(e.Err, syscall.EISDIR):
		return e.Path + " is a folder"
	case errors.Is(e.Err, syscall.ENOSPC):
		return "the disk of " + e.Path + " is full"
	}
	return e.Path + " cannot be used"
}

// kubernetesRefused returns a text for an error answer of Kubernetes. It lists the invalid fields, without the notice
// that some rules were not checked.
func kubernetesRefused(e apierrors.APIStatus) string {
	status := e.Status()
	var wrong []string
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			if cause.Field != "" && cause.Field != "<nil>" {
				wrong = append(wrong, cause.Field+": "+wrongValue(cause))
			}
		}
	}
	for _, unknown := range unknownField.FindAllStringSubmatch(status.Message, -1) {
		wrong = append(wrong, unknown[1]+": there is no such field")
	}
	if len(wrong) > 0 {
		return "these fields are wrong:\n  " + strings.Join(wrong, "\n  ")
	}
	switch status.Code {
	case http.StatusNotFound:
		return "Kubernetes does not have it"
	case http.StatusUnauthorized:
		return "Kubernetes does not accept your credentials: log in again"
	case http.StatusForbidden:
		return "you may not do this in Kubernetes"
	case http.StatusConflict:
		return "somebody else changes it at the same time: repeat the command"
	}
	return fmt.Sprintf("Kubernetes answered %d", status.Code)
}

var (
	unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)
	wrongType    = regexp.MustCompile(`in body must be of type (\w+): "(\w+)"$`)
)

// wrongValue returns a text about an invalid value of a field. It removes the kind of error that Kubernetes puts before
// the value.
func wrongValue(cause metav1.StatusCause) string {
	_, said, found := strings.Cut(cause.Message, ": ")
	switch kind := wrongType.FindStringSubmatch(cause.Message); {
	case kind != nil && kind[1] == "string":
		return "write a string, in quotation marks"
	case kind != nil:
		return fmt.Sprintf("write a value of the type %s; it is of the type %s", kind[1], kind[2])
	case !found:
		return cause.Message
	case cause.Type == metav1.CauseTypeFieldValueNotSupported:
		return strings.Replace(said, "supported values:", "write one of", 1)
	case cause.Type == metav1.CauseTypeFieldValueRequired:
		return "it is missing: " + said
	case cause.Type == metav1.CauseTypeFieldValueInvalid:
		return said
	}
	return cause.Message
}

// FlagError returns the error of a command for invalid flags.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return usage(err)
	}
	similar := &cobra.Command{SuggestionsMinimumDistance: 2} // cobra suggests only names of commands
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		similar.AddCommand(&cobra.Command{Use: flag.Name, Run: func(*cobra.Command, []string) {}})
	})
	if found := similar.SuggestionsFor(unknown.GetSpecifiedName()); len(found) > 0 {
		return usage(fmt.Errorf("%w: is it --%s?", err, strings.Join(found, " or --")))
	}
	return usage(fmt.Errorf("%w: `%s --help` lists those of this command", err, cmd.CommandPath()))
}

var (
	likelyMSISDN = regexp.MustCompile(`^(\+[0-9]+|[0-9]{9,})$`)
	likelyAmount = regexp.MustCompile(`^[0-9]+$`)
)

// inPlaceOf returns the argument or flag that a user probably means by an unexpected argument.
func inPlaceOf(cmd *cobra.Command, argument string) string {
	called := strings.TrimSuffix(cmd.UseLine(), " [flags]")
	if found, _, err := cmd.Root().Find([]string{argument}); err == nil && cmd.Name() == "list" && found != cmd.Root() {
		return found.CommandPath() // list payments
	}
	for _, flag := range []struct {
		name string
		form *regexp.Regexp
	}{{"msisdn", likelyMSISDN}, {"amount", likelyAmount}} {
		if cmd.Flags().Lookup(flag.name) != nil && flag.form.MatchString(argument) {
			return called + " --" + flag.name + "=" + argument
		}
	}
	return called
}
