package advice_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// What is over is not told as present: neither of a receiver that works again, nor of another URL. What one event shows while it is
// sent again is.
func TestCauseThatIsOver(t *testing.T) {
	t.Parallel()
	const down, refused = "dial tcp: connection refused", "the receiver answered 500"
	changed := time.Now()
	event := func(failure string, waits, former bool) *webhooks.UnacknowledgedEvent {
		return &webhooks.UnacknowledgedEvent{Attempt: 1, Failure: failure, Waits: waits, Former: former}
	}
	for name, c := range map[string]struct {
		health webhooks.EndpointHealth
		want   advice.Code
		says   string
	}{
		"it is down": {
			webhooks.EndpointHealth{Unacknowledged: 1, Failures: 1, LastFailure: down, Newest: event(down, true, false)},
			advice.NotListening, "Nothing listens at shop:3000",
		},
		"it was down": {
			webhooks.EndpointHealth{Unacknowledged: 3, Acknowledged: true, LastFailure: down, Newest: event(down, false, false)},
			advice.Recovered, "3 events were not delivered, and the receiver acknowledges events now",
		},
		"it was down, and a retry follows": {
			webhooks.EndpointHealth{Unacknowledged: 1, Acknowledged: true, LastFailure: down, Newest: event(down, true, false)},
			advice.Recovered, "An event was not delivered",
		},
		"it refuses one of ten": {
			webhooks.EndpointHealth{Unacknowledged: 1, Acknowledged: true, LastFailure: refused, Newest: event(refused, true, false)},
			advice.Fails, "Your receiver answers 500. It has acknowledged other events since",
		},
		"it refused one, without retries left": {
			webhooks.EndpointHealth{Unacknowledged: 1, Acknowledged: true, LastFailure: refused, Newest: event(refused, false, false)},
			advice.Recovered, "acknowledges events now",
		},
		"it was down, and refuses now": {
			webhooks.EndpointHealth{Unacknowledged: 2, Failures: 2, LastFailure: refused, Newest: event(down, true, false)},
			advice.Fails, "Your receiver answers 500",
		},
		"nothing was sent to the present URL": {
			webhooks.EndpointHealth{Unacknowledged: 2000, URLChangedAt: &changed, LastFailure: down, Newest: event(down, true, true)},
			advice.FormerURL, "More than 999 events were not delivered to a former URL",
		},
		"the present URL acknowledges": {
			webhooks.EndpointHealth{Unacknowledged: 2, Acknowledged: true, URLChangedAt: &changed, Newest: event(refused, true, true)},
			advice.Recovered, "2 events",
		},
		"the present URL fails too": {
			webhooks.EndpointHealth{Unacknowledged: 2, Failures: 1, URLChangedAt: &changed, LastFailure: refused, Newest: event(down, true, true)},
			advice.Fails, "Your receiver answers 500",
		},
	} {
		a := advice.OfReceiver(&c.health, "http://shop:3000/x?token=y")
		over := c.want == advice.Recovered || c.want == advice.FormerURL
		if a.Code != c.want || !strings.Contains(a.What.String(), c.says) || a.Do.String() == "" || a.Over() != over {
			t.Errorf("%s: %s: %s. %s", name, a.Code, a.What, a.Do)
		}
		if resends := len(a.Steps) > 0 && a.Steps[0].Command == "resend"; a.Over() && !resends || strings.Contains(a.What.String(), "token") {
			t.Errorf("%s: %s, %+v", name, a.What, a.Steps)
		}
	}
}

// An event is told in the same way on its own. What a receiver that was reached answered stays its cause.
func TestCauseOfAnEventThatIsOver(t *testing.T) {
	t.Parallel()
	changed := time.Now()
	well := webhooks.EndpointHealth{Acknowledged: true}
	moved := webhooks.EndpointHealth{URLChangedAt: &changed}
	for name, c := range map[string]struct {
		failure string
		health  webhooks.EndpointHealth
		url     string
		want    advice.Code
		says    string
	}{
		"down":                  {"connection refused", webhooks.EndpointHealth{}, "http://shop:3000/", advice.NotListening, "shop:3000"},
		"was down":              {"connection refused", well, "http://shop:3000/", advice.Recovered, "acknowledges events now"},
		"refused":               {"the receiver answered 422", well, "http://shop:3000/", advice.Refuses, "answers 422"},
		"another URL":           {"the receiver answered 422", moved, "http://new/", advice.FormerURL, "a former URL"},
		"no URL any more":       {"connection refused", moved, "", advice.FormerURL, "There is no webhook now"},
		"no URL, an answer":     {"the receiver answered 401", webhooks.EndpointHealth{}, "", advice.SignatureRefused, "answers 401"},
		"never a URL, an error": {"connection refused", webhooks.EndpointHealth{}, "", advice.FormerURL, "There is no webhook now"},
	} {
		a := advice.OfAttempt(advice.Attempt{Failure: c.failure, Event: "evt_1"}.Beside(&c.health, c.url, changed.Add(-time.Second)))
		if text := a.What.String() + ". " + a.Do.String(); a.Code != c.want || !strings.Contains(text, c.says) || strings.Contains(text, " .") {
			t.Errorf("%s: %s: %s", name, a.Code, text)
		}
	}
}
