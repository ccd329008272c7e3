package wire

import (
	"encoding/json"
)

// EventSummary is an event with the state of its delivery. It is exported, so that the schemas of structs that embed it
// have its fields.
type EventSummary struct {
	ID                 string   `json:"id" doc:"The event's id: X-Service-Delivery of each of its deliveries." example:"evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE"`
	Event              string   `json:"event" enum:"payment.completed,payment.refunded,disbursement.completed,operator.callback" doc:"The event's name; operator.callback is the callback of an operator's own API."`
	Kind               string   `json:"kind,omitempty" doc:"Of an operator.callback only: which one it is, of an operator that sends several."`
	TxID               string   `json:"txId,omitempty" doc:"The event's transaction. Absent if an operator.callback belongs to none, such as the result of an inquiry."`
	Status             string   `json:"status,omitempty" doc:"Of the transaction. Absent if there is none."`
	State              string   `json:"state" doc:"recorded: not sent, no URL or type not selected; queued: waits to be sent or sent again; delivered: acknowledged; failed: no retries left."`
	AttemptCount       int      `json:"attemptCount" minimum:"0" doc:"Attempts to deliver it so far."`
	CreatedAt          string   `json:"createdAt" format:"date-time" doc:"When the transaction became final, or when the operator.callback of none was queued. ISO 8601, UTC."`
	NextAttemptAt      *string  `json:"nextAttemptAt" format:"date-time" doc:"Time of the next attempt, if it is queued. null while it is being sent, and if no attempt follows."`
	DeliveredAt        *string  `json:"deliveredAt" format:"date-time" doc:"When it was acknowledged; null in every other state."`
	LastResponseStatus *int     `json:"lastResponseStatus" doc:"HTTP status of the response to the last attempt; null if there was no response."`
	LastError          *string  `json:"lastError" doc:"Why the last attempt failed; null if it was acknowledged, or if there was none."`
	LastEffects        []string `json:"lastEffects,omitempty" doc:"What the sandbox's faults did to the last attempt, in words, as the sandbox declares them now: twice: sent 2 times. Absent if none acted."`
}

// EventList is the answer of GET /v1/events.
type EventList struct {
	Data           []EventSummary `json:"data" doc:"In the order of their transactions, newest first."`
	NextCursor     *string        `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore        bool           `json:"hasMore"`
	PreviousCursor *string        `json:"previousCursor" doc:"Send it as before to get the page before this one; null on the first one."`
}

// EventDetail is the answer of GET /v1/events/{id}.
type EventDetail struct {
	EventSummary
	Method   string            `json:"method,omitempty" doc:"Of an operator.callback only: the method of its request."`
	URL      string            `json:"url,omitempty" doc:"Of an operator.callback only: where it goes, as its request asked."`
	Body     string            `json:"body" doc:"The body that every delivery sends and signs, byte for byte. That of an operator.callback is the operator's, and is not signed."`
	Payload  json.RawMessage   `json:"payload" doc:"The same, parsed."`
	Attempts []DeliveryAttempt `json:"attempts" doc:"The latest 100, oldest first."`
	Advice   *Advice           `json:"advice,omitempty" doc:"Why the last attempt failed, and what to do. Absent if the event is delivered or not sent, and before the first attempt."`

	Signature *EventSignature `json:"signature,omitempty" doc:"How the last attempt was signed, step by step. Absent before the first attempt, and of an operator.callback, which is not signed."`
}

// DeliveryAttempt is an attempt to deliver an event.
type DeliveryAttempt struct {
	Number         int      `json:"number" minimum:"1" doc:"Counted from 1. The count continues when an event is sent again."`
	StartedAt      string   `json:"startedAt" format:"date-time" doc:"In sandbox time. ISO 8601, UTC."`
	RealStartedAt  string   `json:"realStartedAt" format:"date-time" doc:"The same in real time, to find the attempt in the receiver's own log. It differs from startedAt if the sandbox's clock was moved or stands."`
	DurationMs     int64    `json:"durationMs" doc:"Until the response arrived or the attempt ended."`
	ResponseStatus *int     `json:"responseStatus" doc:"null if there was no response."`
	Error          *string  `json:"error" doc:"Why the attempt failed; null if it was acknowledged."`
	ResponseBody   string   `json:"responseBody" doc:"The first 4 KiB of the response. Bytes that are not UTF-8 are replaced by U+FFFD."`
	Faults         []string `json:"faults,omitempty" doc:"Names of the sandbox's faults that acted on the attempt. Absent if there are none."`
	Effects        []string `json:"effects,omitempty" doc:"The same in words, as the sandbox declares them now: twice: sent 2 times."`

	Copies []AttemptCopy `json:"copies,omitempty" doc:"The answers to copies that a fault sent at the same moment, in the order in which they came. The attempt has the result of the copy that answered last. Absent if copies were not sent at the same moment."`
}

// AttemptCopy is the answer to one of the copies of an event that were sent at the same moment.
type AttemptCopy struct {
	DurationMs     int64   `json:"durationMs" doc:"Until the response arrived or the attempt ended."`
	ResponseStatus *int    `json:"responseStatus" doc:"null if there was no response."`
	Error          *string `json:"error" doc:"Why the copy failed; null if it was acknowledged."`
	ResponseBody   string  `json:"responseBody" doc:"The first 1 KiB of the response. Bytes that are not UTF-8 are replaced by U+FFFD."`
}
