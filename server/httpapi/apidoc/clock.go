package apidoc

import (
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
)

var GetClock = Operation{
	ID: "getClock", Method: http.MethodGet, Path: "/v1/clock", Tag: tagClock, Summary: "Read the clock",
	Description: "The sandbox's time, and what is due in it. All times of payments and events are in sandbox time.",
	answers:     []described{{http.StatusOK, "The clock.", clockSchema, nil}},
	Examples: []Example{{
		name: "clock", Summary: "A sandbox whose clock was never advanced", Status: http.StatusOK,
		Answer: view.ClockOf("Real", &clocks.Clock{Now: exampleTime}),
	}},
}

var AdvanceClock = Operation{
	ID: "advanceClock", Method: http.MethodPost, Path: "/v1/clock/advance", Tag: tagClock, Summary: "Advance the clock",
	Description: "Moves the sandbox's time forward, by a duration or to a moment, and does everything that is due on the way, in its order and at " +
		"its time: pending payments get their outcome or expire, events are sent, and sent again by the schedule. It is answered when all that is " +
		"done. If that takes longer than `wait`, the answer is 202, and the work goes on; the same target again waits on. Your client, and a proxy " +
		"in front of the service, need a timeout that is longer than `wait`.\n\n" +
		"A call while the clock is being advanced to another target is refused with `clock_busy`. Time never goes back. A suspension of the " +
		"sandbox stops an advance where it is.",
	Body: decode.AdvanceClock.Schema,
	answers: []described{
		{http.StatusOK, "The clock is at the target, and everything that was due is done.", advancedSchema, nil},
		{http.StatusAccepted, "The clock is still being advanced.", advancingSchema, nil},
	},
	errors: []string{"clock_backwards", "clock_busy", "clock_reset"},
	Examples: []Example{
		{
			name: "by", Summary: "An hour and a minute later", Status: http.StatusOK, Body: `{
  "by": "61m"
}`, Answer: view.AdvancedOf(exampleTime.Add(61*time.Minute),
				&clocks.AdvanceCounts{Settled: 1, Expired: 2, Delivered: 3, FailedAttempts: 4}),
		},
		{
			name: "noWait", Summary: "A day later, without waiting for it", Status: http.StatusAccepted, Body: `{
  "by": "24h",
  "wait": "0s"
}`, Answer: view.AdvancingOf(exampleTime, exampleTime.Add(24*time.Hour)),
		},
	},
}
