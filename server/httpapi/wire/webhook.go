package wire

// Webhook is the answer of GET /v1/webhook.
type Webhook struct {
	URL                 *string            `json:"url" doc:"Where events are sent, without user, password and query; null if the sandbox has no webhook."`
	Events              []string           `json:"events" doc:"Names of the events that are sent."`
	State               string             `json:"state" enum:"none,healthy,failing,paused" doc:"none: the sandbox has no webhook; healthy: nothing is known to be wrong; failing: events of the last 24 hours are unacknowledged; paused: attempts failed 20 times in a row over five minutes, and one event a minute is sent until one is acknowledged."`
	Acknowledged        bool               `json:"acknowledged" doc:"Whether the last attempt on which no fault acted was acknowledged, at the present URL. While it is false and the state is healthy, nothing tells how the receiver is."`
	Unacknowledged      int                `json:"unacknowledged" minimum:"0" maximum:"1000" doc:"Events of the last 24 hours, in sandbox time, that wait after a failed attempt or have no retries left, until they are delivered or sent again: 1000 means 1000 or more. Attempts on which a fault of the sandbox acted are not counted."`
	UnacknowledgedEvent *WebhookAttempt    `json:"unacknowledgedEvent,omitempty" doc:"The newest of them, with its last failed attempt. Absent if there is none, or if its event was removed."`
	Advice              *Advice            `json:"advice,omitempty" doc:"Why the endpoint is failing or paused, and what to do. Absent in every other state."`
	Callbacks           []FailingCallbacks `json:"callbacks" doc:"Of each operator's own API whose callbacks of the last 24 hours, in sandbox time, are unacknowledged, those with the newest ones first. They go to other URLs, so state and the fields beside it say nothing about them."`
	ConsecutiveFailures int                `json:"consecutiveFailures" minimum:"0" doc:"Attempts in a row that failed, of all events, at the present URL. Attempts on which a fault of the sandbox acted are not counted."`
	FailingSince        *string            `json:"failingSince" format:"date-time" doc:"When the first of them failed, in sandbox time; null if there is none."`
	NextProbeAt         *string            `json:"nextProbeAt" format:"date-time" doc:"When one event is sent next while the endpoint is paused, in sandbox time; null in every other state."`
	FirstFailure        *WebhookAttempt    `json:"firstFailure,omitempty" doc:"The first of the consecutive failures. Absent if there is none, or if its event was removed."`
	LastFailure         *WebhookAttempt    `json:"lastFailure,omitempty" doc:"The last attempt that failed, also if its event was delivered since. Absent if there is none, or if its event was removed."`
	LastDelivery        *WebhookAttempt    `json:"lastDelivery,omitempty" doc:"The last attempt that was acknowledged. Absent if there is none, or if its event was removed."`
	Delivered           int64              `json:"delivered" minimum:"0" doc:"Events that were acknowledged."`
	Failed              int64              `json:"failed" minimum:"0" doc:"Events without retries left."`
	Waiting             int                `json:"waiting" minimum:"0" maximum:"1000" doc:"Events to be sent or sent again: 1000 means 1000 or more."`
	Secret              *WebhookSecret     `json:"secret,omitempty" doc:"The secret that signs. Absent until the controller has made it."`
	PreviousSecrets     []WebhookSecret    `json:"previousSecrets" doc:"Secrets that still sign after a rotation, the most recent first."`
}

// FailingCallbacks are the callbacks of an operator's own API that are not acknowledged.
type FailingCallbacks struct {
	Operator       string `json:"operator" enum:"mtn,orange,moov,airtel" example:"mtn"`
	Unacknowledged int    `json:"unacknowledged" minimum:"1" maximum:"1000" doc:"How many, counted as events are: 1000 means 1000 or more."`
	EventID        string `json:"eventId" doc:"The id of the newest of them."`
	Advice         Advice `json:"advice" doc:"Why the newest of them is unacknowledged, and what to do."`
}

// WebhookAttempt is an attempt with its event.
type WebhookAttempt struct {
	EventID string `json:"eventId" doc:"The event's id."`
	DeliveryAttempt
}

// WebhookSecret tells a signing secret from others. It is no secret.
type WebhookSecret struct {
	Fingerprint string  `json:"fingerprint" pattern:"^[0-9a-f]{8}$" doc:"The first 8 hexadecimal digits of the SHA-256 of the secret's text. On the machine of the receiver: printf %s \"$CAURI_WEBHOOK_SECRET\" | sha256sum | cut -c1-8"`
	Since       *string `json:"since,omitempty" format:"date-time" doc:"Since when the current secret signs, in real time."`
	ValidUntil  *string `json:"validUntil,omitempty" format:"date-time" doc:"Until when a previous secret signs too, in real time."`
}
