package wire

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// ConsoleLinkRequest is the body of POST /v1/console_links. The body is optional.
type ConsoleLinkRequest struct {
	_    struct{} `additionalProperties:"true"`
	Role string   `json:"role,omitempty" enum:"full,viewer" default:"full" example:"viewer" doc:"viewer: the person looks at everything and changes nothing."`
}

// CreateConsoleLink reads the body of POST /v1/console_links.
var CreateConsoleLink = newDecoder[ConsoleLinkRequest]()

// ConsoleLink is the answer of POST /v1/console_links.
type ConsoleLink struct {
	URL       string `json:"url" format:"uri" doc:"Opens the console once, in one browser. Treat it like a password until it was used."`
	Role      string `json:"role" enum:"full,viewer,handset"`
	ExpiresAt string `json:"expiresAt" format:"date-time" doc:"Five minutes after now. ISO 8601, UTC, in real time."`
}

// ConsoleSession is a browser that is signed in to the console.
type ConsoleSession struct {
	ID        string `json:"id" doc:"Of the session, also in the request log. It opens nothing." example:"cs_4GQ2BTZ7WQXKJ5UYV6ZJH3M2NA"`
	Role      string `json:"role" enum:"full,viewer,handset"`
	CreatedAt string `json:"createdAt" format:"date-time" doc:"ISO 8601, UTC, in real time."`
	ExpiresAt string `json:"expiresAt" format:"date-time" doc:"Eight hours later."`
}

// ConsoleSessionList is the answer of GET /v1/console_sessions.
type ConsoleSessionList struct {
	Data []ConsoleSession `json:"data" doc:"Newest first, 200 at most."`
}

// ConsoleSessionOf returns the view of a session.
func ConsoleSessionOf(s *sandboxes.ConsoleSession) ConsoleSession {
	return ConsoleSession{
		ID: s.ID, Role: string(s.Role), CreatedAt: payments.FormatTime(s.CreatedAt), ExpiresAt: payments.FormatTime(s.ExpiresAt),
	}
}

// ConsoleOff is 404 for links of a console that is switched off.
func ConsoleOff() *Error {
	return NotFound("This installation has no console: it is switched off by --console=false.")
}

// NoSuchConsoleSession is 404 for a session that has ended or never existed.
func NoSuchConsoleSession() *Error {
	return &Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such open session of the console."}
}
