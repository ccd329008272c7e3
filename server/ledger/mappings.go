package ledger

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

func eventDetailOf(row *sqlc.GetEventRow, attempts []sqlc.DeliveryAttempt) *EventDetail {
	e := &row.Event
	d := &EventDetail{Body: e.Body, Event: Event{
		ID: e.ID.Bytes, Transaction: new(payments.ID(e.ID.Bytes)), Type: row.Transaction.Type, Status: row.Transaction.Status,
		State: EventState(e.State), Attempts: int(e.Attempts), CreatedAt: e.CreatedAt, DeliveredAt: e.DeliveredAt,
	}}
	if !row.BeingSent {
		d.NextAttemptAt = e.DueAt
	}
	uncounted := e.Probes // as in LockDueEvents
	if e.ResentAfter != nil {
		uncounted = *e.ResentAfter
	}
	d.Counted = int(e.Attempts - uncounted)
	d.History = historyOf(attempts)
	if n := len(d.History); n > 0 {
		last := &d.History[n-1]
		d.LastStatus, d.LastError, d.LastFaults = last.ResponseStatus, last.Error, last.Faults
	}
	return d
}

// historyOf returns attempts oldest first; the rows are newest first.
func historyOf(attempts []sqlc.DeliveryAttempt) (history []AttemptRecord) {
	for _, a := range slices.Backward(attempts) {
		history = append(history, attemptOf(&a))
	}
	return history
}

func attemptOf(row *sqlc.DeliveryAttempt) AttemptRecord {
	return AttemptRecord{
		Number: int(row.Attempt), StartedAt: row.StartedAt, RealStartedAt: orElse(row.RealStartedAt, row.StartedAt),
		Duration:       time.Duration(row.DurationMs) * time.Millisecond,
		ResponseStatus: intOf(row.ResponseStatus), ResponseBody: row.ResponseBody, Error: row.Error, Faults: row.Faults,
		Signed: signatureOf(row), Copies: copiesOf(row.Copies),
	}
}

// copiesOf returns the answers to the copies of an attempt that were sent at the same moment.
func copiesOf(stored json.RawMessage) (copies []AttemptCopy) {
	if stored != nil {
		_ = json.Unmarshal(stored, &copies) // only this package writes them
	}
	return copies
}

func signatureOf(row *sqlc.DeliveryAttempt) *Signature {
	if row.Signature == nil {
		return nil
	}
	return &Signature{
		At: *row.SignedAt, Signature: *row.Signature, Previous: ledgerdb.OrEmpty(row.PreviousSignature),
		Standard: ledgerdb.OrEmpty(row.StandardSignature), Secrets: strings.Fields(ledgerdb.OrEmpty(row.SignedWith)),
	}
}

func callbackDetailOf(
	row *sqlc.GetCallbackRow, t *payments.Transaction, attempts []sqlc.CallbackAttempt,
) *CallbackDetail {
	n := &row.NativeCallback
	c := &CallbackDetail{URL: n.URL, EventDetail: EventDetail{
		Body: n.Body,
		Event: Event{
			ID: n.ID.Bytes, Callback: true, Kind: n.Kind, State: EventState(n.State), Attempts: int(n.Attempts),
			DeliveredAt: n.DeliveredAt, LastStatus: intOf(n.LastStatus), LastError: n.LastError,
		},
	}}
	if t != nil {
		c.Callback = payments.Callback{Operator: t.Operator, Kind: n.Kind, Transaction: t, Sent: t.NativeSent}
		c.Event.Transaction, c.Type, c.Status, c.CreatedAt = &t.ID, t.Type, t.Status, *t.CompletedAt
	} else {
		c.Callback = payments.Callback{Operator: payments.Operator(ledgerdb.OrEmpty(n.Operator)), Kind: n.Kind, Sent: n.Sent}
		c.CreatedAt = *n.CreatedAt
	}
	if !row.BeingSent {
		c.NextAttemptAt = n.DueAt
	}
	for _, a := range slices.Backward(attempts) {
		c.History = append(c.History, callbackAttemptOf(&a))
	}
	return c
}

func callbackAttemptOf(row *sqlc.CallbackAttempt) AttemptRecord {
	return AttemptRecord{
		Number: int(row.Attempt), StartedAt: row.StartedAt, RealStartedAt: orElse(row.RealStartedAt, row.StartedAt),
		Duration:       time.Duration(row.DurationMs) * time.Millisecond,
		ResponseStatus: intOf(row.ResponseStatus), ResponseBody: row.ResponseBody, Error: row.Error, Faults: row.Faults,
		Copies: copiesOf(row.Copies),
	}
}

func intOf(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

// orElse returns the time that at points to, or instead if at is nil.
func orElse(at *time.Time, instead time.Time) time.Time {
	if at == nil {
		return instead
	}
	return *at
}
