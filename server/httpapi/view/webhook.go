package view

import (
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/view/offline"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// WebhookOf returns the view of the webhook of a sandbox with these faults, and of callbacks of operators' own APIs. The function
// pageOf returns the address of an event's page in the console; empty: there is no console.
func WebhookOf(w *ledger.Webhook, callbacks []ledger.FailingCallbacks, declared faults.Set, pageOf func(event string) string) wire.Webhook {
	view := wire.Webhook{
		Events: []string{}, State: string(w.State), ConsecutiveFailures: w.Failures, FailingSince: momentOf(w.FailingSince),
		NextProbeAt: momentOf(w.ProbeAt), FirstFailure: webhookAttemptOf(w.FirstFailure, declared),
		Acknowledged: w.Acknowledged, Unacknowledged: w.Unacknowledged, UnacknowledgedEvent: webhookAttemptOf(w.NewestFailed, declared),
		LastFailure: webhookAttemptOf(w.LastFailed, declared), LastDelivery: webhookAttemptOf(w.LastDelivery, declared),
		Delivered: w.Delivered, Failed: w.Failed, Waiting: w.Waiting,
		PreviousSecrets: []wire.WebhookSecret{}, Callbacks: []wire.FailingCallbacks{},
	}
	for i := range callbacks {
		view.Callbacks = append(view.Callbacks, failingCallbacksOf(&callbacks[i], pageOf))
	}
	if w.State != webhooks.EndpointNone {
		view.URL = &w.URL
	}
	if w.Fails() {
		page := ""
		if w.Newest != nil {
			page = pageOf(w.Newest.EventID().String())
		}
		view.Advice = offline.AdviceOf(advice.OfReceiver(&w.EndpointHealth, w.URL), page)
	}
	for _, t := range w.Types {
		view.Events = append(view.Events, t.Event())
	}
	if w.Secret != nil {
		view.Secret = new(webhookSecretOf(w.Secret))
	}
	for i := range w.Previous {
		view.PreviousSecrets = append(view.PreviousSecrets, webhookSecretOf(&w.Previous[i]))
	}
	return view
}

func failingCallbacksOf(c *ledger.FailingCallbacks, pageOf func(event string) string) wire.FailingCallbacks {
	id := c.Newest.String()
	why := advice.OfAttempt(advice.Attempt{Failure: c.Failure, Host: advice.HostAndPortOf(c.URL), Event: id, Callback: true})
	return wire.FailingCallbacks{
		Operator: string(c.Operator), Unacknowledged: c.Count, EventID: id, Advice: *offline.AdviceOf(why, pageOf(id)),
	}
}

func webhookSecretOf(s *ledger.SigningSecret) wire.WebhookSecret {
	return wire.WebhookSecret{Fingerprint: s.Fingerprint, Since: momentOf(s.Since), ValidUntil: momentOf(s.Until)}
}

func webhookAttemptOf(a *ledger.EndpointAttempt, declared faults.Set) *wire.WebhookAttempt {
	if a == nil {
		return nil
	}
	return &wire.WebhookAttempt{EventID: a.Event.String(), DeliveryAttempt: deliveryAttemptOf(&a.AttemptRecord, declared)}
}
