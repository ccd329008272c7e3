package worker_test

import (
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// The payments of three test numbers have a fault without the sandbox's: their event is lost, or sent twice, or sent as usual and told by
// the fault's name.
func TestTestNumbersHaveFaultsOfTheCallback(t *testing.T) {
	w := newFixture(t, nil)
	r := w.declare()
	want := map[payments.Behavior]struct {
		seen, fault string
		state       ledger.EventState
	}{
		payments.ApproveWithoutCallback: {"", "test number 910", ledger.EventFailed},
		payments.ApproveCallbackTwice:   {"good good", "test number 911", ledger.EventDelivered},
		payments.ApproveCallbackFirst:   {"good", "test number 912", ledger.EventDelivered},
		payments.Approve:                {"good", "", ledger.EventDelivered},
	}
	made := map[payments.Behavior]payments.ID{}
	for behavior := range want {
		made[behavior] = w.pay(string(behavior), payments.Success)
		if behavior != payments.Approve {
			w.exec("update transactions set test_behavior = $1 where reference = $1", string(behavior))
		}
	}
	w.run()
	w.until(ledger.EventDelivered, 3)
	w.until(ledger.EventFailed, 1)
	for behavior, id := range made {
		r.mu.Lock()
		seen := strings.Join(r.seen[webhooks.EventID(id)], " ")
		r.mu.Unlock()
		got := read[string](w, "select coalesce(faults[1], '') from transactions where reference = $1", string(behavior))
		if seen != want[behavior].seen || got != want[behavior].fault {
			t.Errorf("%s: the receiver saw %q, and the transaction names %q", behavior, seen, got)
		}
		state := read[string](w, "select e.state::text from events e join transactions t using (tenant, id) where t.reference = $1", string(behavior))
		if state != string(want[behavior].state) {
			t.Errorf("%s: the event is %s", behavior, state)
		}
	}
}
