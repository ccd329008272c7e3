package wire

import "github.com/cauri-dev/cauri/server/faults"

const (
	RequestIDHeader  = "X-Request-Id"
	APIVersionHeader = "X-Service-Api-Version"
	FaultHeader      = faults.Header
	// IgnoredHeader names the unknown fields and parameters of the request.
	IgnoredHeader = "X-Cauri-Ignored"
)
