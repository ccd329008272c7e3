package decode

import (
	"cmp"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// CreateConsoleLink reads the body of POST /v1/console_links.
var CreateConsoleLink = newDecoder[wire.ConsoleLinkRequest]()

// ConsoleSessionParameters has no parser: the list has no parameters.
var ConsoleSessionParameters = Parameters[struct{}, wire.ConsoleSessionList]{}

// ConsoleAccess returns the access that the link gives. Its error has the type [*wire.Error].
func ConsoleAccess(b *wire.ConsoleLinkRequest) (sandboxes.ConsoleAccess, error) {
	switch {
	case b.MSISDN == "":
		return sandboxes.ConsoleAccess{Role: cmp.Or(sandboxes.ConsoleRole(b.Role), sandboxes.ConsoleFull)}, nil
	case b.Role != "":
		const wrong = "must be left out of a link with msisdn, which opens one phone"
		return sandboxes.ConsoleAccess{}, view.InvalidBody(wire.FieldErrors{"role": {wrong}})
	}
	return sandboxes.ConsoleAccess{Role: sandboxes.ConsoleHandset, MSISDN: b.MSISDN}, nil
}
