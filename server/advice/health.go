package advice

import (
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// The causes that are over: the receiver may be well.
const (
	Recovered Code = "receiver.recovered"  // it acknowledges events, and has not acknowledged others before
	FormerURL Code = "receiver.former_url" // the attempt was at another URL
)

// Over reports whether the cause is over, so that nothing is known to be wrong with the receiver now.
func (a *Advice) Over() bool { return a.Code == Recovered || a.Code == FormerURL }

// OfReceiver returns why a receiver is not well. The parameter url is the present one.
func OfReceiver(h *webhooks.EndpointHealth, url string) Advice {
	attempt := Attempt{
		Failure: h.Cause(), Host: HostAndPortOf(url), Acknowledged: h.Acknowledged, Events: max(h.Unacknowledged, 1),
		// Nothing was sent to the present URL, and it may be.
		Former: h.Refusal == "" && h.URLChangedAt != nil && !h.Acknowledged && h.Failures == 0,
	}
	if h.Newest != nil {
		attempt.Event, attempt.Waits = h.Newest.EventID().String(), h.Newest.Waits
		attempt.Former = attempt.Former || h.Acknowledged && h.Newest.Former
	}
	return OfAttempt(attempt)
}

// Beside returns an attempt to deliver an event, completed with what the health of the receiver says. The parameter url
// is the present URL; empty: there is none. The parameter started is when the attempt began, in real time.
func (attempt Attempt) Beside(h *webhooks.EndpointHealth, url string, started time.Time) Attempt {
	attempt.Host, attempt.Acknowledged = HostAndPortOf(url), h.Acknowledged
	_, status := webhooks.KindOfText(attempt.Failure) // the meaning of an answer does not depend on the host
	attempt.Former = url == "" && status == 0 || h.URLChangedAt != nil && started.Before(*h.URLChangedAt)
	return attempt
}

// isOver reports whether the cause is over although nothing else is known of this event. If the receiver was reached,
// it may refuse only this event. So an acknowledged other event does not count while this event is sent again.
func (attempt *Attempt) isOver(reached bool) bool {
	return attempt.Former || attempt.Acknowledged && (!reached || attempt.Events > 0 && !attempt.Waits)
}

// ofPast returns the cause of an attempt that tells nothing about the present receiver.
func ofPast(attempt *Attempt) (a Advice) {
	again := english.Text("Send again what has no retries left.")
	if attempt.Host == "" {
		again = "There is no webhook now. Set spec.webhook.url of the sandbox, then send the event again."
	}
	if attempt.Acknowledged {
		a.set(Recovered, "Receiver works again", attempt.many("An event was not delivered, and the receiver acknowledges events now",
			"%s events were not delivered, and the receiver acknowledges events now",
			"More than %s events were not delivered, and the receiver acknowledges events now"), again)
	} else {
		a.set(FormerURL, "URL has changed", attempt.many("An event was not delivered to a former URL", "%s events were not delivered to a former URL",
			"More than %s events were not delivered to a former URL"), again)
	}
	if attempt.Event != "" {
		a.Steps = []Step{resend("Send the event again:", attempt.Event)}
	}
	if attempt.Events > 1 {
		a.Steps = append(a.Steps, Step{
			Purpose: "Send all again that have no retries left:", Command: "resend", Rest: "--failed", Tool: "resend_event",
			Arguments: map[string]any{"failed": true},
		})
	}
	return a
}

// many returns the text for the number of events, which is bounded.
func (attempt *Attempt) many(one, some, most english.Text) english.Phrase {
	switch n := attempt.Events; {
	case n <= 1:
		return english.Say(one)
	case n >= webhooks.MostUnacknowledged:
		return english.Say(most, fmt.Sprint(webhooks.MostUnacknowledged-1))
	default:
		return english.Say(some, fmt.Sprint(n))
	}
}
