package grade

import (
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// Letter is a grade, from A to F. The empty letter means that the check could not grade the receiver.
type Letter string

// The letters.
const (
	A Letter = "A" // all lines hold
	B Letter = "B" // only a bonus line fails
	C Letter = "C" // a line about an outcome, the order or the form of events fails
	D Letter = "D" // the same event twice is refused, or an answer takes too long
	E Letter = "E" // an event that is not signed, or wrongly, is accepted
	F Letter = "F" // a genuine event is refused
)

// Letters are all letters, the best first.
var Letters = []Letter{A, B, C, D, E, F}

// Group is a part of the battery.
type Group string

// The groups, in their order.
const (
	Genuine  Group = "genuine"  // lets in only what is genuine
	Survives Group = "survives" // survives what really happens
	Time     Group = "time"     // answers in time
	Standard Group = "standard" // Standard Webhooks, for receivers that look at webhook-signature
)

// Groups are all groups.
var Groups = []Group{Genuine, Survives, Time, Standard}

// Line is a line of the battery.
type Line struct {
	ID      string // never changes; what stands in reports
	Group   Group
	What    string // what is sent, in words: "a genuine event"
	Expects Expectation
	Fails   Letter // the best letter of a receiver that fails this line
	Anchor  string // of its part of docs/grade.md
}

// Expectation is the answer that a line expects.
type Expectation string

// What a line expects.
const (
	Accepted   Expectation = "2xx"
	BothTimes  Expectation = "2xx both times"
	Refused    Expectation = "a refusal"
	InTime     Expectation = "every answer within 10 s"
	FastEnough Expectation = "every answer within 1 s"
)

// Bonus reports whether the line costs no more than the letter A.
func (l *Line) Bonus() bool { return l.Fails == B }

// Ids of lines that the rule of the letter, or the run, treats in a way of their own.
const (
	lineGenuine         = "genuine"
	lineTwice           = "same-event-twice"
	lineEarlyRefund     = "refund-before-payment"
	lineInTime          = "within-10-seconds"
	lineFast            = "within-1-second"
	lineWrongSignature  = "wrong-signature"
	lineNoSignature     = "no-signature"
	lineOtherBody       = "signature-of-another-body"
	lineOtherSecret     = "signature-of-another-secret"
	lineUnknownField    = "unknown-field"
	lineUnknownEvent    = "unknown-event"
	lineLarge           = "large-raw"
	lineOtherForm       = "other-order-and-spacing"
	lineOldTimestamp    = "old-timestamp"
	lineSecondSignature = "second-signature"
	statusPrefix        = "status-"
)

// Lines returns the lines of the battery in their order.
func Lines() []Line {
	lines := []Line{
		{lineGenuine, Genuine, "a genuine event", Accepted, F, lineGenuine},
		{lineWrongSignature, Genuine, "a wrong signature", Refused, E, lineWrongSignature},
		{lineNoSignature, Genuine, "no signature at all", Refused, E, lineNoSignature},
		{lineOtherBody, Genuine, "the signature of another body", Refused, E, lineOtherBody},
		{lineOtherSecret, Genuine, "the signature of another secret", Refused, E, lineOtherSecret},
		{lineTwice, Survives, "the same event twice", BothTimes, D, lineTwice},
		{lineEarlyRefund, Survives, "a refund before its payment", Accepted, C, lineEarlyRefund},
	}
	for _, status := range payments.Statuses {
		if status.Terminal() && status != payments.Success {
			id := statusPrefix + strings.ReplaceAll(strings.ToLower(string(status)), "_", "-")
			lines = append(lines, Line{id, Survives, "a payment that ends " + string(status), Accepted, C, "failed-payments"})
		}
	}
	return append(lines,
		Line{lineUnknownField, Survives, "a field that is not documented", Accepted, C, lineUnknownField},
		Line{lineUnknownEvent, Survives, "an event name that is not documented", Accepted, C, lineUnknownEvent},
		Line{lineOtherForm, Survives, "another order of keys and other blanks, signed", Accepted, C, lineOtherForm},
		Line{lineLarge, Survives, "64 KiB of operator data", Accepted, C, lineLarge},
		Line{lineInTime, Time, "an answer in time", InTime, D, lineInTime},
		Line{lineFast, Time, "a fast answer", FastEnough, B, lineFast},
		Line{lineOldTimestamp, Standard, "a timestamp that is ten minutes old", Refused, C, lineOldTimestamp},
		Line{lineSecondSignature, Standard, "a right signature behind another one", Accepted, C, lineSecondSignature},
	)
}
