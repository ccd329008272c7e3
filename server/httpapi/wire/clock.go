package wire

// Clock is the answer of GET /v1/clock.
type Clock struct {
	Mode      string  `json:"mode" enum:"Real,Manual" doc:"Real: sandbox time runs, as far ahead of real time as it was advanced. Manual: it stands until it is advanced."`
	Now       string  `json:"now" format:"date-time" doc:"Sandbox time. ISO 8601, UTC, as precise as it is."`
	Target    *string `json:"target" format:"date-time" doc:"Where the advance that is under way goes; null if there is none."`
	NextDueAt *string `json:"nextDueAt" format:"date-time" doc:"When something is due next: a payment's outcome, or an attempt to deliver an event. Not after now while something is due already; null if nothing will be."`
	Due       DueNow  `json:"due" doc:"What is due and not done yet."`
}

// DueNow counts the due rows at the clock's current time.
type DueNow struct {
	Transactions int `json:"transactions" minimum:"0" doc:"Pending payments whose outcome is due."`
	Events       int `json:"events" minimum:"0" doc:"Events, and callbacks of the operators' own APIs, that are to be sent now."`
}

// AdvanceRequest is the body of POST /v1/clock/advance.
type AdvanceRequest struct {
	_    struct{} `additionalProperties:"true"`
	By   string   `json:"by,omitempty" pattern:"^-?([0-9]{1,9}(\\.[0-9]{1,9})?(h|m|s|ms))+$" maxLength:"40" patternDescription:"a duration such as 61m or 3h30m" example:"61m" doc:"How far: hours, minutes, seconds and milliseconds, at most 9600h (400 days), and not beyond the year 2200. Send either by or to."`
	To   string   `json:"to,omitempty" pattern:"^(nextDue|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))$" patternDescription:"a time like 2026-12-01T00:00:00Z, or nextDue" example:"2026-12-01T00:00:00Z" doc:"Where to: a time (RFC 3339), or nextDue, the moment at which something is due next. If nothing will be, nextDue stays where it is."`
	Wait string   `json:"wait,omitempty" pattern:"^-?([0-9]{1,9}(\\.[0-9]{1,9})?(h|m|s|ms))+$" maxLength:"40" patternDescription:"a duration such as 30s" default:"30s" example:"30s" doc:"How long to wait for the end of the advance, in real time, from 0s to 60s."`
}

// Advanced is the answer of POST /v1/clock/advance after the clock has reached its target. The counts cover the whole
// advance, even if another caller started it.
type Advanced struct {
	Now            string `json:"now" format:"date-time" doc:"Sandbox time."`
	Settled        int64  `json:"settled" minimum:"0" doc:"Payments that got their outcome."`
	Expired        int64  `json:"expired" minimum:"0" doc:"Payments that ended TIMEOUT because their time was over."`
	Delivered      int64  `json:"delivered" minimum:"0" doc:"Events and callbacks that were acknowledged."`
	FailedAttempts int64  `json:"failedAttempts" minimum:"0" doc:"Attempts to deliver an event or a callback that failed."`
}

// Advancing is the answer of POST /v1/clock/advance while the advance still runs.
type Advancing struct {
	Now    string `json:"now" format:"date-time" doc:"Sandbox time."`
	Target string `json:"target" format:"date-time" doc:"Where the clock is being advanced to. Send it as to, and you wait on."`
}
