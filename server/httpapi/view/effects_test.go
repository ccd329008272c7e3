package view

import (
	"slices"
	"testing"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
)

// Transactions, events and attempts say what the faults did that they name.
func TestFaultsAreToldWithTheirEffects(t *testing.T) {
	t.Parallel()
	declared := faults.Set{{Name: "twice", Webhook: &faults.Webhook{Duplicate: 2}}}
	named := []string{"twice", "removed"}
	e := ledger.EventDetail{Event: ledger.Event{LastFaults: named}, History: []ledger.AttemptRecord{{Faults: named}}}
	detail := EventDetailOf(&e, declared)
	streamed := StreamEntryOf(&ledger.Change{Event: &e.Event, Attempt: &e.History[0]}, "", declared)
	request := LoggedRequestOf(&requests.Entry{Fault: "twice"}, declared)
	if want := []string{"twice: sent 2 times"}; !slices.Equal(request.Effects, want) || *request.Fault != "twice" {
		t.Errorf("request: %q, want %q", request.Effects, want)
	}
	for what, got := range map[string][]string{
		"transaction": PaymentOf(&payments.Transaction{Faults: named}, declared).Effects, "event": EventSummaryOf(&e.Event, declared).LastEffects,
		"attempt": detail.Attempts[0].Effects, "event of the stream": streamed.Event.LastEffects, "attempt of the stream": streamed.Attempt.Effects,
	} {
		if want := []string{"twice: sent 2 times", "removed"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
}
