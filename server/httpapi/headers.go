package httpapi

import (
	"regexp"
)

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

const (
	requestIDHeader  = "X-Request-Id"
	apiVersionHeader = "X-Service-Api-Version"
)
