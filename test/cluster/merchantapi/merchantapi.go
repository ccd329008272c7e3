// Package merchantapi is what the tests in a cluster and the merchant that they run there say to each other, as JSON over HTTP.
package merchantapi

import (
	"encoding/json"
	"net/http"
	"time"
)

// Call asks the merchant for a request to Cauri: POST /calls, answered by an [Answer].
type Call struct {
	Binding string          `json:"binding"` // whose base URL and key are used
	Method  string          `json:"method"`
	Path    string          `json:"path"` // behind /api/v1
	Body    json.RawMessage `json:"body,omitempty"`

	// URI and Key replace those of the binding, to try what must not work.
	URI string `json:"uri,omitempty"`
	Key string `json:"key,omitempty"`
}

// Answer is what Cauri answered.
type Answer struct {
	Status  int             `json:"status"`
	Header  http.Header     `json:"header"`
	Body    json.RawMessage `json:"body"`
	Closing bool            `json:"closing"` // it asks for another connection
}

// Arrivals are what arrived at the merchant's endpoint for one binding: GET /arrivals/{binding}.
type Arrivals struct {
	Events  map[string]Event `json:"events"`  // by their ids; signed right, both ways
	Refused []string         `json:"refused"` // why each of the others was refused
}

// Event is one event that arrived.
type Event struct {
	Event         string `json:"event"`
	TransactionID string `json:"tx_id"`
	Status        string `json:"status"`
	Arrived       int    `json:"arrived"` // how often
}

// Behavior is how the endpoint answers from now on: PUT /behavior.
type Behavior struct {
	AcknowledgeAfter time.Duration `json:"acknowledgeAfter"`
}

// Actions of a [Step].
const (
	Pay      = "pay"      // makes a payment
	Retrieve = "retrieve" // reads a payment that the load has made
	Refund   = "refund"   // gives a part of such a payment back
	Disburse = "disburse" // pays out
)

// Step is one request of a load.
type Step struct {
	Binding string `json:"binding"`
	// Action is what to do. One that is about an earlier payment is itself a payment while there is none.
	Action   string `json:"action"`
	MSISDN   string `json:"msisdn"`             // of a payment or a disbursement
	Scenario string `json:"scenario,omitempty"` // of a payment
}

// Plan is a load: POST /loads/{name} begins it, DELETE ends it, GET tells of it.
type Plan struct {
	// Rate is how many requests begin in a second, whatever became of the ones before.
	Rate int `json:"rate"`
	// Length is for how long they begin; 0 means until the load is ended.
	Length time.Duration `json:"length"`
	// Steps are taken in turn.
	Steps []Step `json:"steps"`
	// Insist has a request that was answered 503 repeated, with its reference, when the answer says. Without it no request is
	// sent twice, and every answer that is no result is a failure.
	Insist bool `json:"insist"`
}

// Report is what became of a load.
type Report struct {
	Running bool `json:"running"`
	// Requests are those that have begun, Answered those of them that have their result or have failed.
	Requests int `json:"requests"`
	Answered int `json:"answered"`
	// Failed counts the requests that had no result or not the one that was due. Failures tells what was wrong, and how often.
	Failed   int            `json:"failed"`
	Failures map[string]int `json:"failures"`
	// Resent counts the requests that the HTTP client sent a second time by itself, on another connection. They may have a
	// result; a merchant with another client would have seen an error.
	Resent int `json:"resent"`
	// DialFailures counts the connections that could not be opened, also those whose request found another one.
	DialFailures int `json:"dialFailures"`
	// Connections counts those that were opened, Closing the answers that asked for another one.
	Connections int `json:"connections"`
	Closing     int `json:"closing"`
	// Took are the times of answers, from the moment that the request was due. They are told when the load has ended.
	Took Times `json:"took"`
	// Late is how much after its moment a request began, at most: the merchant's own shortcoming.
	Late time.Duration `json:"late"`
	// Unavailable counts the answers 503, between First and Last, and Recovered is when the first result came after the last of
	// them. Only with [Plan.Insist].
	Unavailable int       `json:"unavailable"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	Recovered   time.Time `json:"recovered"`
	// Acknowledged are the transactions that were answered with a result: by binding, the status by the id. They are told when the
	// load has ended.
	Acknowledged map[string]map[string]string `json:"acknowledged"`
}

// Times are quantiles of the times of answers.
type Times struct {
	P50 time.Duration `json:"p50"`
	P99 time.Duration `json:"p99"`
	Max time.Duration `json:"max"`
}
