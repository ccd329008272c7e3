package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/cauri-dev/cauri/server/store"
)

// Error is an answer that is not a result: the contract's error body and its HTTP status.
type Error struct {
	Status  int            `json:"-"`
	Code    string         `json:"error" doc:"Machine-readable code." example:"invalid_body"`
	Message string         `json:"message" doc:"What is wrong, and what to send instead."`
	Detail  map[string]any `json:"detail" doc:"Structured detail, such as the fields that are wrong."`

	retryAfter string // seconds, for the header Retry-After; empty for none
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// fieldErrors maps a field of a request to what is wrong with it.
type fieldErrors map[string][]string

func invalidBody(fields fieldErrors) *Error {
	e := &Error{Status: http.StatusBadRequest, Code: "invalid_body", Message: "The request body is invalid; detail.fieldErrors says which fields and why."}
	e.Detail = map[string]any{"fieldErrors": fields}
	return e
}

func invalidField(field, message string) *Error { return invalidBody(fieldErrors{field: {message}}) }

func malformedBody(message string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_body", Message: message}
}

func notFound(message string) *Error {
	return &Error{Status: http.StatusNotFound, Code: "not_found", Message: message}
}

func unauthorized() *Error {
	return &Error{Status: http.StatusUnauthorized, Code: "unauthorized",
		Message: "Send the sandbox's API key as `Authorization: Bearer <key>`. It is missing, malformed or not valid here."}
}

func environmentNotFound(format string, args ...any) *Error {
	return &Error{Status: http.StatusNotFound, Code: "env_not_found", Message: fmt.Sprintf(format, args...)}
}

func duplicateReference(reference string) *Error {
	return &Error{Status: http.StatusConflict, Code: "duplicate_reference",
		Message: fmt.Sprintf("The reference %q belongs to another request. Send a new reference, or repeat that request exactly.", reference)}
}

func quotaExceeded(e store.ErrQuotaExceeded) *Error {
	return &Error{Status: http.StatusPaymentRequired, Code: "quota_exceeded",
		Message: fmt.Sprintf("This sandbox has made the %d transactions that it may make in a calendar month (UTC). Nothing was recorded.", e.Quota),
		Detail:  map[string]any{"monthlyTransactions": e.Quota}}
}

func unavailable() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", retryAfter: "1",
		Message: "The service cannot reach its database. This request recorded nothing; repeat it, with the same reference if it has one."}
}

// uncertain is unavailable after something was sent to the database that may have been committed.
func uncertain(repeat unfinished) *Error {
	e := &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Detail: repeat.detail(), retryAfter: "1",
		Message: "The service lost its database while it worked on this request. It is not known whether it was recorded. Repeat it: nothing is recorded twice."}
	if e.Detail != nil {
		e.Message = "The service lost its database while it worked on this request. It is not known whether it was recorded. Repeat it with the reference in detail.reference: under one reference nothing is recorded twice."
	}
	return e
}

func overloaded() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: "overloaded", retryAfter: "1",
		Message: "More is asked of the service than it can do in good time. This request recorded nothing; repeat it, with the same reference if it has one."}
}

// suspended asks for a pause of a minute: a person ends it, and nobody knows when.
func suspended() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: "suspended", retryAfter: "60",
		Message: "This sandbox is suspended. Nothing was recorded. Ask whoever runs it to set suspend to false in its spec."}
}

// fail answers with an error. What is not meant for the caller is logged and answered as internal.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var e *Error
	var repeat unfinished
	errors.As(err, &repeat)
	switch {
	case errors.As(err, &e):
	case errors.Is(err, store.ErrOverloaded): // not logged: there are thousands of them, and the metrics count them
		e = overloaded()
	case errors.Is(err, store.ErrUncertain):
		s.log.WarnContext(r.Context(), "request failed, and may have been recorded", "request", requestID(r.Context()), "error", err)
		e = uncertain(repeat)
	case errors.Is(err, store.ErrUnavailable):
		s.log.WarnContext(r.Context(), "request failed", "request", requestID(r.Context()), "error", err)
		e = unavailable()
	default:
		s.log.ErrorContext(r.Context(), "request failed", "request", requestID(r.Context()), "error", err)
		e = &Error{Status: http.StatusInternalServerError, Code: "internal", Detail: repeat.detail(),
			Message: "Something went wrong on our side. Repeat the request with the same reference; nothing is booked twice."}
	}
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if e.retryAfter != "" {
		w.Header().Set("Retry-After", e.retryAfter)
	}
	writeJSON(w, e.Status, e)
}

func logger(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.Default()
	}
	return log
}
