package apidoc

import (
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

var GetWebhook = Operation{
	ID: "getWebhook", Method: http.MethodGet, Path: "/v1/webhook", Tag: tagEvents, Summary: "Read the webhook and its health",
	Description: "Where the sandbox sends its events, whether they are acknowledged, since when not and why, and the fingerprints of the " +
		"secrets that sign them. A receiver that refuses everything often holds another secret: compare its fingerprint.\n\n" +
		"The callbacks of the operators' own APIs go to other addresses: callbacks has those that are unacknowledged, and nothing else counts them.",
	answers: []described{{http.StatusOK, "The webhook, as it is now.", webhookSchema, nil}},
	Examples: []Example{{
		name: "failing", Summary: "A receiver that refuses the signature", Status: http.StatusOK, Answer: view.WebhookOf(failingWebhook(), nil, nil, func(event string) string {
			return "https://pay.example.com/sandboxes/team-payments/checkout/console/webhooks/" + event
		}),
	}},
}

// failingWebhook returns a webhook whose receiver answers 401 for three minutes.
func failingWebhook() *ledger.Webhook {
	attempt := func(number int, at time.Time, status int) *ledger.EndpointAttempt {
		a := &ledger.EndpointAttempt{Event: payments.EventID{ID: settledID}}
		a.Number, a.StartedAt, a.RealStartedAt, a.Duration, a.ResponseStatus = number, at, at, 21*time.Millisecond, &status
		if status == http.StatusUnauthorized {
			a.ResponseBody, a.Error = []byte(`{"error":"bad signature"}`), new("the receiver answered 401")
		}
		return a
	}
	since := exampleTime.Add(-3 * time.Minute)
	last := attempt(4, exampleTime, http.StatusUnauthorized)
	return &ledger.Webhook{
		EndpointHealth: webhooks.EndpointHealth{
			State: webhooks.EndpointFailing, Failures: 16, FailingSince: &since, Delivered: 1162, Failed: 1, Unacknowledged: 5,
			Newest: &webhooks.UnacknowledgedEvent{ID: settledID, CreatedAt: since, Waits: true, Attempt: 4, Failure: *last.Error},
		},
		URL: "https://shop.example/webhooks/cauri", Types: payments.Types, Waiting: 5,
		FirstFailure: attempt(1, since, http.StatusUnauthorized), LastFailed: last, NewestFailed: last,
		LastDelivery: attempt(1, since.Add(-time.Minute), http.StatusNoContent),
		Secret:       &ledger.SigningSecret{Fingerprint: exampleFingerprint, Since: new(exampleTime.AddDate(0, 0, -27))},
	}
}
