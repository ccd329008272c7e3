package decode

import (
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// CreateReceiverCheck reads the body of POST /v1/receiver_checks.
var CreateReceiverCheck = newDecoder[wire.ReceiverCheckRequest]()

// ParseCheckID reads the id of a check. It returns [payments.ErrBadID].
func ParseCheckID(text string) (payments.ID, error) {
	code, found := strings.CutPrefix(text, wire.CheckPrefix)
	if !found {
		return payments.ID{}, payments.ErrBadID
	}
	return payments.ParseCode(code)
}
