package wire

import "github.com/cauri-dev/cauri/server/faults"

const (
	RequestIDHeader  = "X-Request-Id"
	APIVersionHeader = "X-Service-Api-Version"
	FaultHeader      = faults.Header
)
