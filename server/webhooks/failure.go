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
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
)

// errNoAnswer is the error of an attempt that timed out.
type errNoAnswer struct{ Within time.Duration }

func (e errNoAnswer) Error() string { return fmt.Sprintf("no answer within %s", e.Within) }

// errForbiddenReceiver tells a merchant, in the list of attempts, that its receiver has an address that is not allowed.
type errForbiddenReceiver struct{ egress.ErrForbidden }

func (e errForbiddenReceiver) Error() string {
	return fmt.Sprintf("events may not be sent to %s: %s", e.Address, e.Why)
}

func (e errForbiddenReceiver) Unwrap() error { return e.ErrForbidden }

// Kind returns the kind of failure of an attempt, for metrics. The kinds are a fixed set, and say nothing about the
// receiver. Kind returns "" if the attempt was acknowledged.
func (r Result) Kind() string {
	switch {
	case r.Err == nil:
		return ""
	case r.Status == http.StatusGone:
		return "gone"
	case r.Status != 0:
		return fmt.Sprintf("answered_%dxx", r.Status/100)
	}
	return kindOf(r.Err)
}

func kindOf(err error) string {
	var forbidden egress.ErrForbidden
	var late errNoAnswer
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &forbidden):
		return "forbidden"
	case errors.As(err, &late), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &name):
		return "dns"
	case errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &record):
		return "tls"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection_refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE):
		return "connection_reset"
	}
	return "other"
}
