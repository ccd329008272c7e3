package view

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// ConsoleSessionOf returns the view of a session.
func ConsoleSessionOf(s *sandboxes.ConsoleSession) wire.ConsoleSession {
	return wire.ConsoleSession{
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

// NoPhone is 400 for a link to the phone of a number that no test client has.
func NoPhone(sandbox *sandboxes.Sandbox, msisdn string) *wire.Error {
	message := "must be the number of a test client: GET /v1/test_clients lists them"
	if w := operators.CheckLength(sandbox.Known, msisdn); w != nil {
		message += ". " + w.String()
	}
	return InvalidField("msisdn", message)
}

// ConsoleOff is 404 for links of a console that is switched off.
func ConsoleOff() *wire.Error {
	return NotFound("This installation has no console: it is switched off by --console=false.")
}

// NoSuchConsoleSession is 404 for a session that has ended or never existed.
func NoSuchConsoleSession() *wire.Error {
	return &wire.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such open session of the console."}
}
