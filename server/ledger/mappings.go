package ledger

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// transactionOf returns the transaction in a row.
func transactionOf(row *sqlc.Transaction) *payments.Transaction {
	t := &payments.Transaction{
		Details: payments.Details{
			Reference: row.Reference, OrderURL: row.OrderURL, URLProtected: row.URLProtected,
			Description: row.Description, Scenario: payments.Scenario(row.Scenario), Currency: row.Currency,
			MSISDN: row.MSISDN,
		},
		ID: row.ID.Bytes, Type: row.Type, Status: row.Status, OrderRef: row.OrderRef, Store: row.Store,
		EnvironmentID: row.EnvID, Operator: payments.Operator(row.Operator),
		Country: payments.Country(row.Country), Amount: row.Amount, Commission: row.Commission,
		NetAmount: row.NetAmount, AbsorptionPct: int(row.AbsorptionPct), Refunded: row.Refunded,
		Latency: time.Duration(row.LatencyMs) * time.Millisecond, CreatedAt: row.CreatedAt,
		CompletedAt: row.CompletedAt, NativeRaw: row.NativeRaw, MerchantBalanceAfter: row.MerchantBalanceAfter,
		SIMBalanceAfter: row.SimBalanceAfter, Faults: row.Faults, NativeID: orEmpty(row.NativeID),
		DrawnProviderTxID: orEmpty(row.ProviderTxID), TestBehavior: payments.Behavior(orEmpty(row.TestBehavior)),
	}
	t.NativeCall = nativeCall(row.RequestHash)
	if row.ParentID.Valid {
		parent := payments.ID(row.ParentID.Bytes)
		t.ParentID = &parent
	}
	return t
}

// isNative reports whether an operator's own API recorded a transaction, see [NativeRequest].
func isNative(row *sqlc.Transaction) bool { return nativeCall(row.RequestHash) != "" }

// nativeCall returns [payments.Transaction].NativeCall of a transaction with this request hash.
func nativeCall(requestHash []byte) string {
	if len(requestHash) == sha256.Size {
		return ""
	}
	return string(requestHash)
}

// addSent sets NativeSent of the transactions that the operators' own APIs recorded. If there are none, it runs no
// statement.
func addSent(ctx context.Context, q *sqlc.Queries, tenant int64, transactions ...*payments.Transaction) error {
	native := map[payments.ID]*payments.Transaction{}
	var ids []pgtype.UUID
	for _, t := range transactions {
		if t.NativeCall != "" {
			native[t.ID], ids = t, append(ids, postgres.UUID(t.ID))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := q.ListSent(ctx, tenant, ids)
	for _, row := range rows {
		native[row.ID.Bytes].NativeSent = row.Sent
	}
	return postgres.Classify(err, "reading what was sent")
}

// floatOf returns the currency of the float that a transaction belongs to.
func floatOf(t *payments.Transaction) string { return string(payments.CanonicalCurrency(t.Currency)) }

func simOf(row *sqlc.Sim) *payments.SIM {
	return &payments.SIM{
		ID: row.SimID.Bytes, MSISDN: row.MSISDN, Operator: payments.Operator(row.Operator),
		Country: payments.Country(row.Country), Blocked: row.Blocked, Behavior: payments.Behavior(row.Behavior),
		Balance: row.Balance,
	}
}

func testClientOf(row *sqlc.Sim, prompts int64) TestClient {
	c := TestClient{SIM: *simOf(row), Name: row.Name, Source: row.Source, Prompts: int(prompts), Code: oneTimeCode(row)}
	if row.ManualUntil != nil && row.ManualUntil.After(time.Now()) {
		c.ManualUntil = row.ManualUntil
	}
	return c
}

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
		Signed: signatureOf(row),
	}
}

func signatureOf(row *sqlc.DeliveryAttempt) *Signature {
	if row.Signature == nil {
		return nil
	}
	return &Signature{
		At: *row.SignedAt, Signature: *row.Signature, Previous: orEmpty(row.PreviousSignature),
		Standard: orEmpty(row.StandardSignature), Secrets: strings.Fields(orEmpty(row.SignedWith)),
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
		c.Callback = payments.Callback{Operator: payments.Operator(orEmpty(n.Operator)), Kind: n.Kind, Sent: n.Sent}
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

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
