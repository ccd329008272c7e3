package apidoc

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/view/offline"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/webhooks"
)

var eventIDParameter = &huma.Param{
	Name: "id", In: "path", Required: true, Description: "Event id, as in the header `X-Service-Delivery`. To find the events of a " +
		"transaction: `GET /v1/events?tx_id=`.",
	Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^evt_[0-9A-HJKMNP-TV-Z]{26}$"},
}

// eventParameterDescriptions describes the parameters of the list of events. [wire.EventParameters] reads them.
var eventParameterDescriptions = map[string]*huma.Param{
	"limit":          limitParameter("Events on a page."),
	"cursor":         cursorParameter(),
	"before":         beforeParameter(),
	"state":          {Description: "In this state.", Schema: oneOf(ledger.EventStates...)},
	"event":          {Description: "Of this name.", Schema: oneOf(wire.EventNames...)},
	"tx_id":          {Description: "Of this transaction: one event, or none, and beside it the callback of an operator's own API, if there is one.", Schema: transactionIDParameter.Schema},
	"created_after":  {Description: "Created at this time or later (RFC 3339).", Schema: dateTime()},
	"created_before": {Description: "Created before this time, which is excluded (RFC 3339).", Schema: dateTime()},
}

func refineEventSummary(fields map[string]*huma.Schema) {
	fields["status"] = statusRef(fields["status"].Description)
	fields["state"].Enum = anyOf(ledger.EventStates)
}

func refineEventDetail(fields map[string]*huma.Schema) {
	refineEventSummary(fields)
	fields["payload"] = &huma.Schema{Description: fields["payload"].Description, AnyOf: []*huma.Schema{
		{Ref: eventSchema.Ref},
		{Type: huma.TypeObject, Description: "The operator's own body, of an `operator.callback`.", AdditionalProperties: true},
	}}
}

var ListEvents = Operation{
	ID: "listEvents", Method: http.MethodGet, Path: "/v1/events", Tag: tagEvents, Summary: "List events",
	Description: "Events that were sent, wait to be sent, or failed, in pages. They are in the order of their transactions, newest first. " +
		"The callbacks of the operators' own APIs are among them, as `operator.callback`. To get all of " +
		"them, follow `nextCursor` until it is null. New events do not make a page repeat or miss one.\n\n" +
		"A parameter with an invalid value is refused with `invalid_params`, and so is a misspelled parameter.\n\n" +
		"An installation removes old events, by default after 30 days. It never removes transactions.",
	Parameters: describedParameters(decode.EventParameters, eventParameterDescriptions, []string{"limit", "cursor", "before", "state", "event", "tx_id"}),
	answers:    []described{{http.StatusOK, "A page.", eventListSchema, nil}},
	errors:     []string{"invalid_params"},
	Examples: []Example{{
		name: "failed", Summary: "What failed", Status: http.StatusOK, Parameters: map[string]any{"state": ledger.EventFailed},
		Answer: wire.EventList{Data: []wire.EventSummary{view.EventSummaryOf(&failedEvent().Event, nil)}},
	}},
}

var GetEvent = Operation{
	ID: "getEvent", Method: http.MethodGet, Path: "/v1/events/{id}", Tag: tagEvents, Summary: "Read an event",
	Description: "An event with its body, byte for byte, and the attempts to deliver it, with the receiver's responses. If the event was " +
		"never sent, " +
		"the body is the one that would be sent.",
	Parameters: []*huma.Param{eventIDParameter},
	answers:    []described{{http.StatusOK, "The event, as it is now.", eventDetailSchema, nil}},
	errors:     []string{"not_found"},
	Examples: []Example{{
		name: "failed", Summary: "An event that the receiver refused", Status: http.StatusOK, Answer: failedEventView(),
		Parameters: map[string]any{"id": webhooks.EventID(settledID)},
	}},
}

var ResendEvent = Operation{
	ID: "resendEvent", Method: http.MethodPost, Path: "/v1/events/{id}/resend", Tag: tagEvents, Summary: "Send an event again",
	Description: "Queues the event now, with the same id and the same bytes, whatever its state. This includes a delivered event, and an " +
		"event of a type " +
		"that the sandbox does not send. If the receiver does not acknowledge it, all retries start again. An event that waits for a retry is " +
		"sent at " +
		"once. An event whose transaction is not answered yet still waits for the response.\n\n" +
		"Those who follow the stream learn of it. In a sandbox without a webhook URL, only they do, and the event keeps its state.\n\n" +
		"An `operator.callback` goes once more, without retries, to the URL of its request. It needs no webhook URL.",
	Parameters: []*huma.Param{eventIDParameter},
	answers:    []described{{http.StatusAccepted, "The event is queued.", eventSummarySchema, nil}},
	errors:     []string{"not_found", "no_webhook", "being_sent"},
	Examples: []Example{{
		name: "again", Summary: "An event that failed", Status: http.StatusAccepted, Answer: view.EventSummaryOf(resentEvent(), nil),
		Parameters: map[string]any{"id": webhooks.EventID(settledID)},
	}},
}

// failedEvent returns the event of the settled collection after an attempt with the answer 410 Gone.
func failedEvent() *ledger.EventDetail {
	t := settledCollection()
	body, err := webhooks.Body(exampleOrganization, t, operators.Raw(t))
	if err != nil {
		panic(err) // every final transaction has a body
	}
	attempt := ledger.AttemptRecord{
		Number: 1, StartedAt: t.CompletedAt.Add(120 * time.Millisecond), RealStartedAt: t.CompletedAt.Add(120 * time.Millisecond),
		Duration:       31 * time.Millisecond,
		ResponseStatus: new(http.StatusGone), ResponseBody: []byte("moved away"), Error: new("the receiver answered 410"),
	}
	return &ledger.EventDetail{
		Body: body, History: []ledger.AttemptRecord{attempt},
		Event: ledger.Event{
			ID: t.ID, Transaction: &t.ID, Type: t.Type, Status: t.Status, State: ledger.EventFailed, Attempts: 1, CreatedAt: *t.CompletedAt,
			LastStatus: attempt.ResponseStatus, LastError: attempt.Error,
		},
	}
}

// failedEventView returns the detail of the failed event with its signature.
func failedEventView() wire.EventDetail {
	e := failedEvent()
	detail := view.EventDetailOf(e, nil)
	signed := webhooks.Sign(webhooks.Delivery{ID: e.ID, Secret: ExampleSecret, Body: e.Body, At: e.History[0].RealStartedAt})
	explained := webhooks.Explain(webhooks.Delivery{ID: e.ID, Type: e.Type, Body: e.Body}, signed)
	detail.Signature = view.EventSignatureOf(1, &explained)
	if last := view.Unacknowledged(e); last != nil {
		attempt := view.LastAttempt(e, last)
		attempt.Host = "shop.example"
		detail.Advice = offline.AdviceOf(view.AdviceOn(last, attempt, nil), "https://pay.example.com/sandboxes/team-payments/checkout/console/webhooks/"+detail.ID)
	}
	return detail
}

// resentEvent returns the failed event after a request to send it again, ten minutes later.
func resentEvent() *ledger.Event {
	e := failedEvent().Event
	e.State, e.NextAttemptAt = ledger.EventQueued, new(e.CreatedAt.Add(10*time.Minute))
	return &e
}
