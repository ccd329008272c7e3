package wire

import (
	"regexp"
)

// RequestIDForm is the form of an X-Request-Id that is returned as it was sent.
var RequestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

const (
	RequestIDHeader  = "X-Request-Id"
	APIVersionHeader = "X-Service-Api-Version"
	FaultHeader      = "X-Cauri-Fault"
)
