package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// Line is one line of `cauri tail` about a change: its type, its id, and details.
type Line []cell

// cell is a cell of a line. The same cells of all lines have the same width, so that they form columns.
type cell struct {
	text   string
	width  int             // minimum width
	narrow int             // minimum width on a narrow terminal
	right  bool            // whether it is aligned to the right
	whole  bool            // whether it must not be shortened
	status payments.Status // status at the beginning of the text, which is colored; empty for none
}

// The widths of the common parts of lines.
const (
	whatWidth   = 22 // disbursement.completed
	whatNarrow  = 12
	idWidth     = 30
	statusWidth = 18 // INSUFFICIENT_FUNDS
	// wideLine is the minimum width of a terminal on which a usual line fits.
	wideLine = 150
)

func whatPart(what string) cell { return cell{text: what, width: whatWidth, narrow: whatNarrow} }
func idPart(id string) cell     { return cell{text: id, width: idWidth, whole: true} }

func statusPart(status, more string) cell {
	width := statusWidth
	if more != "" {
		width = 0
	}
	return cell{text: status + more, width: width, narrow: len(payments.Success), status: payments.Status(status)}
}

// Layout returns the text of the line with its time, for a terminal of this width. It shortens or omits the last parts
// that do not fit, but never shortens an id or an amount. With width 0, it returns the whole line, for a program.
func (l Line) Layout(at time.Time, width int, colored bool) string {
	narrow := width > 0 && width < wideLine
	line := LineTime(at, narrow)
	used := len(line)
	for i, p := range l {
		text, column := Printable(p.text), p.width
		if text == "" && column == 0 {
			continue
		}
		if narrow && p.narrow > 0 {
			column = p.narrow
			if len(line) > len(time.TimeOnly) && p.width == whatWidth { // the time has a date
				column -= 2
			}
		}
		most := width - used - narrowGap
		switch {
		case p.width == whatWidth:
			most = min(most, column)
		case p.status != "" && i+1 < len(l) && l[i+1].whole: // an amount follows the status
			most -= narrowGap + utf8.RuneCountInString(l[i+1].text)
		}
		if width > 0 && utf8.RuneCountInString(text) > most {
			if p.whole || most < leastText {
				break
			}
			text = shortened(text, most)
		}
		fill := strings.Repeat(" ", max(0, column-utf8.RuneCountInString(text)))
		used += narrowGap + utf8.RuneCountInString(text) + len(fill)
		if colored {
			text = p.colored(text)
		}
		if p.right {
			text = fill + text
		} else {
			text += fill
		}
		line += strings.Repeat(" ", narrowGap) + text
	}
	return strings.TrimRight(line, " ")
}

// colored colors the status at the beginning of a text.
func (p *cell) colored(text string) string {
	status, rest := text, ""
	if i := strings.IndexAny(text, " ,"); i >= 0 {
		status, rest = text[:i], text[i:]
	}
	if !slices.Contains(payments.Statuses, p.status) {
		return text
	}
	return colorOf(p.status) + status + plain + rest
}

// paymentBody has the fields of an event's body that a line shows.
type paymentBody struct {
	Event     string
	TxID      string `json:"tx_id"`
	Status    string
	Amount    string
	Currency  string
	Operator  string
	Country   string
	MSISDN    string
	Reference string
}

func (p *paymentBody) line() Line {
	return Line{
		whatPart(p.Event), idPart(p.TxID), statusPart(p.Status, ""),
		{text: p.Amount + " " + p.Currency, width: 12, narrow: 1, right: true, whole: true}, {text: p.Operator + "/" + p.Country, width: 9},
		{text: p.MSISDN, width: 13, whole: true}, {text: "ref " + p.Reference},
	}
}

// eventSummary returns the body of an event as one line.
func eventSummary(body []byte) Line {
	var event paymentBody
	if err := json.Unmarshal(body, &event); err != nil {
		return Line{{text: "an event that is not JSON"}}
	}
	return event.line()
}

func paymentLine(p *wire.Payment) Line {
	body := paymentBody{
		Event: p.Type, TxID: p.ID, Status: p.Status, Amount: fmt.Sprint(p.Amount), Currency: p.Currency, Operator: p.Operator, Country: p.Country,
		MSISDN: p.MSISDN, Reference: p.Reference,
	}
	return append(body.line(), cell{text: faultsNamed(p.Effects)})
}

// paymentTime returns the sandbox time at which a transaction got its status.
func paymentTime(p *wire.Payment) time.Time {
	if p.CompletedAt != nil {
		return moment(*p.CompletedAt)
	}
	return moment(p.CreatedAt)
}

func eventLine(e *wire.EventSummary) Line {
	return Line{whatPart(e.Event), idPart(e.ID), statusPart(e.Status, ", "+e.State)}
}

func attemptLine(e *wire.EventSummary, a *wire.DeliveryAttempt) Line {
	text := ""
	faults := faultsNamed(a.Effects)
	switch {
	case a.ResponseStatus != nil:
		text = fmt.Sprintf("answered %d", *a.ResponseStatus)
	case a.Error != nil:
		text = *a.Error
	}
	if faults != "" && (a.Error == nil || *a.Error != faults) {
		text += ", " + faults
	}
	switch {
	case a.Error == nil:
		text += ", delivered"
	case a.Number < e.AttemptCount: // the event's state belongs to a later attempt
	case e.State == eventFailed:
		text += ", given up"
	case e.NextAttemptAt != nil:
		text += ", the next one at " + LineTime(moment(*e.NextAttemptAt), true)
	}
	return Line{whatPart(fmt.Sprintf("attempt %d", a.Number)), idPart(e.ID), {text: text}}
}

func clockLine(c *wire.Clock, at *sandboxTime) Line {
	text := at.String()
	if c.Target != nil {
		text += ", being advanced to " + clockTime(*c.Target)
	}
	return Line{whatPart("clock"), {text: text}}
}

// line returns the line about a change. The parameter at is the sandbox's time.
func (c *change) line(at *sandboxTime) Line {
	switch c.Type {
	case typeTransaction:
		return paymentLine(c.Transaction)
	case typeEvent:
		return eventLine(c.Event)
	case typeAttempt:
		return attemptLine(c.Event, c.Attempt)
	case typeClock:
		return clockLine(c.Clock, at)
	case typeFaults:
		return faultLine(c.Fault)
	}
	return requestLine(c.Request)
}

// time returns the sandbox time of a change. For a request, it returns the real time.
func (c *change) time(at *sandboxTime) time.Time {
	text := ""
	switch {
	case c.Attempt != nil && c.Attempt.StartedAt != "":
		return moment(c.Attempt.StartedAt).Add(time.Duration(c.Attempt.DurationMs) * time.Millisecond)
	case c.Attempt != nil || c.again:
	case c.Event != nil:
		text = c.Event.CreatedAt
	case c.Transaction != nil:
		return paymentTime(c.Transaction)
	case c.Request != nil:
		return at.at(moment(c.Request.Time))
	case c.Clock != nil:
		text = c.Clock.Now
	}
	if told := moment(text); !told.IsZero() {
		return told
	}
	return at.now()
}

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// printLine prints a line with its time. On a terminal, it colors the status.
func printLine(out io.Writer, at time.Time, line Line) {
	Fprintf(out, "%s\n", Lines(line.Layout(at, Width(out), Colored(out))))
}

func colorOf(status payments.Status) string {
	switch status {
	case payments.Success:
		return green
	case payments.Pending:
		return yellow
	}
	return red
}

// Of returns the line after a first column of this width with the name of the sandbox. If width is 0, Of returns the
// line unchanged.
func (l Line) Of(sandbox string, width int) Line {
	if width == 0 {
		return l
	}
	return append(Line{{text: sandbox, width: width, whole: true}}, l...)
}

func requestLine(r *wire.LoggedRequest) Line {
	return Line{whatPart("request"), {text: r.Method + " " + r.Path, width: idWidth}, {text: answerOf(r), width: statusWidth}, {text: reasonOf(r)}}
}
