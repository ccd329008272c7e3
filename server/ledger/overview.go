package ledger

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// MostCounted is the maximum of Waiting and Pending in a [Health].
const MostCounted = 1000

// Health says how a sandbox's receiver is, and has the numbers of pending events and payments.
type Health struct {
	webhooks.EndpointHealth
	WebhookURL string     // empty: there is none
	Waiting    int        // events that are to be sent, [MostCounted] at most
	Pending    int        // payments without an outcome, [MostCounted] at most
	FirstDueAt *time.Time // of the pending payments
	EventDueAt *time.Time // of the events that are to be sent, the first
	Delivering bool       // an attempt ended in the last minute of real time, or is under way
	Phones     int        // test clients among the payers of the pending payments
	Callbacks  []UnacknowledgedCallbacks
}

// UnacknowledgedCallbacks are the callbacks of an operator's own API that are not acknowledged, as the events of a
// [webhooks.EndpointHealth].
type UnacknowledgedCallbacks struct {
	Operator payments.Operator
	Count    int // [MostCounted] at most
	Newest   payments.EventID
}

// FailingCallbacks are unacknowledged callbacks with why the newest one is.
type FailingCallbacks struct {
	UnacknowledgedCallbacks
	URL     string // of the newest one
	Failure string // the error of its last attempt on which no fault acted; empty: it was removed
}

// Health returns the health of a sandbox.
func (l *Ledger) Health(ctx context.Context, tenant int64) (Health, error) {
	q := l.core.Tenant(tenant)
	row, err := q.SandboxHealth(ctx, tenant, MostCounted)
	if errors.Is(err, pgx.ErrNoRows) {
		return Health{}, postgres.ErrConfigChanged
	}
	if err != nil {
		return Health{}, postgres.Classify(err, "reading how the sandbox is")
	}
	h := Health{
		WebhookURL: row.WebhookURL, Waiting: int(row.Waiting),
		Pending: min(int(row.Pending)+int(row.Forwarded), MostCounted), FirstDueAt: row.FirstDueAt,
		EventDueAt: row.EventDueAt, Delivering: row.Delivering, Phones: int(row.Phones),
	}
	if h.EndpointHealth, err = sandboxes.ReadEndpointHealth(ctx, q, tenant); err != nil {
		return Health{}, postgres.Classify(err, "reading how the receiver is")
	}
	h.Callbacks, err = l.UnacknowledgedCallbacks(ctx, tenant)
	return h, err
}

// GrantedRequests returns how many requests of a sandbox count against its limit of requests in a minute.
func (l *Ledger) GrantedRequests(ctx context.Context, tenant int64) (int64, error) {
	n, err := l.core.Tenant(tenant).GrantedRequests(ctx, tenant)
	return n, postgres.Classify(err, "reading the count of requests")
}

// UnacknowledgedCallbacks returns the operators with callbacks that are not acknowledged, the newest of these first.
func (l *Ledger) UnacknowledgedCallbacks(ctx context.Context, tenant int64) (all []UnacknowledgedCallbacks, err error) {
	rows, err := l.core.Tenant(tenant).UnacknowledgedCallbacks(ctx, payments.Texts(payments.Operators), tenant, MostCounted)
	for _, r := range rows {
		all = append(all, UnacknowledgedCallbacks{
			payments.Operator(r.Operator), int(r.Callbacks), payments.EventID{ID: r.Newest.Bytes, Callback: true},
		})
	}
	return all, postgres.Classify(err, "reading how callbacks go")
}

// NewestAttempt is an attempt to deliver one of the newest events.
type NewestAttempt struct {
	Event          payments.EventID
	StartedAt      time.Time
	ResponseStatus *int32  // nil: no answer came
	Error          *string // nil: it was acknowledged
}

// NewestAttempts returns at most limit attempts, the newest events first, and the newest attempts of each event first.
func (l *Ledger) NewestAttempts(ctx context.Context, tenant int64, limit int) ([]NewestAttempt, error) {
	rows, err := l.core.Tenant(tenant).NewestAttempts(ctx, tenant, int32(limit))
	if err != nil {
		return nil, postgres.Classify(err, "listing attempts")
	}
	attempts := make([]NewestAttempt, len(rows))
	for i, r := range rows {
		attempts[i] = NewestAttempt{
			payments.EventID{ID: payments.ID(r.EventID.Bytes)}, r.StartedAt, r.ResponseStatus, r.Error,
		}
	}
	return attempts, nil
}

// SIMNames returns the names of the SIMs with these numbers. A number without a SIM is not in the map.
func (l *Ledger) SIMNames(ctx context.Context, tenant int64, numbers []string) (map[string]string, error) {
	rows, err := l.core.Tenant(tenant).SIMNames(ctx, tenant, numbers)
	names := make(map[string]string, len(rows))
	for _, r := range rows {
		names[r.MSISDN] = r.Name
	}
	return names, postgres.Classify(err, "looking up the names of SIMs")
}

// PartyNames returns the names that the payers and the recipients of these transactions had at the time. A name of today
// is not in the map if the number is that of another SIM now, or had another name.
func (l *Ledger) PartyNames(ctx context.Context, tenant int64, of []payments.ID) (map[payments.ID]string, error) {
	ids := make([]pgtype.UUID, len(of))
	for i := range of {
		ids[i] = postgres.UUID(of[i])
	}
	rows, err := l.core.Tenant(tenant).PartyNames(ctx, ids, tenant)
	names := make(map[payments.ID]string, len(rows))
	for _, r := range rows {
		names[r.ID.Bytes] = r.Name
	}
	return names, postgres.Classify(err, "looking up the names of payers")
}

// FaultActs is how often a declared fault acted.
type FaultActs struct {
	Acts   int64
	LastAt *time.Time // sandbox time; nil: it did not act
}

// FaultActs returns how often each of these faults acted, in their order.
func (l *Ledger) FaultActs(ctx context.Context, tenant int64, of faults.Set) ([]FaultActs, error) {
	if len(of) == 0 {
		return nil, nil
	}
	now, err := l.faultCounts(ctx, tenant)
	acts := make([]FaultActs, len(of))
	for i := range of {
		acts[i] = now.Acts(&of[i])
	}
	return acts, err
}

// FaultsNow are the faults that were set in a sandbox, and how often its faults acted.
type FaultsNow struct {
	Set    []faultcounts.SetState // the newest first
	counts []sqlc.FaultCountsRow
}

// FaultsNow reads the faults that were set in a sandbox, and how often its faults acted.
func (l *Ledger) FaultsNow(ctx context.Context, tenant int64) (now FaultsNow, err error) {
	if now, err = l.faultCounts(ctx, tenant); err == nil {
		now.Set, err = l.SetFaults(ctx, tenant)
	}
	return now, err
}

func (l *Ledger) faultCounts(ctx context.Context, tenant int64) (FaultsNow, error) {
	rows, err := l.core.Tenant(tenant).FaultCounts(ctx, tenant)
	return FaultsNow{counts: rows}, postgres.Classify(err, "counting the acts of faults")
}

// Acts returns how often a fault acted.
func (n *FaultsNow) Acts(of *faults.Fault) FaultActs {
	for _, r := range n.counts {
		if r.Name == of.CountName() && bytes.Equal(r.Digest, of.Digest()) {
			return FaultActs{r.Acts, r.LastAt}
		}
	}
	return FaultActs{}
}

// Delivery is the state of the delivery of a transaction's event.
type Delivery struct {
	State    EventState
	Attempts int
}

// Deliveries returns the states of the deliveries of these transactions' events. A transaction without an event is not
// in the map.
func (l *Ledger) Deliveries(ctx context.Context, tenant int64, of []*payments.Transaction) (map[payments.ID]Delivery, error) {
	ids := make([]pgtype.UUID, len(of))
	for i, t := range of {
		ids[i] = postgres.UUID(t.ID)
	}
	rows, err := l.core.Tenant(tenant).DeliveryStates(ctx, ids, tenant)
	deliveries := make(map[payments.ID]Delivery, len(rows))
	for _, r := range rows {
		deliveries[r.ID.Bytes] = Delivery{EventState(r.State), int(r.Attempts)}
	}
	return deliveries, postgres.Classify(err, "reading how far events are")
}

// OrderOf is the order that a transaction belongs to, and the number of its payer or recipient, with its operator.
type OrderOf struct {
	OrderRef, MSISDN string
	Operator         payments.Operator
}

// OrdersOf returns the orders of these events' transactions.
func (l *Ledger) OrdersOf(ctx context.Context, tenant int64, of []Event) (map[payments.ID]OrderOf, error) {
	var ids []pgtype.UUID
	for i := range of {
		if of[i].Transaction != nil {
			ids = append(ids, postgres.UUID(*of[i].Transaction))
		}
	}
	rows, err := l.core.Tenant(tenant).OrdersOf(ctx, ids, tenant)
	orders := make(map[payments.ID]OrderOf, len(rows))
	for _, r := range rows {
		orders[r.ID.Bytes] = OrderOf{r.OrderRef, r.MSISDN, payments.Operator(r.Operator)}
	}
	return orders, postgres.Classify(err, "reading the orders of events")
}
