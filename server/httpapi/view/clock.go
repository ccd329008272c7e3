package view

import (
	"fmt"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
)

// ClockOf returns the view of a clock.
func ClockOf(mode string, c *clocks.Clock) wire.Clock {
	return wire.Clock{
		Mode: mode, Now: exactTime(c.Now), Target: optionalTime(c.Target), NextDueAt: optionalTime(c.NextDueAt),
		Due: wire.DueNow{Transactions: c.DueTransactions, Events: c.DueEvents},
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
	TooFar   = "must be at most 9600h (400 days) ahead: advance in several calls"
	clockEnd = "must stay before 2201-01-01T00:00:00Z, where all clocks end: a reset starts the clock again"
)

// AdvancedOf returns the view of a completed advance.
func AdvancedOf(now time.Time, c *clocks.AdvanceCounts) wire.Advanced {
	return wire.Advanced{
		Now: exactTime(now), Settled: c.Settled, Expired: c.Expired, Delivered: c.Delivered, FailedAttempts: c.FailedAttempts,
	}
}

// AdvancingOf returns the view of a running advance.
func AdvancingOf(now, target time.Time) wire.Advancing {
	return wire.Advancing{Now: exactTime(now), Target: exactTime(target)}
}

// ClockBackwards is 422 for an advance to a time before the present one.
func ClockBackwards(e clocks.ErrClockBackwards) *wire.Error {
	return &wire.Error{Status: http.StatusUnprocessableEntity, Code: "clock_backwards", Detail: map[string]any{"now": exactTime(e.Now)},
		Message: fmt.Sprintf("The clock is at %s and never goes back. Send a later time, or reset the sandbox.", exactTime(e.Now))}
}

// AdvanceTooFar is 400 for an advance of more than 400 days.
func AdvanceTooFar(e clocks.ErrAdvanceTooFar) *wire.Error {
	return InvalidField(targetField(e.By), TooFar)
}

// ClockEnd is 400 for an advance beyond the time at which all clocks end.
func ClockEnd(e clocks.ErrClockEnd) *wire.Error { return InvalidField(targetField(e.By), clockEnd) }

// targetField returns the name of the field that has the target of an advance.
func targetField(by bool) string {
	if by {
		return "by"
	}
	return "to"
}

// ClockBusy is 409 for a clock that is being advanced to another target.
func ClockBusy(e clocks.ErrClockBusy) *wire.Error {
	return &wire.Error{Status: http.StatusConflict, Code: "clock_busy", Detail: map[string]any{"target": exactTime(e.Target)},
		Message: fmt.Sprintf("The clock is being advanced to %s. Send that as to, and you wait for it; or send this request again later.",
			exactTime(e.Target))}
}

// ClockReset is 409 for an advance that a reset of the sandbox ended.
func ClockReset() *wire.Error {
	return &wire.Error{Status: http.StatusConflict, Code: "clock_reset",
		Message: "The sandbox was reset while its clock was being advanced, which ended the advance. Send the request again if it is still needed."}
}
