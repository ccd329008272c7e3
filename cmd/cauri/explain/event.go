package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// mostEvents is how many events of one transaction are read with their attempts.
const mostEvents = 5

// The states of an event.
const (
	recorded  = "recorded"
	queued    = "queued"
	delivered = "delivered"
)

func (e *explaining) event(ctx context.Context, id string) error {
	e.Kind = Event
	found, err := e.API.Event(ctx, id)
	if sandboxapi.IsNotFound(err) {
		all, err := e.API.Events(ctx, nil, 5)
		if err != nil {
			return err
		}
		missing := &NotFoundError{ID: id, Kind: "event"}
		for i := range all {
			missing.Has = append(missing.Has, all[i].ID)
		}
		return missing
	}
	if err != nil {
		return err
	}
	if e.clock, err = e.readClock(ctx); err != nil {
		return err
	}
	if found.TxID != "" {
		t, err := e.API.Payment(ctx, found.TxID)
		if err != nil && !sandboxapi.IsNotFound(err) {
			return err
		}
		if err == nil {
			e.tell(t.CreatedAt, "request", t.ID, "%s of %s for %s, reference %s, order %s", noun(t.Type), money(t.Amount, t.Currency), t.MSISDN, word(t.Reference), word(t.OrderRef))
			if t.CompletedAt != nil {
				e.tell(*t.CompletedAt, "settlement", t.ID, "It ended %s", t.Status)
			}
		}
	}
	if err := e.ofEvent(ctx, &found, true); err != nil {
		return err
	}
	e.Summary = fmt.Sprintf("The event %s is %s", found.Event, found.State)
	e.summarize(deliveryOf(&found))
	return nil
}

// eventsOf tells the events of a transaction, and returns how the last one was delivered, as the end of a sentence.
func (e *explaining) eventsOf(ctx context.Context, t *wire.Payment) (delivery string, err error) {
	events, err := e.API.Events(ctx, url.Values{"tx_id": {t.ID}}, mostEvents)
	if err != nil {
		return "", err
	}
	for i := range events {
		found, err := e.API.Event(ctx, events[i].ID)
		if err != nil {
			return "", err
		}
		if err := e.ofEvent(ctx, &found, false); err != nil {
			return "", err
		}
		delivery = deliveryOf(&found)
	}
	return delivery, nil
}

// deliveryOf returns how the delivery of an event is, as the end of a sentence.
func deliveryOf(found *wire.EventDetail) string {
	switch {
	case found.State == delivered:
		return fmt.Sprintf(", and the receiver acknowledged its event at attempt %d", found.AttemptCount)
	case found.State == recorded:
		return ", and its event is not sent"
	case found.AttemptCount == 0:
		return ", and its event was not sent yet"
	}
	return fmt.Sprintf(", and its event is not acknowledged after attempt %d", found.AttemptCount)
}

// ofEvent tells an event with its attempts, and says why it is not delivered. The parameter alone says that it was asked about itself,
// not about its transaction.
func (e *explaining) ofEvent(ctx context.Context, found *wire.EventDetail, alone bool) error {
	e.tell(found.CreatedAt, "event", found.ID, "%s is %s", found.Event, found.State)
	acknowledged := e.attempts(found)
	switch {
	case found.State == recorded:
		return e.notSent(ctx, found, alone)
	case found.Advice != nil:
		e.refusedEvent(found)
	case found.State == queued && found.AttemptCount == 0:
		return e.notSentYet(ctx, found)
	case acknowledged > 1:
		e.blame(advice.Of(advice.AcknowledgedTwice, acknowledged))
	}
	return nil
}

// attempts tells the attempts of an event, and returns how often it was acknowledged.
func (e *explaining) attempts(found *wire.EventDetail) (acknowledged int) {
	for i := range found.Attempts {
		a := &found.Attempts[i]
		if len(a.Effects) > 0 {
			e.tell(a.StartedAt, "fault", found.ID, "A fault of the sandbox acted on attempt %d: %s", a.Number, strings.Join(a.Effects, "; "))
		}
		e.tell(a.StartedAt, "attempt", found.ID, "Attempt %d: %s in %d ms", a.Number, answer(a.ResponseStatus, a.Error), a.DurationMs)
		e.quote(a.ResponseBody)
		if len(a.Copies) == 0 && isAcknowledged(a.ResponseStatus) {
			acknowledged += copiesIn(a.Effects)
		}
		for n := range a.Copies {
			c := &a.Copies[n]
			e.tell(a.StartedAt, "attempt", found.ID, "Attempt %d, copy %d: %s in %d ms", a.Number, n+1, answer(c.ResponseStatus, c.Error), c.DurationMs)
			e.quote(c.ResponseBody)
			if isAcknowledged(c.ResponseStatus) {
				acknowledged++
			}
		}
	}
	if found.NextAttemptAt != nil {
		e.tell(*found.NextAttemptAt, "wait", found.ID, "The next attempt")
	}
	return acknowledged
}

// sentTimes matches the effect of a fault that sends an event more than once.
var sentTimes = regexp.MustCompile(`sent ([0-9]+) times`)

// copiesIn returns how often one attempt sent an event. An attempt has the answers to copies only if they left at the same moment.
func copiesIn(effects []string) int {
	for _, effect := range effects {
		if found := sentTimes.FindStringSubmatch(effect); found != nil {
			n, _ := strconv.Atoi(found[1]) // only digits
			return n
		}
	}
	return 1
}

func isAcknowledged(status *int) bool { return status != nil && *status/100 == 2 }

// answer returns the answer to an attempt in words.
func answer(status *int, failure *string) string {
	switch {
	case status != nil:
		return fmt.Sprintf("answered %d %s", *status, http.StatusText(*status))
	case failure != nil:
		return *failure
	}
	return "no answer"
}

// notSent says why an event is recorded only. It is a cause if somebody asks about the event itself.
func (e *explaining) notSent(ctx context.Context, found *wire.EventDetail, alone bool) error {
	webhook, err := e.API.Webhook(ctx)
	if err != nil {
		return err
	}
	a := advice.Of(advice.NoWebhook)
	a.Steps = []advice.Step{{
		Purpose: "A program on your own machine gets the events by", Command: "listen", Rest: "--forward-to=http://localhost:3000/webhooks",
	}}
	if webhook.URL != nil && !slices.Contains(webhook.Events, found.Event) {
		a = advice.Of(advice.NotSelected, found.Event)
	}
	what, _ := a.Sentences()
	e.tell("", "wait", found.ID, "%s", what)
	if alone {
		e.blame(a)
	}
	return nil
}

// notSentYet says why an event has no attempt yet: a fault holds it, the endpoint is paused, the clock stands or no worker works.
func (e *explaining) notSentYet(ctx context.Context, found *wire.EventDetail) error {
	due := moment(value(found.NextAttemptAt))
	if due.IsZero() || due.Sub(moment(found.CreatedAt)) > soonSent {
		held, err := e.heldBy(ctx)
		if err != nil {
			return err
		}
		if held != nil {
			e.blame(*held)
			return nil
		}
		webhook, err := e.API.Webhook(ctx)
		if err != nil {
			return err
		}
		if webhook.Advice != nil {
			e.blame(OfAPI(webhook.Advice))
			return nil
		}
	}
	if a, is := e.waits(due); is {
		e.blame(a)
		return nil
	}
	e.blame(advice.Of(advice.FirstAttempt))
	return nil
}

// soonSent is how long an event waits at most that nothing holds.
const soonSent = 3 * time.Second

// heldBy returns the cause of events that a fault holds, if one of the faults that are on does; nil: none does.
func (e *explaining) heldBy(ctx context.Context) (*advice.Advice, error) {
	faults, err := e.API.Faults(ctx)
	if err != nil {
		return nil, err
	}
	for i := range faults {
		var does struct {
			Delay      string
			OutOfOrder bool
		}
		_ = json.Unmarshal(faults[i].Webhook, &does) // a fault of something else does neither
		if does.Delay == "" && !does.OutOfOrder {
			continue
		}
		a := advice.Of(advice.HeldByFault, faults[i].Effect)
		a.Steps = []advice.Step{{
			Purpose: "Go to where it is sent", Command: "clock", Rest: "advance --next", Tool: "advance_clock", Arguments: map[string]any{"next": true},
		}}
		if faults[i].Source == "api" {
			a.Steps = append(a.Steps, advice.Step{
				Purpose: "Remove the fault", Command: "faults", Rest: "off " + faults[i].Name, Tool: "switch_fault",
				Arguments: map[string]any{"name": faults[i].Name, "on": false},
			})
		}
		return &a, nil
	}
	return nil, nil
}

// refusedEvent says why an event was not acknowledged: what the API says of it and, if its receiver answered the signature that it
// computed, what is wrong with that.
func (e *explaining) refusedEvent(found *wire.EventDetail) {
	a := OfAPI(found.Advice)
	refuses := a.Code == advice.SignatureRefused || a.Code == advice.BadRequest
	if d := e.answeredSignature(found); d != nil && (refuses || d.advice.Code != advice.SignatureUnknown) {
		e.blame(d.advice, d.steps...)
	}
	e.blame(a)
}
