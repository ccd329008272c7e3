package wire

import (
	"fmt"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/clocks"
)

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

// ClockOf returns the view of a clock.
func ClockOf(mode string, c *clocks.Clock) Clock {
	return Clock{
		Mode: mode, Now: exactTime(c.Now), Target: optionalTime(c.Target), NextDueAt: optionalTime(c.NextDueAt),
		Due: DueNow{Transactions: c.DueTransactions, Events: c.DueEvents},
	}
}

// exactTime formats a time of a clock without rounding, so that a client can send the exact time back.
func exactTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func optionalTime(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return new(exactTime(*t))
}

const (
	defaultWait = 30 * time.Second
	maxWait     = 60 * time.Second
)

// AdvanceRequest is the body of POST /v1/clock/advance.
type AdvanceRequest struct {
	_    struct{} `additionalProperties:"true"`
	By   string   `json:"by,omitempty" pattern:"^-?([0-9]{1,9}(\\.[0-9]{1,9})?(h|m|s|ms))+$" maxLength:"40" patternDescription:"a duration such as 61m or 3h30m" example:"61m" doc:"How far: hours, minutes, seconds and milliseconds, at most 9600h (400 days), and not beyond the year 2200. Send either by or to."`
	To   string   `json:"to,omitempty" pattern:"^(nextDue|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))$" patternDescription:"a time like 2026-12-01T00:00:00Z, or nextDue" example:"2026-12-01T00:00:00Z" doc:"Where to: a time (RFC 3339), or nextDue, the moment at which something is due next. If nothing will be, nextDue stays where it is."`
	Wait string   `json:"wait,omitempty" pattern:"^-?([0-9]{1,9}(\\.[0-9]{1,9})?(h|m|s|ms))+$" maxLength:"40" patternDescription:"a duration such as 30s" default:"30s" example:"30s" doc:"How long to wait for the end of the advance, in real time, from 0s to 60s."`
}

// AdvanceClock reads the body of POST /v1/clock/advance.
var AdvanceClock = newDecoder[AdvanceRequest]()

// AdvanceTarget returns the target of an advance, and the time for which the request waits. Its error has the type [*Error].
func AdvanceTarget(a *AdvanceRequest) (to clocks.Target, wait time.Duration, err error) {
	wrong := FieldErrors{}
	switch {
	case a.By != "" && a.To != "":
		wrong["by"] = []string{"cannot be sent together with to: send one of them"}
	case a.By != "":
		by, err := time.ParseDuration(a.By)
		if err != nil || by > clocks.MaxAdvance {
			wrong["by"] = []string{tooFar}
		}
		to.By = &by
	case a.To == "nextDue":
		to.NextDue = true
	case a.To != "":
		if problem := moment(&to.To, a.To); problem != "" {
			wrong["to"] = []string{"must be a time like 2026-12-01T00:00:00Z, or nextDue"}
		}
	default:
		wrong["by"] = []string{"is required, for example 61m; or send to, for example 2026-12-01T00:00:00Z or nextDue"}
	}
	wait = defaultWait
	if a.Wait != "" {
		if wait, err = time.ParseDuration(a.Wait); err != nil || wait < 0 || wait > maxWait {
			wrong["wait"] = []string{"must be from 0s to 60s"}
		}
	}
	if len(wrong) > 0 {
		return to, wait, InvalidBody(wrong)
	}
	return to, wait, nil
}

const (
	tooFar   = "must be at most 9600h (400 days) ahead: advance in several calls"
	clockEnd = "must stay before 2201-01-01T00:00:00Z, where all clocks end: a reset starts the clock again"
)

// Advanced is the answer of POST /v1/clock/advance after the clock has reached its target. The counts cover the whole
// advance, even if another caller started it.
type Advanced struct {
	Now            string `json:"now" format:"date-time" doc:"Sandbox time."`
	Settled        int64  `json:"settled" minimum:"0" doc:"Payments that got their outcome."`
	Expired        int64  `json:"expired" minimum:"0" doc:"Payments that ended TIMEOUT because their time was over."`
	Delivered      int64  `json:"delivered" minimum:"0" doc:"Events and callbacks that were acknowledged."`
	FailedAttempts int64  `json:"failedAttempts" minimum:"0" doc:"Attempts to deliver an event or a callback that failed."`
}

// AdvancedOf returns the view of a completed advance.
func AdvancedOf(now time.Time, c *clocks.AdvanceCounts) Advanced {
	return Advanced{
		Now: exactTime(now), Settled: c.Settled, Expired: c.Expired, Delivered: c.Delivered, FailedAttempts: c.FailedAttempts,
	}
}

// Advancing is the answer of POST /v1/clock/advance while the advance still runs.
type Advancing struct {
	Now    string `json:"now" format:"date-time" doc:"Sandbox time."`
	Target string `json:"target" format:"date-time" doc:"Where the clock is being advanced to. Send it as to, and you wait on."`
}

// AdvancingOf returns the view of a running advance.
func AdvancingOf(now, target time.Time) Advancing {
	return Advancing{Now: exactTime(now), Target: exactTime(target)}
}

// ClockBackwards is 422 for an advance to a time before the present one.
func ClockBackwards(e clocks.ErrClockBackwards) *Error {
	return &Error{Status: http.StatusUnprocessableEntity, Code: "clock_backwards", Detail: map[string]any{"now": exactTime(e.Now)},
		Message: fmt.Sprintf("The clock is at %s and never goes back. Send a later time, or reset the sandbox.", exactTime(e.Now))}
}

// AdvanceTooFar is 400 for an advance of more than 400 days.
func AdvanceTooFar(e clocks.ErrAdvanceTooFar) *Error { return InvalidField(targetField(e.By), tooFar) }

// ClockEnd is 400 for an advance beyond the time at which all clocks end.
func ClockEnd(e clocks.ErrClockEnd) *Error { return InvalidField(targetField(e.By), clockEnd) }

// targetField returns the name of the field that has the target of an advance.
func targetField(by bool) string {
	if by {
		return "by"
	}
	return "to"
}

// ClockBusy is 409 for a clock that is being advanced to another target.
func ClockBusy(e clocks.ErrClockBusy) *Error {
	return &Error{Status: http.StatusConflict, Code: "clock_busy", Detail: map[string]any{"target": exactTime(e.Target)},
		Message: fmt.Sprintf("The clock is being advanced to %s. Send that as to, and you wait for it; or send this request again later.",
			exactTime(e.Target))}
}

// ClockReset is 409 for an advance that a reset of the sandbox ended.
func ClockReset() *Error {
	return &Error{Status: http.StatusConflict, Code: "clock_reset",
		Message: "The sandbox was reset while its clock was being advanced, which ended the advance. Send the request again if it is still needed."}
}
