// Package operators knows how the mobile-money operators speak: which numbers are whose, and what an operator's own API
// says of a transaction.
//
// Every fact in its tables carries how sure it is: o observed in an operator's answers or documented by the operator,
// t not documented, but third-party clients agree on it, a assumed. A mark on a table holds for all of its rows that have
// none of their own.
package operators

import (
	"encoding/json"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/airtel"
	"github.com/cauri-dev/cauri/server/operators/moov"
	"github.com/cauri-dev/cauri/server/operators/mtn"
	"github.com/cauri-dev/cauri/server/operators/orange"
	"github.com/cauri-dev/cauri/server/payments"
)

// operator is what the package of an operator gives.
type operator struct {
	raw         func(*payments.Transaction) json.RawMessage
	unavailable func(t *payments.Transaction, why string) json.RawMessage
	newClient   func(adapter.Access) adapter.Client
}

var all = map[payments.Operator]operator{
	payments.Airtel: {airtel.Raw, airtel.Unavailable, airtel.NewClient},
	payments.Moov:   {moov.Raw, moov.Unavailable, moov.NewClient},
	payments.MTN:    {mtn.Raw, mtn.Unavailable, mtn.NewClient},
	payments.Orange: {orange.Raw, orange.Unavailable, orange.NewClient},
}

// Raw is the payload with which the transaction's operator would tell how the transaction stands: of any type, in any
// status. Amounts are the transaction's gross amount, in whole units of its currency; numbers are written without their
// plus sign, as the operators do. Every payload that is made here has "_simulated": true as its first key.
//
// A transaction that was forwarded to an operator's API keeps what that API answered, and Raw returns just that. Anything
// else follows from the transaction alone, so that it can be made whenever it is read and need not be stored. The result
// is nil, which is JSON's null, for an operator that does not exist.
func Raw(t *payments.Transaction) json.RawMessage {
	if len(t.NativeRaw) > 0 {
		return t.NativeRaw
	}
	if o, known := all[t.Operator]; known {
		return o.raw(t)
	}
	return nil
}

// Unavailable is the payload of a collection that ended [payments.ServiceUnavailable] because its operator's API could not
// be used, with the reason where the operator's own payload has a text; nil for an operator that does not exist.
func Unavailable(t *payments.Transaction, why string) json.RawMessage {
	if o, known := all[t.Operator]; known {
		return o.unavailable(t, why)
	}
	return nil
}

// NewClient makes the client of an operator's API; nil for an operator that does not exist.
func NewClient(name payments.Operator, a adapter.Access) adapter.Client {
	if o, known := all[name]; known {
		return o.newClient(a)
	}
	return nil
}
