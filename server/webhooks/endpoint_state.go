package webhooks

import (
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// EndpointState says how the deliveries to the endpoint of a sandbox go.
type EndpointState string

// The states of an endpoint.
const (
	EndpointNone    EndpointState = "none"    // the sandbox has no endpoint
	EndpointHealthy EndpointState = "healthy" // nothing is known to be wrong
	EndpointFailing EndpointState = "failing" // an event of the last 24 hours is unacknowledged, or no event is ever sent
	EndpointPaused  EndpointState = "paused"  // it failed for so long that it gets one event at a time
)

// EndpointStates are all states of an endpoint.
var EndpointStates = []EndpointState{EndpointNone, EndpointHealthy, EndpointFailing, EndpointPaused}

// MostUnacknowledged is the maximum of [EndpointHealth].Unacknowledged.
const MostUnacknowledged = 1000

// EndpointHealth is the judgement of a sandbox's receiver of events. Whoever shows how the receiver is takes it from
// here. A sandbox without an endpoint has the state `none`.
//
// An event is unacknowledged after a failed attempt on which no fault acted: it waits for its next attempt, or its
// retries are used up. It is no longer unacknowledged when it is delivered or sent again. It counts until it is 24 hours
// old in sandbox time.
type EndpointHealth struct {
	State          EndpointState
	Acknowledged   bool                 // the last attempt without a fault was acknowledged, at the present URL
	Unacknowledged int                  // events of the last 24 hours, at most [MostUnacknowledged]
	Newest         *UnacknowledgedEvent // of these; nil: there are none
	OldestAt       *time.Time           // when the oldest of these was created, in sandbox time; nil: there are none
	Delivered      int64                // events
	Failed         int64                // events whose retries are used up
	Failures       int                  // attempts in a row that were not acknowledged
	FailingSince   *time.Time           // time of the first of these attempts, in sandbox time
	ProbeAt        *time.Time           // when a paused endpoint gets its next event, in sandbox time
	LastFailure    string
	LastFailedAt   *time.Time // in real time
	URLChangedAt   *time.Time // in real time; nil: there is one URL since the first attempt
	// Refusal is why no event is ever sent to the URL; empty: it may be. The workers, which decide, may have other settings
	// than the controller. So what was acknowledged counts more.
	Refusal string
}

// UnacknowledgedEvent is an event that the receiver did not acknowledge.
type UnacknowledgedEvent struct {
	ID        payments.ID
	CreatedAt time.Time // in sandbox time
	Waits     bool      // for its next attempt; false: its retries are used up
	Attempt   int       // the last one on which no fault acted
	Failure   string    // the error of that attempt; empty: it was removed
	Former    bool      // that attempt was at a former URL
}

// EventID returns the id of the event.
func (e *UnacknowledgedEvent) EventID() payments.EventID { return payments.EventID{ID: e.ID} }

// Fails reports whether the receiver is known not to be well.
func (h *EndpointHealth) Fails() bool { return h.State == EndpointFailing || h.State == EndpointPaused }

// Cause returns the error that tells why the receiver is not well: the refusal of the URL, else the last failure while
// attempts fail, else the failure of the newest unacknowledged event, else the last failure. It returns "" if there is
// none.
func (h *EndpointHealth) Cause() string {
	switch fails := h.Failures > 0 && h.LastFailure != ""; {
	case h.Refusal != "":
		return h.Refusal
	case !fails && h.Newest != nil && h.Newest.Failure != "":
		return h.Newest.Failure
	}
	return h.LastFailure
}
