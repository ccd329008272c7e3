package wire

import (
	"regexp"
)

var RequestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

const (
	RequestIDHeader  = "X-Request-Id"
	APIVersionHeader = "X-Service-Api-Version"
)
