package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// EventState is where an event stands.
type EventState string

// The states of an event.
const (
	EventRecorded  EventState = "recorded"  // there is nowhere to send it
	EventQueued    EventState = "queued"    // it is to be sent, or sent again
	EventDelivered EventState = "delivered" // its receiver acknowledged it
	EventFailed    EventState = "failed"    // its retries are used up
)

// LeasedEvent is an event that the caller alone may send until its lease ends.
type LeasedEvent struct {
	Tenant   int64
	ID       payments.ID // of its transaction too
	Fence    int64       // of the lease
	Attempts int         // made so far

	OrganizationID string
	Transaction    *payments.Transaction
	Body           []byte // what is sent, with every attempt
	URL            string
	Retry          RetryPolicy

	SigningSecret string
	Problem       error // why the event cannot be sent: its body cannot be built, or its secret not be read
}

// BuildBody makes the body of an event.
type BuildBody func(organizationID string, t *payments.Transaction) ([]byte, error)

// LeaseDueEvents takes up to batch due events for the length of lease. The body of an event that was never sent is built by
// build and kept, so that every attempt sends the same bytes. Any number of callers may work at once; each gets different
// events. An event whose lease ends without [Store.FinishAttempt] becomes due again.
func (s *Store) LeaseDueEvents(ctx context.Context, batch int, lease time.Duration, build BuildBody) ([]LeasedEvent, error) {
	var leased []LeasedEvent
	err := s.inTx(ctx, func(q *db.Queries) error {
		due, err := q.LockDueEvents(ctx, int32(batch))
		if err != nil {
			return err
		}
		var shelved, taken rowKeys
		var bodies [][]byte
		for i := range due {
			row := &due[i]
			if row.WebhookURL == nil {
				shelved.add(row.Event.Tenant, row.Event.ID)
				continue
			}
			event := s.leasedEvent(row, build)
			leased = append(leased, event)
			taken.add(event.Tenant, row.Event.ID)
			bodies = append(bodies, event.Body)
		}
		if shelved.len() > 0 {
			if err := q.ShelveEvents(ctx, shelved.tenants, shelved.ids); err != nil {
				return err
			}
		}
		if taken.len() == 0 {
			return nil
		}
		return q.LeaseEvents(ctx, milliseconds(lease), taken.tenants, taken.ids, bodies)
	})
	if err != nil {
		return nil, classify(err, "taking due events")
	}
	return leased, nil
}

func (s *Store) leasedEvent(row *db.LockDueEventsRow, build BuildBody) LeasedEvent {
	event := LeasedEvent{
		Tenant: row.Event.Tenant, ID: row.Event.ID.Bytes, Fence: row.Event.Fence + 1, Attempts: int(row.Event.Attempts),
		OrganizationID: row.OrgID, Transaction: transactionOf(&row.Transaction), Body: row.Event.Body, URL: *row.WebhookURL,
		Retry: RetryPolicy{
			MaxRetries:   int(row.WebhookMaxRetries),
			InitialDelay: time.Duration(row.WebhookInitialDelayMs) * time.Millisecond,
			Factor:       row.WebhookFactor,
			MaxDelay:     time.Duration(row.WebhookMaxDelayMs) * time.Millisecond,
		},
	}
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
	event.SigningSecret, event.Problem = s.keys.open(row.ResourceUid.String(), row.SigningSecret)
	return event
}

// Attempt is what one delivery attempt came to.
type Attempt struct {
	StartedAt      time.Time
	Duration       time.Duration
	ResponseStatus int    // 0: no answer came
	ResponseBody   []byte // its beginning
	Error          string // empty: acknowledged

	State      EventState    // of the event from now on
	RetryAfter time.Duration // for EventQueued
}

// FinishAttempt writes down an attempt and ends the lease. It reports false, and writes nothing, if the lease has ended
// already: it was lost to somebody else, who decides then, or this is the repeat of a call whose answer was lost.
func (s *Store) FinishAttempt(ctx context.Context, event *LeasedEvent, a Attempt) (kept bool, err error) {
	params := db.FinishAttemptParams{
		Tenant: event.Tenant, ID: uuidOf(event.ID), Fence: event.Fence, State: db.EventState(a.State),
		RetryAfterMs: milliseconds(a.RetryAfter), StartedAt: a.StartedAt, DurationMs: int32(a.Duration.Milliseconds()),
		ResponseBody: a.ResponseBody,
	}
	if a.ResponseStatus != 0 {
		status := int32(a.ResponseStatus)
		params.ResponseStatus = &status
	}
	if a.Error != "" {
		params.Error = &a.Error
	}
	rows, err := s.system().FinishAttempt(ctx, params)
	return rows == 1, classify(err, "writing down a delivery attempt")
}
