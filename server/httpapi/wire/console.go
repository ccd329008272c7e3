package wire

import (
	"cmp"
	"net/http"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// ConsoleLinkRequest is the body of POST /v1/console_links. The body is optional.
type ConsoleLinkRequest struct {
	_    struct{} `additionalProperties:"true"`
	Role string   `json:"role,omitempty" enum:"full,viewer" default:"full" example:"viewer" null:"for a link with all rights, or with msisdn" doc:"viewer: the person looks at everything and changes nothing. Leave it out of a link with msisdn. It must not be null."`
	// MSISDN makes the role handset.
	MSISDN string `json:"msisdn,omitempty" pattern:"^\\+[1-9][0-9]{6,14}$" patternDescription:"an E.164 number with its leading +" example:"+250788000001" null:"for a link to the whole sandbox" doc:"Number of a test client. The link opens its phone and nothing else, with the role handset. It must not be null."`
}

// CreateConsoleLink reads the body of POST /v1/console_links.
var CreateConsoleLink = newDecoder[ConsoleLinkRequest]()

// ConsoleLink is the answer of POST /v1/console_links.
type ConsoleLink struct {
	URL       string  `json:"url" format:"uri" doc:"Opens the console once, in one browser. Treat it like a password until it was used."`
	Role      string  `json:"role" enum:"full,viewer,handset"`
	MSISDN    *string `json:"msisdn" doc:"Of the phone that a handset uses; null for the other roles."`
	ExpiresAt string  `json:"expiresAt" format:"date-time" doc:"Five minutes after now. ISO 8601, UTC, in real time."`
}

// ConsoleSession is a browser that is signed in to the console.
type ConsoleSession struct {
	ID        string  `json:"id" doc:"Of the session, also in the request log. It opens nothing." example:"cs_4GQ2BTZ7WQXKJ5UYV6ZJH3M2NA"`
	Role      string  `json:"role" enum:"full,viewer,handset"`
	MSISDN    *string `json:"msisdn" doc:"Of the phone that a handset uses; null for the other roles."`
	CreatedAt string  `json:"createdAt" format:"date-time" doc:"ISO 8601, UTC, in real time."`
	ExpiresAt string  `json:"expiresAt" format:"date-time" doc:"Eight hours later."`
}

// ConsoleSessionList is the answer of GET /v1/console_sessions.
type ConsoleSessionList struct {
	Data []ConsoleSession `json:"data" doc:"Newest first, 200 at most."`
}

// ConsoleSessionParameters has no parser: the list has no parameters.
var ConsoleSessionParameters = Parameters[struct{}, ConsoleSessionList]{}

// ConsoleSessionOf returns the view of a session.
func ConsoleSessionOf(s *sandboxes.ConsoleSession) ConsoleSession {
	return ConsoleSession{
		ID: s.ID, Role: string(s.Role), MSISDN: NumberOf(s.ConsoleAccess),
		CreatedAt: payments.FormatTime(s.CreatedAt),
		ExpiresAt: payments.FormatTime(s.ExpiresAt),
	}
}

// NumberOf returns the number of a handset; nil for the other roles.
func NumberOf(a sandboxes.ConsoleAccess) *string {
	if a.MSISDN == "" {
		return nil
	}
	return &a.MSISDN
}

// ConsoleAccess returns the access that the link gives. Its error has the type [*Error].
func ConsoleAccess(b *ConsoleLinkRequest) (sandboxes.ConsoleAccess, error) {
	switch {
	case b.MSISDN == "":
		return sandboxes.ConsoleAccess{Role: cmp.Or(sandboxes.ConsoleRole(b.Role), sandboxes.ConsoleFull)}, nil
	case b.Role != "":
		const wrong = "must be left out of a link with msisdn, which opens one phone"
		return sandboxes.ConsoleAccess{}, InvalidBody(FieldErrors{"role": {wrong}})
	}
	return sandboxes.ConsoleAccess{Role: sandboxes.ConsoleHandset, MSISDN: b.MSISDN}, nil
}

// NoPhone is 400 for a link to the phone of a number that no test client has.
func NoPhone(msisdn string) *Error {
	message := "must be the number of a test client: GET /v1/test_clients lists them"
	if w := operators.CheckLength(msisdn); w != nil {
		message += ". " + w.String()
	}
	return InvalidField("msisdn", message)
}

// ConsoleOff is 404 for links of a console that is switched off.
func ConsoleOff() *Error {
	return NotFound("This installation has no console: it is switched off by --console=false.")
}

// NoSuchConsoleSession is 404 for a session that has ended or never existed.
func NoSuchConsoleSession() *Error {
	return &Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such open session of the console."}
}
