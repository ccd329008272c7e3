package advice

import (
	"maps"
	"slices"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Causes returns all causes, each with an example of its sentence. The documents have them.
func Causes() (all []Advice) {
	all = append(all, ofReceivers()...)
	all = append(all, OfFaults([]string{"lost: not sent"}, "evt_1"))
	for i := range table {
		all = append(all, table[i].advice(table[i].arguments))
	}
	for _, status := range payments.Statuses {
		if status.Terminal() && status != payments.Success {
			all = append(all, OfOutcome(&Outcome{Status: status, Type: payments.Collection, Amount: "1500 XOF", Limit: "2000000 XOF"}))
		}
	}
	for i := range signatures {
		all = append(all, signatures[i].advice(signatures[i].arguments))
	}
	for _, code := range slices.Sorted(maps.Keys(instead)) {
		all = append(all, OfRefusal(code, ""))
	}
	return all
}

// examplesOfFailures are errors of attempts, one for each cause.
var examplesOfFailures = []string{
	"connection refused", "no answer within 10s", "no connection within 10s", "lookup shop: " + noSuchHost, "lookup shop: server misbehaving",
	"tls: failed to verify certificate", "tls: " + webhooks.HandshakeLate, "events may not be sent to 127.0.0.1: " + egress.Loopback,
	"connection reset by peer", "the receiver answered 401", "the receiver answered 400", "the receiver answered 404", "the receiver answered 410",
	"the receiver answered 500", "the receiver answered 302", "the receiver answered 422", "another error",
}

// ofReceivers returns the causes of events and callbacks that do not arrive.
func ofReceivers() (all []Advice) {
	const host = "shop.example:3000"
	for _, failure := range examplesOfFailures {
		all = append(all, OfAttempt(Attempt{Failure: failure, Host: host}))
	}
	return append(all,
		OfAttempt(Attempt{Failure: "the receiver answered 401", Host: host, Callback: true}),
		OfAttempt(Attempt{Failure: webhooks.ErrHostNotAllowed.Error(), Host: host, Callback: true}),
		OfAttempt(Attempt{Failure: "connection refused", Host: host, Former: true}),
		OfAttempt(Attempt{Failure: "connection refused", Host: host, Acknowledged: true}),
	)
}
