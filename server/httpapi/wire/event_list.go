package wire

import (
	"github.com/cauri-dev/cauri/server/payments"
)

// EventNames has the names of the events in the order of [payments.Types], and then the name of callbacks of operators'
// own APIs.
var EventNames = func() []string {
	var names []string
	for _, t := range payments.Types {
		names = append(names, t.Event())
	}
	return append(names, payments.CallbackEvent)
}()
