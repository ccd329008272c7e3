package grade

import (
	"strings"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
)

// Letter is a grade, from A to F. The empty letter means that the check could not grade the receiver.
type Letter string

// The letters.
const (
	A Letter = "A" // all lines hold
	B Letter = "B" // only a bonus line fails
	C Letter = "C" // a line about an outcome, the order, the form or the characters of events fails
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
	What    english.Phrase // what is sent: "a genuine event"
	Expects english.Text
	Fails   Letter // the best letter of a receiver that fails this line
	Anchor  string // of its part of docs/grade.md
}

// The answers that lines expect.
const (
	Accepted   english.Text = "expects 2xx"
	BothTimes  english.Text = "expects 2xx both times"
	Refused    english.Text = "expects a refusal"
	InTime     english.Text = "the limit of every attempt"
	FastEnough english.Text = "a bonus"
)

// Bonus reports whether the line costs no more than the letter A.
func (l *Line) Bonus() bool { return l.Fails == B }

// Ids of lines that the rule of the letter, or the run, treats in a way of their own.
const (
	lineGenuine         = "genuine"
	lineTwice           = "same-event-twice"
	lineAtOnce          = "twice-at-once"
	lineEarlyRefund     = "refund-before-payment"
	lineInTime          = "within-10-seconds"
	lineFast            = "within-1-second"
	lineWrongSignature  = "wrong-signature"
	lineNoSignature     = "no-signature"
	lineOtherBody       = "signature-of-another-body"
	lineOtherSecret     = "signature-of-another-secret"
	lineUnknownField    = "unknown-field"
	lineUnknownEvent    = "unknown-event"
	lineAccents         = "accents"
	lineArabic          = "arabic"
	lineEmoji           = "emoji"
	lineSeparator       = "line-separator"
	lineSplit           = "split-character"
	lineLarge           = "large-raw"
	lineOtherForm       = "other-order-and-spacing"
	lineOldTimestamp    = "old-timestamp"
	lineSecondSignature = "second-signature"
	statusPrefix        = "status-"
)

// utf8Anchor is the part of docs/grade.md about lines whose texts are not ASCII.
const utf8Anchor = "utf-8"

// Lines returns the lines of the battery in their order.
func Lines() []Line {
	lines := []Line{
		{lineGenuine, Genuine, english.Say("a genuine event"), Accepted, F, lineGenuine},
		{lineWrongSignature, Genuine, english.Say("a wrong signature"), Refused, E, lineWrongSignature},
		{lineNoSignature, Genuine, english.Say("no signature at all"), Refused, E, lineNoSignature},
		{lineOtherBody, Genuine, english.Say("the signature of another body"), Refused, E, lineOtherBody},
		{lineOtherSecret, Genuine, english.Say("the signature of another secret"), Refused, E, lineOtherSecret},
		{lineTwice, Survives, english.Say("the same event twice"), BothTimes, D, lineTwice},
		{lineAtOnce, Survives, english.Say("the same event twice at the same moment"), BothTimes, D, lineAtOnce},
		{lineEarlyRefund, Survives, english.Say("a refund before its payment"), Accepted, C, lineEarlyRefund},
	}
	for _, status := range payments.Statuses {
		if status.Terminal() && status != payments.Success {
			id := statusPrefix + strings.ReplaceAll(strings.ToLower(string(status)), "_", "-")
			lines = append(lines, Line{id, Survives, english.Say("a payment that ends %s", string(status)), Accepted, C, "failed-payments"})
		}
	}
	return append(lines,
		Line{lineAccents, Survives, english.Say("accents in texts"), Accepted, C, utf8Anchor},
		Line{lineArabic, Survives, english.Say("Arabic in texts"), Accepted, C, utf8Anchor},
		Line{lineEmoji, Survives, english.Say("an emoji in texts"), Accepted, C, utf8Anchor},
		Line{lineSeparator, Survives, english.Say("a line separator (U+2028) in texts"), Accepted, C, utf8Anchor},
		Line{lineSplit, Survives, english.Say("a character whose bytes arrive apart"), Accepted, C, lineSplit},
		Line{lineUnknownField, Survives, english.Say("a field that is not documented"), Accepted, C, lineUnknownField},
		Line{lineUnknownEvent, Survives, english.Say("an event name that is not documented"), Accepted, C, lineUnknownEvent},
		Line{lineOtherForm, Survives, english.Say("another order of keys and other blanks, signed"), Accepted, C, lineOtherForm},
		Line{lineLarge, Survives, english.Say("64 KiB of operator data"), Accepted, C, lineLarge},
		Line{lineInTime, Time, english.Say("an answer in time"), InTime, D, lineInTime},
		Line{lineFast, Time, english.Say("a fast answer"), FastEnough, B, lineFast},
		Line{lineOldTimestamp, Standard, english.Say("a timestamp that is ten minutes old"), Refused, C, lineOldTimestamp},
		Line{lineSecondSignature, Standard, english.Say("a right signature behind another one"), Accepted, C, lineSecondSignature},
	)
}
