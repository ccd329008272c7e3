package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Times, durations, counts and faults as people read them, in every command and every line. Hints are in advice.go.
// Nothing else of the program formats a time, see TestTimesAreWrittenInOnePlace.

// TimeText returns a time as people of this machine read it.
func TimeText(at time.Time) string { return at.Local().Format(time.DateTime) }

// clockTime returns [TimeText] of a time of the API.
func clockTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return TimeText(at)
}

// LineTime is the time of a line, with its day if that is another one than today: a sandbox may have a time of its own.
// A narrow terminal gets a short one.
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

// MachineTime returns a time for programs.
func MachineTime(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// stampTime returns a time in a name or a value that did not exist before.
func stampTime(at time.Time) string { return at.UTC().Format("20060102T150405.000") }

// moment parses a time of the API. It returns the zero time for another text.
func moment(text string) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, text) // the zero time for none
	return at
}

// milliseconds returns a duration of the API.
func milliseconds(n int64) string {
	return payments.FormatDuration(time.Duration(n) * time.Millisecond)
}

// faultsNamed is how every line and every hint tells which faults of the sandbox acted, each with what it did: "fault
// twice: sent 2 times". It is empty for none.
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

// faultList returns the text of [faultsNamed] for a column with a title.
func faultList(effects []string) string { return strings.Join(effects, "; ") }

// times returns how often something happened.
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return strconv.FormatInt(n, 10) + " times"
}

// plural returns a number with what it counts.
func plural(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Events in these states may be those that a receiver does not acknowledge.
const (
	eventQueued = "queued" // waits to be sent
	eventFailed = "failed" // no retries are left
)

// forwardFlag is the flag for the URL of a program.
const forwardFlag = "--forward-to"

// maxEvent bounds the body of an event, in bytes.
const maxEvent = 1 << 20
