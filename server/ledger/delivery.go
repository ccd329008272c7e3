package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// EventState is the state of an event's delivery.
type EventState string

// The states of an event.
const (
	EventRecorded  EventState = "recorded"  // not to be sent: no endpoint, or it does not want this type
	EventQueued    EventState = "queued"    // it is to be sent, or sent again
	EventDelivered EventState = "delivered" // its receiver acknowledged it
	EventFailed    EventState = "failed"    // its retries are used up
)

// EventStates are all states of an event.
var EventStates = []EventState{EventRecorded, EventQueued, EventDelivered, EventFailed}

// LeasedEvent is an event. Only the holder of the lease may send it.
type LeasedEvent struct {
	Tenant    int64
	ID        payments.ID // the id of its transaction, too
	Fence     int64       // the fencing token of the lease
	TakenAt   time.Time   // when it was leased, by the database's clock
	Now       time.Time   // TakenAt in sandbox time, which differs if the sandbox has a clock
	Attempts  int         // made so far
	Uncounted int         // of these, attempts that used up no retry: probes, and all before it was sent again by hand
	Probe     bool        // the attempt probes a failing endpoint: a failure uses up no retry

	Seed       *int64        // the seed of the sandbox's draws; nil: draws are random
	Fault      *faults.Fault // the fault that applies to this attempt; nil for none
	Sent       int           // how often it was already sent in this attempt, because of Fault
	OutOfOrder bool          // a fault of the sandbox changes the order: another event may wait for this one

	OrganizationID string
	Transaction    *payments.Transaction
	Body           []byte // the bytes that every attempt sends
	URL            string
	Retry          sandboxes.RetryPolicy

	SigningSecret   string
	PreviousSecrets []string // former secrets that still sign for a while after a rotation, the most recent first
	Problem         error    // why it cannot be sent: its body cannot be built, or its secret cannot be read
}

// faultName returns the name of a fault, empty for none.
func faultName(f *faults.Fault) string {
	if f == nil {
		return ""
	}
	return f.Name
}

// BuildBody returns the body of an event.
type BuildBody func(organizationID string, t *payments.Transaction) ([]byte, error)

// LeaseDueEvents leases due events: for each element of from, at most Slots events of its tenant. found has the number
// of due events by tenant, including events that a fault delays and unwanted events, which leave the queue. The
// function build returns the body of an event without a stored body. The body is stored, so that every attempt sends
// the same bytes. Concurrent callers get different events. An event becomes due again if its lease ends before
// [Deliveries.FinishAttempts] is called.
func (s *Deliveries) LeaseDueEvents(
	ctx context.Context,
	from []queues.SlotGrant,
	lease time.Duration,
	build BuildBody,
) (leased []LeasedEvent, found map[int64]int, err error) {
	given := queues.ColumnsOf(from)
	var decided map[ledgerdb.Key]*eventFault
	err = s.core.InTxOf(ctx, postgres.IdleLimitedKept, func(q *sqlc.Queries) error {
		probes, err := takeProbes(ctx, q, given.Probes)
		if err != nil {
			return err
		}
		due, err := q.LockDueEvents(ctx, probes, given.Tenants, given.Limits)
		if err != nil {
			return err
		}
		if decided, err = decideEventFaults(ctx, q, due); err != nil {
			return err
		}
		sent, err := sentForUnbuilt(ctx, q, due)
		if err != nil {
			return err
		}
		sorted := s.sortDue(due, decided, sent, build)
		leased, found = sorted.leased, sorted.found
		return sorted.writeLeases(ctx, q, lease)
	})
	if err != nil {
		return nil, nil, postgres.Classify(err, "taking due events")
	}
	for of, fault := range decided {
		if fault.fault != nil {
			s.core.Sandboxes.NoteActivity(of.Tenant)
		}
	}
	return leased, found, nil
}

// sortedEvents has due events in groups, one for each action.
type sortedEvents struct {
	found    map[int64]int // by tenant
	unqueued ledgerdb.Keys // events without an endpoint that wants them
	leased   []LeasedEvent
	taken    ledgerdb.Keys // the keys of leased
	bodies   [][]byte      // the bodies of leased; nil: already stored
}

// sortDue puts due events into the group of their action. Events that a fault delays are in no group.
func (s *Deliveries) sortDue(
	due []sqlc.LockDueEventsRow, decided map[ledgerdb.Key]*eventFault, sent map[ledgerdb.Key]json.RawMessage, build BuildBody,
) *sortedEvents {
	sorted := &sortedEvents{found: map[int64]int{}}
	for i := range due {
		row := &due[i]
		key := ledgerdb.KeyOf(row.Tenant, row.ID.Bytes)
		sorted.found[row.Tenant]++
		if !wantsEvent(row) {
			sorted.unqueued.Add(row.Tenant, row.ID)
			continue
		}
		fault := decided[key]
		if fault != nil && fault.dueAt != nil {
			continue
		}
		event := s.leasedEvent(row, sent[key], build)
		if fault != nil {
			event.Fault, event.Sent, event.OutOfOrder = fault.fault, fault.sent, fault.outOfOrder
			event.Probe = event.Probe && event.Fault == nil // an attempt with a fault tells nothing about the endpoint
		}
		sorted.leased = append(sorted.leased, event)
		sorted.taken.Add(row.Tenant, row.ID)
		sorted.bodies = append(sorted.bodies, newBody(row, event.Body))
	}
	return sorted
}

// writeLeases records the leases, and removes the unwanted events from the queue.
func (e *sortedEvents) writeLeases(ctx context.Context, q *sqlc.Queries, lease time.Duration) error {
	if e.taken.Len() > 0 {
		err := q.LeaseEvents(ctx, postgres.Milliseconds(lease), e.taken.Tenants, e.taken.IDs, e.bodies)
		if err != nil {
			return err
		}
	}
	if e.unqueued.Len() == 0 {
		return nil
	}
	if err := q.PlanEachTime(ctx); err != nil {
		return err
	}
	return q.UnqueueEvents(ctx, e.unqueued.Tenants, e.unqueued.IDs)
}

// wantsEvent reports whether the sandbox has an endpoint that wants the event. An endpoint wants every event that was sent
// again by hand, whatever its type.
func wantsEvent(row *sqlc.LockDueEventsRow) bool {
	return row.WebhookURL != nil && (row.Resent || slices.Contains(row.WebhookTypes, string(row.Transaction.Type)))
}

// newBody returns the argument body if the row has no stored body, else nil.
func newBody(row *sqlc.LockDueEventsRow, body []byte) []byte {
	if row.Body != nil {
		return nil
	}
	return body
}

// sentForUnbuilt returns [NativeRequest].Sent for the transactions of events without a body. Only transactions of the
// operators' own APIs have it.
func sentForUnbuilt(ctx context.Context, q *sqlc.Queries, due []sqlc.LockDueEventsRow) (map[ledgerdb.Key]json.RawMessage, error) {
	var native ledgerdb.Keys
	for i := range due {
		if due[i].Body == nil && ledgerdb.IsNative(&due[i].Transaction) {
			native.Add(due[i].Tenant, due[i].ID)
		}
	}
	if native.Len() == 0 {
		return nil, nil
	}
	if err := q.PlanEachTime(ctx); err != nil {
		return nil, err
	}
	rows, err := q.ListSentOfAll(ctx, native.Tenants, native.IDs)
	sent := make(map[ledgerdb.Key]json.RawMessage, len(rows))
	for _, row := range rows {
		sent[ledgerdb.KeyOf(row.Tenant, row.ID.Bytes)] = row.Sent
	}
	return sent, err
}

// leasedEvent returns the event in a row. sent is [NativeRequest].Sent for its transaction; nil for none.
func (s *Deliveries) leasedEvent(row *sqlc.LockDueEventsRow, sent json.RawMessage, build BuildBody) LeasedEvent {
	event := LeasedEvent{
		Tenant: row.Tenant, ID: row.ID.Bytes, Fence: row.Fence + 1, TakenAt: row.TakenAt, Now: row.Present,
		Attempts: int(row.Attempts), Uncounted: int(row.Uncounted), Probe: row.Probe, Seed: row.Seed,
		OrganizationID: row.OrgID, Transaction: ledgerdb.TransactionOf(&row.Transaction), Body: row.Body, URL: *row.WebhookURL,
		Retry: sandboxes.RetryPolicy{
			MaxRetries:   int(row.WebhookMaxRetries),
			InitialDelay: time.Duration(row.WebhookInitialDelayMs) * time.Millisecond,
			Factor:       row.WebhookFactor,
			MaxDelay:     time.Duration(row.WebhookMaxDelayMs) * time.Millisecond,
		},
	}
	event.Transaction.NativeSent = sent
	if event.Body == nil {
		var err error
		if event.Body, err = build(event.OrganizationID, event.Transaction); err != nil {
			event.Problem = fmt.Errorf("building the body of %s: %w", event.ID, err)
			return event
		}
	}
	if row.SigningSecret == nil {
		event.Problem = errors.New("the sandbox has no signing secret yet")
		return event
	}
	owner := row.ResourceUid.String()
	if event.SigningSecret, event.Problem = s.keys.Open(owner, row.SigningSecret); event.Problem != nil {
		return event
	}
	for _, sealed := range row.PreviousSecrets {
		// A previous secret that cannot be decrypted does not stop the event, which the current secret signs.
		if previous, err := s.keys.Open(owner, sealed); err == nil && previous != event.SigningSecret {
			event.PreviousSecrets = append(event.PreviousSecrets, previous)
		}
	}
	return event
}

// GiveBackEvents ends the leases of events for which no attempt was made. They are due at once.
func (s *Deliveries) GiveBackEvents(ctx context.Context, events []LeasedEvent) error {
	var keys ledgerdb.Keys
	fences := make([]int64, len(events))
	for i := range events {
		keys.Add(events[i].Tenant, postgres.UUID(events[i].ID))
		fences[i] = events[i].Fence
	}
	return postgres.Classify(s.core.Unscoped().GiveBackEvents(ctx, keys.Tenants, keys.IDs, fences), "giving events back")
}

// TenantsToDeliver returns the sandboxes with due events. It leaves out suspended sandboxes, and those whose endpoint
// waits for its next probe.
func (s *Deliveries) TenantsToDeliver(ctx context.Context) ([]queues.DueTenant, error) {
	rows, err := s.core.Polling().TenantsToDeliver(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "looking for sandboxes with due events")
	}
	due := make([]queues.DueTenant, len(rows))
	for i, row := range rows {
		due[i] = queues.DueTenant(row)
	}
	return due, nil
}

// takeProbes claims the due probes of endpoints. It returns the tenants whose probe it got. Other workers may have
// claimed the rest.
func takeProbes(ctx context.Context, q *sqlc.Queries, due []int64) ([]int64, error) {
	if len(due) == 0 {
		return nil, nil
	}
	return q.TakeProbes(ctx, postgres.Milliseconds(ProbeInterval), due)
}
