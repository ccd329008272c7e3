// Package operators has the table of the mobile-money operators, and the prefixes of their numbers. Each operator has
// its own package.
//
// Every fact about an operator has a mark, see [operatorapi.Mark]. The mark of a table applies to all rows without a
// mark.
//
//   - Documented: the operator documents the fact, or it was observed in the operator's answers.
//   - ThirdParty: independent clients agree on the fact.
//   - Assumed: no source is known, so the fact is our choice.
//
// An operator is added in these places (docs/where.md and docs/adding-an-operator.md say more):
//
//   - server/payments/markets.yaml: its row, and a row for each country that it is in.
//   - its package below server/operators, and its row of the table in this file.
//   - operatorstest: a fake of its API for tests, and a golden file in testdata.
//   - `make generate` writes the enums in api/v1alpha1 and in server/httpapi/wire, the CRDs and the references.
package operators

import (
	"encoding/json"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/airtel"
	"github.com/cauri-dev/cauri/server/operators/moov"
	"github.com/cauri-dev/cauri/server/operators/mpesa"
	"github.com/cauri-dev/cauri/server/operators/mtn"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/orange"
	"github.com/cauri-dev/cauri/server/payments"
)

// operator has the functions and properties that the package of an operator provides.
type operator struct {
	raw         func(*payments.Transaction) json.RawMessage
	unavailable func(t *payments.Transaction, reason string) json.RawMessage
	newClient   func(adapter.Access) adapter.Client
	api         *operatorapi.API // simulation of its own API; nil for none
	credentials bool             // whether its API requires credentials
}

var all = map[payments.Operator]operator{
	payments.Airtel: {airtel.Raw, airtel.Unavailable, airtel.NewClient, airtel.NewAPI(), true},
	payments.Moov:   {moov.Raw, moov.Unavailable, moov.NewClient, moov.NewAPI(), false},
	payments.MPesa:  {mpesa.Raw, mpesa.Unavailable, mpesa.NewClient, mpesa.NewAPI(), false},
	payments.MTN:    {mtn.Raw, mtn.Unavailable, mtn.NewClient, mtn.NewAPI(), false},
	payments.Orange: {orange.Raw, orange.Unavailable, orange.NewClient, orange.NewAPI(), false},
}

// Raw returns the operator's payload of a transaction, for any type and any status. Amounts are gross, in whole units
// of the currency. Phone numbers have no plus sign. Every simulated payload has "_simulated": true as its first key.
//
// If the transaction was forwarded to an operator's API, Raw returns the stored answer of that API. Otherwise the
// payload is derived from the transaction alone and is not stored. For an unknown operator, Raw returns nil, which is
// null in JSON.
func Raw(t *payments.Transaction) json.RawMessage {
	if len(t.NativeRaw) > 0 {
		return t.NativeRaw
	}
	if o, known := all[t.Operator]; known {
		return o.raw(t)
	}
	return nil
}

// Unavailable returns the payload of a collection that ended with [payments.ServiceUnavailable] because the operator's
// API could not be used. The parameter reason becomes the text field of the payload. Unavailable returns nil for an
// unknown operator.
func Unavailable(t *payments.Transaction, reason string) json.RawMessage {
	if o, known := all[t.Operator]; known {
		return o.unavailable(t, reason)
	}
	return nil
}

// NewClient returns a client of an operator's API. It returns nil for an unknown operator.
func NewClient(name payments.Operator, a adapter.Access) adapter.Client {
	if o, known := all[name]; known {
		return o.newClient(a)
	}
	return nil
}

// NeedsCredentials reports whether the operator's API refuses payments of a store without credentials.
func NeedsCredentials(name payments.Operator) bool { return all[name].credentials }

// NativeAPIs returns the simulated operators' own APIs, in the order of [payments.Operators].
func NativeAPIs() []*operatorapi.API {
	var apis []*operatorapi.API
	for _, name := range payments.Operators {
		if api := all[name].api; api != nil {
			apis = append(apis, api)
		}
	}
	return apis
}

// Flickering returns the operators that have a status call whose answers flicker under a fault with statusFlickers.
func Flickering() (names []payments.Operator) {
	for _, api := range NativeAPIs() {
		if api.Flickers() {
			names = append(names, api.Operator)
		}
	}
	return names
}

// NativeAPI returns the simulated own API of an operator. It returns nil if the operator has none.
func NativeAPI(name payments.Operator) *operatorapi.API { return all[name].api }

// Replace replaces the own API of an operator until undo is called. Only tests call it, before anything reads the
// table.
func Replace(name payments.Operator, api *operatorapi.API) (undo func()) {
	before := all[name]
	changed := before
	changed.api = api
	all[name] = changed
	return func() { all[name] = before }
}

// CallbackOf returns the request of a callback. It is empty if the operator has no own API. The parameter reason is the
// reason that a fault sets, see [operatorapi.StatusView]; empty for none.
func CallbackOf(c *payments.Callback, reason string) operatorapi.Callback {
	api := NativeAPI(c.Operator)
	if api == nil {
		return operatorapi.Callback{}
	}
	return api.Callback(c.Transaction, c.Sent, operatorapi.StatusView{Vague: c.Vague, Reason: reason, Kind: c.Kind})
}

// CallbackBody returns the body of a callback without a fault.
func CallbackBody(c *payments.Callback) []byte { return CallbackOf(c, "").Body }
