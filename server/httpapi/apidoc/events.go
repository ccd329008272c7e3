package apidoc

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/webhooks"
)

var eventIDParameter = &huma.Param{
	Name: "id", In: "path", Required: true, Description: "Event id, as in `X-Service-Delivery`. A transaction's event is `GET /v1/events?tx_id=`.",
	Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^evt_[0-9A-HJKMNP-TV-Z]{26}$"},
}

// eventParameterDescriptions say what the parameters of the list of events are. What reads them is EventParameters.
var eventParameterDescriptions = map[string]*huma.Param{
	"limit": {
		Description: "Events on a page.",
		Schema:      &huma.Schema{Type: huma.TypeInteger, Format: "int32", Minimum: new(1.0), Maximum: new(float64(wire.MaxLimit)), Default: wire.DefaultLimit},
	},
	"cursor":         {Description: "`nextCursor` of the page before, as it was.", Schema: &huma.Schema{Type: huma.TypeString}},
	"state":          {Description: "In this state.", Schema: oneOf(ledger.EventStates...)},
	"event":          {Description: "Of this name.", Schema: oneOf(wire.EventNames...)},
	"tx_id":          {Description: "Of this transaction: one event, or none.", Schema: transactionIDParameter.Schema},
	"created_after":  {Description: "Made after this time, RFC 3339, exclusive.", Schema: &huma.Schema{Type: huma.TypeString, Format: "date-time"}},
	"created_before": {Description: "Made before this time, RFC 3339, exclusive.", Schema: &huma.Schema{Type: huma.TypeString, Format: "date-time"}},
}

func refineEventSummary(fields map[string]*huma.Schema) {
	fields["status"] = statusRef(fields["status"].Description)
	fields["state"].Enum = anyOf(ledger.EventStates)
}

func refineEventDetail(fields map[string]*huma.Schema) {
	refineEventSummary(fields)
	fields["payload"] = &huma.Schema{Ref: eventSchema.Ref, Description: fields["payload"].Description}
}

var ListEvents = Operation{
	ID: "listEvents", Method: http.MethodGet, Path: "/v1/events", Tag: tagEvents, Summary: "List events",
	Description: "What was sent, waits to be sent, or failed, a page at a time, in the order of the transactions, newest first: the event of a " +
		"payment that took an hour stands where the payment does. Follow `nextCursor` until it is null: pages neither repeat nor leave out " +
		"an event while others are made.\n\n" +
		"A parameter with a value that it cannot have is refused, never corrected; one that is not known is ignored. Events are removed when " +
		"they are as old as the installation keeps them, 30 days unless it says otherwise; transactions are not.",
	Parameters: describedParameters(wire.EventParameters, eventParameterDescriptions, []string{"limit", "cursor", "state", "event", "tx_id"}),
	answers:    []described{{http.StatusOK, "A page.", eventListSchema, nil}},
	errors:     []string{"invalid_params"},
	Examples: []Example{{
		name: "failed", Summary: "What failed", Status: http.StatusOK, Parameters: map[string]any{"state": ledger.EventFailed},
		Answer: wire.EventList{Data: []wire.EventSummary{wire.EventSummaryOf(&failedEvent().Event)}},
	}},
}

var GetEvent = Operation{
	ID: "getEvent", Method: http.MethodGet, Path: "/v1/events/{id}", Tag: tagEvents, Summary: "Read an event",
	Description: "An event with the body that is sent, byte for byte, and the attempts to deliver it with what the receiver answered. The body of " +
		"one that was never sent is the one that is sent if it ever is.",
	Parameters: []*huma.Param{eventIDParameter},
	answers:    []described{{http.StatusOK, "The event as it stands now.", eventDetailSchema, nil}},
	errors:     []string{"not_found"},
	Examples: []Example{{
		name: "failed", Summary: "An event that the receiver did not want", Status: http.StatusOK, Answer: wire.EventDetailOf(failedEvent()),
		Parameters: map[string]any{"id": webhooks.EventID(settledID)},
	}},
}

var ResendEvent = Operation{
	ID: "resendEvent", Method: http.MethodPost, Path: "/v1/events/{id}/resend", Tag: tagEvents, Summary: "Send an event again",
	Description: "Queues the event now, with the same id and the same bytes, whatever came of it so far: also one that was delivered, and one " +
		"whose type the sandbox does not send. If it is not acknowledged, its retries begin anew. One that waits for a retry is sent at once; " +
		"one that waits for its transaction to be answered goes on waiting.",
	Parameters: []*huma.Param{eventIDParameter},
	answers:    []described{{http.StatusAccepted, "The event is queued.", eventSummarySchema, nil}},
	errors:     []string{"not_found", "no_webhook", "being_sent"},
	Examples: []Example{{
		name: "again", Summary: "An event that failed", Status: http.StatusAccepted, Answer: wire.EventSummaryOf(resentEvent()),
		Parameters: map[string]any{"id": webhooks.EventID(settledID)},
	}},
}

// failedEvent is the event of the settled collection, at an endpoint that is gone.
func failedEvent() *ledger.EventDetail {
	t := settledCollection()
	body, err := webhooks.Body(exampleOrganization, t, operators.Raw(t))
	if err != nil {
		panic(err) // the example is final
	}
	attempt := ledger.EventAttempt{
		Number: 1, StartedAt: t.CompletedAt.Add(120 * time.Millisecond), Duration: 31 * time.Millisecond,
		ResponseStatus: new(http.StatusGone), ResponseBody: []byte("moved away"), Error: new("the receiver answered 410"),
	}
	return &ledger.EventDetail{
		Body: body, History: []ledger.EventAttempt{attempt},
		Event: ledger.Event{
			ID: t.ID, Type: t.Type, Status: t.Status, State: ledger.EventFailed, Attempts: 1, CreatedAt: *t.CompletedAt,
			LastStatus: attempt.ResponseStatus, LastError: attempt.Error,
		},
	}
}

// resentEvent is the failed one, sent again ten minutes later.
func resentEvent() *ledger.Event {
	e := failedEvent().Event
	e.State, e.NextAttemptAt = ledger.EventQueued, new(e.CreatedAt.Add(10*time.Minute))
	return &e
}
