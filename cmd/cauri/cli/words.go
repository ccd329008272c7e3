package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// This file formats times, durations, counts and faults for people. No other file formats a time, see
// TestTimesAreWrittenInOnePlace. Hints are in advice.go.

// TimeText formats a time for people, in the time zone of this machine.
func TimeText(at time.Time) string { return at.Local().Format(time.DateTime) }

// clockTime formats a time of the API with [TimeText].
func clockTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return TimeText(at)
}

// LineTime formats the time of a line. The time has a date if it is not today, because a sandbox may have its own time.
// For a narrow terminal, LineTime shortens the time.
func LineTime(at time.Time, narrow bool) string {
	at = at.Local()
	day, clock := "2006-01-02 ", "15:04:05.000"
	if narrow {
		day, clock = "01-02 ", time.TimeOnly
	}
	if at.Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		day = ""
	}
	return at.Format(day + clock)
}

// MachineTime formats a time for programs.
func MachineTime(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// stampTime formats a time as part of a unique name or value.
func stampTime(at time.Time) string { return at.UTC().Format("20060102T150405.000") }

// moment parses a time of the API. It returns the zero time for an invalid text.
func moment(text string) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, text) // zero after an error
	return at
}

// milliseconds formats a duration in milliseconds, the unit of the API.
func milliseconds(n int64) string {
	return payments.FormatDuration(time.Duration(n) * time.Millisecond)
}

// seconds returns a duration in seconds, for programs.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// faultsNamed returns a text about applied faults with their effects, such as "fault twice: sent 2 times". It returns
// "" for none.
func faultsNamed(effects []string) string {
	text := faultList(effects)
	switch len(effects) {
	case 0:
		return ""
	case 1:
		return "fault " + text
	}
	return "faults " + text
}

// faultList returns the effects of faults for a column with a title.
func faultList(effects []string) string { return strings.Join(effects, "; ") }

// times formats how often something happened, such as "once".
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return strconv.FormatInt(n, 10) + " times"
}

// The states of events that a receiver has not acknowledged.
const (
	eventQueued = "queued" // waits to be sent
	eventFailed = "failed" // no retries are left
)

// forwardFlag is the flag with the URL to forward events to.
const forwardFlag = "--forward-to"

// maxEvent is the maximum size of an event's body, in bytes.
const maxEvent = 1 << 20

// machineMilliseconds returns a duration for programs.
func machineMilliseconds(d time.Duration) int64 { return d.Milliseconds() }
