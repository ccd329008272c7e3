package webhooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
)

// errLate is the error of an attempt that timed out.
type errLate struct {
	Within time.Duration
	Stage  stage
	Host   string // that is looked up
}

func (e errLate) Error() string {
	said := map[stage]string{
		lookingUp: "lookup " + e.Host + ": no address", connecting: "no connection", shakingHands: HandshakeLate, asking: "no answer",
	}
	return fmt.Sprintf("%s within %s", said[e.Stage], e.Within)
}

// HandshakeLate is in the error of an attempt that reached a program which does not finish the TLS handshake.
const HandshakeLate = "tls: handshake not finished"

// errForbiddenReceiver tells a merchant, in the list of attempts, that its receiver has an address that is not allowed.
type errForbiddenReceiver struct{ egress.ErrForbidden }

func (e errForbiddenReceiver) Error() string {
	return fmt.Sprintf("events may not be sent to %s: %s", e.Address, e.Reason)
}

func (e errForbiddenReceiver) Unwrap() error { return e.ErrForbidden }

// Refusal returns the error of an attempt at a URL that a guard refuses; nil for a URL that it does not refuse.
func Refusal(guard egress.Guard, url string) error {
	err := guard.CheckURL(url)
	if forbidden := (egress.ErrForbidden{}); errors.As(err, &forbidden) {
		return errForbiddenReceiver{forbidden}
	}
	return err
}

// ErrHostNotAllowed is the error of a callback to a host that the sandbox allowed when it was asked for, and no more.
var ErrHostNotAllowed = errors.New("the sandbox does not allow callbacks to this host any more")

// Kind returns the kind of failure of an attempt, for metrics. The kinds are a fixed set, and say nothing about the
// receiver. Kind returns "" if the attempt was acknowledged.
func (r Result) Kind() string {
	switch {
	case r.Err == nil:
		return ""
	case r.Status != 0:
		return kindOfAnswer(r.Status)
	}
	return kindOf(r.Err)
}

func kindOfAnswer(status int) string {
	if status == http.StatusGone {
		return "gone"
	}
	return fmt.Sprintf("answered_%dxx", status/100)
}

// errAnswered is the error of an attempt whose answer is no 2xx.
type errAnswered struct{ status int }

const answered = "the receiver answered "

func (e errAnswered) Error() string { return Answered(e.status) }

// Answered returns the text of the error of an attempt with an answer that is no 2xx, as [KindOfText] reads it.
func Answered(status int) string { return answered + strconv.Itoa(status) }

// Those of callbacks that spec.callbackHosts of the sandbox would allow.
var callbackHostTexts = []string{ErrHostNotAllowed.Error(), egress.NotPublic}

// OfCallbackHost reports whether the error of a callback is that its sandbox does not allow the host.
func OfCallbackHost(text string) bool {
	return slices.ContainsFunc(callbackHostTexts, func(part string) bool { return strings.Contains(text, part) })
}

// textsOfKinds has what is in the texts of errors, by kind. The first that fits decides.
var textsOfKinds = []struct {
	kind  string
	texts []string
}{
	{"forbidden", []string{"events may not be sent to ", ErrHostNotAllowed.Error()}},
	{"dns", []string{"lookup "}}, // it may be a timeout too
	{"timeout", []string{"no answer within ", "context deadline exceeded"}},
	{"connect_timeout", []string{"no connection within "}},
	{"tls", []string{"tls: ", "x509: ", "HTTP response to HTTPS client"}},
	{"connection_refused", []string{"connection refused", "actively refused"}},
	{"connection_reset", []string{"connection reset", "EOF", "broken pipe"}},
}

// KindOfText returns the kind of failure and the status of an attempt from the text of its error, which is all that is
// kept of some attempts. The status is 0 if no answer came.
func KindOfText(text string) (kind string, status int) {
	if number, found := strings.CutPrefix(text, answered); found {
		status, _ = strconv.Atoi(number)
		return kindOfAnswer(status), status
	}
	for _, each := range textsOfKinds {
		if slices.ContainsFunc(each.texts, func(part string) bool { return strings.Contains(text, part) }) {
			return each.kind, 0
		}
	}
	return "other", 0
}

func kindOf(err error) string {
	var forbidden egress.ErrForbidden
	var late errLate
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &forbidden), errors.Is(err, ErrHostNotAllowed):
		return "forbidden"
	case errors.As(err, &late):
		return map[stage]string{lookingUp: "dns", connecting: "connect_timeout", shakingHands: "tls", asking: "timeout"}[late.Stage]
	case errors.As(err, &name): // before the next one: it may be a timeout too
		return "dns"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &record):
		return "tls"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection_refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE):
		return "connection_reset"
	}
	return "other"
}
