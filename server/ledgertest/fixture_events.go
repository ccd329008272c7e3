package ledgertest

import (
	"crypto/rand"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/payments"
)

// Body returns a builder that makes another body each time.
func Body() ledger.BuildBody {
	return func(organizationID string, t *payments.Transaction) ([]byte, error) {
		return []byte(organizationID + " " + t.ID.String() + " " + rand.Text()), nil
	}
}

// Lease leases the due events for a minute.
func (w *Fixture) Lease(build ledger.BuildBody) []ledger.LeasedEvent {
	w.T.Helper()
	events, _, err := w.LeaseDueEvents(w.T.Context(), w.SlotGrants(100), time.Minute, build)
	if err != nil {
		w.T.Fatal(err)
	}
	return events
}

// SlotGrants grants a number of slots to each sandbox with due events.
func (w *Fixture) SlotGrants(slots int) (all []queues.SlotGrant) {
	w.T.Helper()
	due, err := w.TenantsToDeliver(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	for _, one := range due {
		all = append(all, queues.SlotGrant{DueTenant: one, Slots: slots})
	}
	return all
}

// Finish records an attempt. If StartedAt is zero, the attempt began when the event was leased.
func (w *Fixture) Finish(e *ledger.LeasedEvent, a ledger.AttemptResult) (kept bool) {
	w.T.Helper()
	if a.StartedAt.IsZero() {
		a.StartedAt = e.Now
	}
	return w.FinishAll(ledger.FinishedAttempt{Event: e, AttemptResult: a})[0]
}

// FinishAll records attempts in one call.
func (w *Fixture) FinishAll(finished ...ledger.FinishedAttempt) (kept []bool) {
	w.T.Helper()
	kept, err := w.FinishAttempts(w.T.Context(), finished)
	if err != nil || len(kept) != len(finished) {
		w.T.Fatalf("%v, %v", kept, err)
	}
	return kept
}

// Due makes every queued event due now.
func (w *Fixture) Due() {
	w.T.Helper()
	w.Exec("update events set due_at = now() where due_at is not null")
}
