package httpfront

import (
	"errors"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/service"
)

// This file applies a fault to an answer: it delays the answer, truncates its body, or drops the connection. The file
// service/apply_fault.go decides which fault applies and whether it ends the request.

// IsDropped reports whether an error comes from a fault that drops the request's connection.
func IsDropped(err error) bool {
	var fault service.ErrFault
	return errors.As(err, &fault) && fault.Fault.Answer().Status == 0
}

// applyFaults applies the faults of a request to its answer. It adds a header with the names of the faults.
func applyFaults(f *service.RequestFaults, a Answer, now time.Time) Answer {
	if f.ToAnswer != nil {
		a = delayOrTruncate(a, f.ToAnswer.Answer(), now)
		a = withFaultHeader(a, f.ToAnswer)
	}
	if f.ToStatus != nil && f.ToStatus != f.ToAnswer {
		a = withFaultHeader(a, f.ToStatus)
	}
	return a
}

// delayOrTruncate delays or drops an answer, or truncates its body, as the fault says.
func delayOrTruncate(a Answer, f *faults.API, now time.Time) Answer {
	if f.DropConnection != "" {
		a.Status = 0
	}
	if f.MalformedBody && a.Body != nil {
		a.Body = firstHalf{a.Body}
	}
	if delay := f.Delay.Of(); delay > 0 {
		if a.Due.Before(now) {
			a.Due = now
		}
		a.Due = a.Due.Add(delay)
	}
	return a
}

func withFaultHeader(a Answer, f *faults.Fault) Answer {
	a.Header = a.Header.Clone() // [Answer.Await] may return the same header
	if a.Header == nil {
		a.Header = http.Header{}
	}
	a.Header.Add(faults.Header, f.Name)
	return a
}

// firstHalf is a body cut to its first half, which is not valid JSON.
type firstHalf struct{ Body }

// Append implements [Body].
func (h firstHalf) Append(text []byte) ([]byte, error) {
	all, err := h.Body.Append(text)
	return all[:len(text)+(len(all)-len(text))/2], err
}
