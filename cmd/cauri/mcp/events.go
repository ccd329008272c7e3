package mcp

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// eventRow is an event with the state of its delivery, with the names of the API.
type eventRow struct {
	ID                 string   `json:"id"`
	Event              string   `json:"event"`
	TxID               string   `json:"txId,omitempty"`
	Status             string   `json:"status,omitempty"` // of the transaction
	State              string   `json:"state"`
	AttemptCount       int      `json:"attemptCount"`
	CreatedAt          string   `json:"createdAt"`
	NextAttemptAt      *string  `json:"nextAttemptAt,omitempty"`
	LastResponseStatus *int     `json:"lastResponseStatus,omitempty"`
	LastError          *string  `json:"lastError,omitempty"`
	LastEffects        []string `json:"lastEffects,omitempty"`
	Cause              string   `json:"cause,omitempty"` // why the last attempt failed
}

const (
	stateRecorded = "recorded"
	stateQueued   = "queued"
	stateFailed   = "failed"
)

// eventOf returns the row of an event. The parameter host is that of the webhook's URL.
func eventOf(e *wire.EventSummary, host string) eventRow {
	row := eventRow{
		ID: e.ID, Event: e.Event, TxID: e.TxID, Status: e.Status, State: e.State, AttemptCount: e.AttemptCount, CreatedAt: e.CreatedAt,
		NextAttemptAt: e.NextAttemptAt, LastResponseStatus: e.LastResponseStatus, LastError: e.LastError, LastEffects: e.LastEffects,
	}
	switch {
	case e.LastError == nil:
	case len(e.LastEffects) > 0:
		row.Cause = string(advice.HeldByFault)
	default:
		row.Cause = string(advice.OfAttempt(advice.Attempt{
			Failure: *e.LastError, Host: host, Event: e.ID, Callback: e.Event == payments.CallbackEvent,
		}).Code)
	}
	return row
}

type listEventsInput struct {
	State       string `json:"state,omitempty" enum:"recorded,queued,delivered,failed" doc:"recorded: not sent; queued: waits to be sent (again); failed: no retries left."`
	Event       string `json:"event,omitempty" enum:"payment.completed,payment.refunded,disbursement.completed,operator.callback"`
	Transaction string `json:"transaction,omitempty" doc:"Id of a transaction."`
	Limit       int    `json:"limit,omitempty" minimum:"1" maximum:"100" doc:"Rows; 20 if left out."`
	Cursor      string `json:"cursor,omitempty" doc:"nextCursor of the page before."`
}

type listEventsOutput struct {
	head
	Events     []eventRow `json:"events"`
	NextCursor *string    `json:"nextCursor,omitempty"`
}

var listEvents = define(tool{
	name: "list_events", title: "List webhooks and callbacks", reads: true,
	description: "Events (webhooks, and callbacks of operators' own APIs), newest first: the state of each, the last answer of the receiver, and its cause.",
}, func(ctx context.Context, c *call, in *listEventsInput) (*listEventsOutput, error) {
	webhook, err := c.sandbox.API.Webhook(ctx)
	if err != nil {
		return nil, err
	}
	host := ""
	if webhook.URL != nil {
		host = advice.HostAndPortOf(*webhook.URL)
	}
	out := &listEventsOutput{}
	query := queryOf("state", in.State, "event", in.Event, "tx_id", in.Transaction, "cursor", in.Cursor)
	out.Events, out.NextCursor, err = paged(ctx, c, "/events", query, in.Limit, func(l *wire.EventList) ([]eventRow, *string) {
		rows := []eventRow{}
		for i := range l.Data {
			rows = append(rows, eventOf(&l.Data[i], host))
		}
		return rows, l.NextCursor
	})
	if err != nil {
		return nil, err
	}
	out.conclude(&webhook)
	return out, nil
})

// conclude points to the newest event that was not acknowledged.
func (o *listEventsOutput) conclude(webhook *wire.Webhook) {
	o.say("%s%s.", english.Plural(len(o.Events), "event", "events"), more(o.NextCursor))
	for i := range o.Events {
		e := &o.Events[i]
		if e.Cause == "" || e.State != stateFailed && e.State != stateQueued {
			continue
		}
		o.Cause = e.Cause
		o.say("%s%s. The newest that was not acknowledged is %s: %s.", english.Plural(len(o.Events), "event", "events"), more(o.NextCursor), e.ID, *e.LastError)
		o.add(step{Tool: "explain", Arguments: arguments("id", e.ID), Because: "tells what the receiver answered, and why"})
		return
	}
	switch {
	case webhook.URL == nil:
		o.Summary += " The sandbox has no webhook, so events are recorded and not sent."
		o.add(step{Command: "cauri listen --forward-to=localhost:3000/webhooks", Because: "brings the events to a program on this machine"})
	case len(o.Events) > 0:
		o.add(step{Tool: "explain", Arguments: arguments("id", o.Events[0].ID), Because: "tells what happened to the newest"},
			step{Tool: "grade_receiver", Because: "judges the receiver by its answers"})
	default:
		o.add(step{Tool: "make_payment", Arguments: arguments("amount", 1500), Because: "makes a payment, which has an event when it ends"})
	}
}

type resendInput struct {
	Event  string `json:"event,omitempty" example:"evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE" doc:"Id of an event. Send it or failed."`
	Failed *bool  `json:"failed,omitempty" doc:"true: all events that have no retries left, at most 100."`
}

func (in *resendInput) check(wrong fieldErrors) {
	if (in.Event == "") == (in.Failed == nil || !*in.Failed) {
		wrong.add("event", "or failed is needed: send the id of one event, or {\"failed\": true}")
	}
}

var resendEvent = define(tool{
	name: "resend_event", title: "Send an event again", open: true,
	description: "Sends an event again, with the same body and id, and waits some seconds for the receiver's answer; or all events that failed.",
}, func(ctx context.Context, c *call, in *resendInput) (*listEventsOutput, error) {
	out := &listEventsOutput{Events: []eventRow{}}
	if in.Event != "" {
		return out, c.resendOne(ctx, in.Event, out)
	}
	failed, err := c.sandbox.API.Events(ctx, url.Values{"state": {stateFailed}}, wire.MaxLimit)
	if err != nil {
		return nil, err
	}
	sent := 0
	for i := range failed {
		again, err := c.sandbox.API.Resend(ctx, failed[i].ID)
		if err != nil {
			f := failureOf(err)
			f.Message = english.Plural(sent, "event was", "events were") + " sent again, then: " + f.Message
			return nil, f
		}
		if sent++; sent <= wire.DefaultLimit {
			out.Events = append(out.Events, eventOf(&again, ""))
		}
	}
	out.say("%s sent again.", english.Plural(sent, "event is", "events are"))
	out.add(step{Tool: "list_events", Because: "tells what the receiver answered"})
	return out, nil
})

// resendWait is how long a call waits for the answer to an event that is sent again.
const resendWait = 12 * time.Second

// resendOne sends an event again, and waits for the end of the attempt.
func (c *call) resendOne(ctx context.Context, id string, out *listEventsOutput) error {
	sent, err := c.sandbox.API.Resend(ctx, id)
	if err != nil {
		return withForwarder(err)
	}
	before := sent.AttemptCount
	last := wire.EventDetail{EventSummary: sent}
	soon := time.Now().Add(resendWait)
	waits := sent.State != stateRecorded
	for waits && last.AttemptCount <= before && time.Now().Before(soon) && pause(ctx, pollInterval) {
		if last, err = c.sandbox.API.Event(ctx, id); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out.Events = append(out.Events, eventOf(&last.EventSummary, ""))
	explained := step{Tool: "explain", Arguments: arguments("id", id), Because: "tells each attempt, and why it was not acknowledged"}
	switch {
	case last.State == "delivered":
		out.say("The receiver acknowledged the event %s.", id)
	case last.State == stateRecorded:
		out.say("The event %s is recorded: the sandbox has no webhook, so only a program that cauri listen forwards to gets it.", id)
	case last.AttemptCount <= before:
		out.say("The event %s is being sent, and the receiver has not answered yet.", id)
		out.add(explained)
	default:
		out.Events[0].note(&out.head)
		out.add(explained)
	}
	return nil
}

// note says in the head that an event was not acknowledged.
func (e *eventRow) note(h *head) {
	h.Cause = e.Cause
	h.say("The receiver did not acknowledge the event %s.", e.ID)
	if e.LastError != nil {
		h.say("The receiver did not acknowledge the event %s: %s.", e.ID, *e.LastError)
	}
}

// withForwarder adds to the refusal of a sandbox without a webhook how a program gets the event.
func withForwarder(err error) error {
	return withNext(err, step{Command: "cauri listen --forward-to=localhost:3000/webhooks", Because: "brings the events to a program on this machine"})
}

// withNext adds a step to the refusal of a sandbox without a webhook. It returns other errors as they are, and nil for nil.
func withNext(err error, next step) error {
	if err == nil {
		return nil
	}
	f := failureOf(err)
	var refused *sandboxapi.RefusedError
	if errors.As(err, &refused) && refused.Code == "no_webhook" {
		f.Next = append(f.Next, next)
	}
	return f
}
