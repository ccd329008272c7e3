package wire

// CommandAgent begins the User-Agent of the command line.
const CommandAgent = "cauri/"

const (
	RequestIDHeader  = "X-Request-Id"
	APIVersionHeader = "X-Service-Api-Version"
	// IgnoredHeader names the unknown fields and parameters of the request.
	IgnoredHeader = "X-Cauri-Ignored"
)
