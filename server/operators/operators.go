// Package operators knows the mobile-money operators: which numbers belong to which operator, and how the operator's own API represents a
// transaction. Each operator has a package of its own; this one holds the table of them.
//
// Every fact about an operator has a mark for how sure it is: o observed in the operator's answers or documented by the operator, t not
// documented, but used by third-party clients, a assumed. A mark on a table holds for all rows without a mark of their own.
//
// An operator is added in these places (docs/where.md and docs/adding-an-operator.md say more):
//
//   - server/payments/market.go: its constant, its entry of Operators, and of only if it is in one country.
//   - its package below server/operators, and its row of the table in this file.
//   - detect.go: the prefixes of its numbers.
//   - test_numbers.go: a block of test numbers for each country.
//   - operatorstest: a fake of its API for tests, and a golden file in testdata.
//   - `make generate` writes the enums in api/v1alpha1/market_types.go and in its neighbors, those of the requests in
//     server/httpapi/wire, the CRDs and the references.
package operators

import (
	"encoding/json"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/airtel"
	"github.com/cauri-dev/cauri/server/operators/moov"
	"github.com/cauri-dev/cauri/server/operators/mtn"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/orange"
	"github.com/cauri-dev/cauri/server/payments"
)

// operator is what the package of an operator provides.
type operator struct {
	raw         func(*payments.Transaction) json.RawMessage
	unavailable func(t *payments.Transaction, why string) json.RawMessage
	newClient   func(adapter.Access) adapter.Client
	api         *operatorapi.API // its own API, as sandboxes serve it; nil: none
	credentials bool             // whether its API takes no payment of a store without credentials
}

var all = map[payments.Operator]operator{
	payments.Airtel: {airtel.Raw, airtel.Unavailable, airtel.NewClient, nil, true},
	payments.Moov:   {moov.Raw, moov.Unavailable, moov.NewClient, nil, false},
	payments.MTN:    {mtn.Raw, mtn.Unavailable, mtn.NewClient, mtn.NewAPI(), false},
	payments.Orange: {orange.Raw, orange.Unavailable, orange.NewClient, nil, false},
}

// Raw is the payload with which the operator of a transaction would report it, for any type and any status. Amounts are gross, in whole
// units of the currency. Phone numbers have no plus sign. Every payload that is made here has "_simulated": true as its first key.
//
// If the transaction was forwarded to an operator's API, Raw returns the stored answer of that API. Otherwise the payload follows from the
// transaction alone and is not stored. Raw returns nil, which is null in JSON, for an unknown operator.
func Raw(t *payments.Transaction) json.RawMessage {
	if len(t.NativeRaw) > 0 {
		return t.NativeRaw
	}
	if o, known := all[t.Operator]; known {
		return o.raw(t)
	}
	return nil
}

// Unavailable is the payload of a collection that ended [payments.ServiceUnavailable] because the operator's API could not be used, with
// the reason in the text field of the operator's payload. It is nil for an unknown operator.
func Unavailable(t *payments.Transaction, why string) json.RawMessage {
	if o, known := all[t.Operator]; known {
		return o.unavailable(t, why)
	}
	return nil
}

// NewClient makes a client of an operator's API; nil for an unknown operator.
func NewClient(name payments.Operator, a adapter.Access) adapter.Client {
	if o, known := all[name]; known {
		return o.newClient(a)
	}
	return nil
}

// NeedsCredentials reports whether the operator's API takes no payment of a store without credentials. The others do while no request
// has to carry them.
func NeedsCredentials(name payments.Operator) bool { return all[name].credentials }

// NativeAPIs are the operators' own APIs that sandboxes serve, in the order of [payments.Operators].
func NativeAPIs() []*operatorapi.API {
	var apis []*operatorapi.API
	for _, name := range payments.Operators {
		if api := all[name].api; api != nil {
			apis = append(apis, api)
		}
	}
	return apis
}

// NativeAPI is the own API of an operator; nil for none.
func NativeAPI(name payments.Operator) *operatorapi.API { return all[name].api }

// CallbackBody is the body of the callback that an operator's own API owes for a transaction with an outcome, from what was sent to it; nil
// if there is no such API. vague: a failure is told without its reason.
func CallbackBody(t *payments.Transaction, sent json.RawMessage, vague bool) []byte {
	if api := NativeAPI(t.Operator); api != nil {
		return api.Callback(t, sent, operatorapi.Telling{Vague: vague}).Body
	}
	return nil
}
