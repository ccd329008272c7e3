package faults

import (
	"math"
	"net/http"
	"strconv"
)

// This file has what a fault answers. Package service decides in faults.go which fault applies to a request, and package
// exchange carries it out in fault.go.

// codes are the codes of the statuses that faults answer with.
var codes = map[int]string{
	http.StatusTooManyRequests: "rate_limited", http.StatusInternalServerError: "internal",
	http.StatusNotImplemented: "not_implemented",
	http.StatusBadGateway:     "bad_gateway", http.StatusServiceUnavailable: "unavailable",
	http.StatusGatewayTimeout: "gateway_timeout",
}

// CodeOf is the code of an answer by a fault, by its status; empty for a status that no fault answers with.
func CodeOf(status int) string { return codes[status] }

// Pause is how many seconds a client is asked to pause: those of the fault, or one, for a status that asks for a pause;
// empty for another.
func (a *API) Pause() string {
	if a.Status != http.StatusTooManyRequests && a.Status != http.StatusServiceUnavailable {
		return ""
	}
	return strconv.Itoa(max(1, int(math.Ceil(a.RetryAfter.Of().Seconds()))))
}
