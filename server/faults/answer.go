package faults

import (
	"math"
	"net/http"
	"strconv"
)

// This file has the answers of faults. The file service/apply_fault.go decides which fault applies to a request. The file
// httpfront/answer_fault.go applies it to the answer.

// codes maps the HTTP statuses of faults to error codes.
var codes = map[int]string{
	http.StatusTooManyRequests: "rate_limited", http.StatusInternalServerError: "internal",
	http.StatusNotImplemented: "not_implemented",
	http.StatusBadGateway:     "bad_gateway", http.StatusServiceUnavailable: "unavailable",
	http.StatusGatewayTimeout: "gateway_timeout",
}

// CodeOf returns the error code for the HTTP status of a fault; empty for a status that no fault has.
func CodeOf(status int) string { return codes[status] }

// Pause returns the value of the header Retry-After: the seconds of the fault, at least 1. It is empty for a status
// without this header.
func (a *API) Pause() string {
	if a.Status != http.StatusTooManyRequests && a.Status != http.StatusServiceUnavailable {
		return ""
	}
	return strconv.Itoa(max(1, int(math.Ceil(a.RetryAfter.Of().Seconds()))))
}
