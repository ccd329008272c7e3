package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// PaymentLine is a transaction, or an event of one, on one line. Its JSON names are those of an event.
type PaymentLine struct {
	What      string `json:"event"`
	ID        string `json:"tx_id"`
	Status    string `json:"status"`
	Amount    string `json:"amount"`
	Currency  string `json:"currency"`
	Operator  string `json:"operator"`
	Country   string `json:"country"`
	MSISDN    string `json:"msisdn"`
	Reference string `json:"reference"`
	// Faults are those that acted. The body of an event does not name them.
	Faults []string `json:"-"`
}

func (p PaymentLine) String() string {
	line := fmt.Sprintf("%s  %s  %s  %s %s  %s/%s %s  ref %s", p.What, p.ID, p.Status, p.Amount, p.Currency, p.Operator, p.Country,
		p.MSISDN, p.Reference)
	if faults := faultsNamed(p.Faults); faults != "" {
		line += "  " + faults
	}
	return Printable(line)
}

// faultsNamed is how every line and every hint tells which faults of the sandbox acted; empty for none.
func faultsNamed(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "fault " + names[0]
	}
	return "faults " + strings.Join(names, ", ")
}

// eventSummary is the body of an event on one line.
func eventSummary(body []byte) string {
	var event PaymentLine
	if err := json.Unmarshal(body, &event); err != nil {
		return "an event that is not JSON"
	}
	return event.String()
}

func paymentLine(p *wire.Payment) string {
	return PaymentLine{
		What: p.Type, ID: p.ID, Status: p.Status, Amount: fmt.Sprint(p.Amount), Currency: p.Currency, Operator: p.Operator, Country: p.Country,
		MSISDN: p.MSISDN, Reference: p.Reference, Faults: p.Faults,
	}.String()
}

func eventLine(e *wire.EventSummary) string {
	return Printable(fmt.Sprintf("%-22s  %s  %s, %s", e.Event, e.ID, e.Status, e.State))
}

func attemptLine(e *wire.EventSummary, a *wire.DeliveryAttempt) string {
	line := fmt.Sprintf("%-22s  %s  ", fmt.Sprintf("attempt %d", a.Number), e.ID)
	switch {
	case a.ResponseStatus != nil:
		line += fmt.Sprintf("answered %d", *a.ResponseStatus)
	case a.Error != nil:
		line += *a.Error
	}
	switch {
	case a.Error == nil:
		line += ", delivered"
	case a.Number < e.AttemptCount: // it was told together with a later one
	case e.State == "failed":
		line += ", given up"
	case e.NextAttemptAt != nil:
		line += ", the next one at " + strings.TrimSuffix(LineTime(moment(*e.NextAttemptAt).Truncate(time.Second)), ".000")
	}
	if faults := faultsNamed(a.Faults); faults != "" && (a.Error == nil || *a.Error != faults) {
		line += ", " + faults
	}
	return Printable(line)
}

func clockLine(c *wire.Clock) string {
	line := fmt.Sprintf("%-22s  %s, %s", "clock", c.Now, c.Mode)
	if c.Target != nil {
		line += ", being advanced to " + *c.Target
	}
	return Printable(line)
}

// line is a change on one line.
func (c *change) line() string {
	switch c.Type {
	case typeTransaction:
		return paymentLine(c.Transaction)
	case typeEvent:
		return eventLine(c.Event)
	case typeAttempt:
		return attemptLine(c.Event, c.Attempt)
	case typeClock:
		return clockLine(c.Clock)
	}
	return requestLine(c.Request)
}

// time is when a change happened, by the sandbox's clock; now for one that does not say it.
func (c *change) time(now time.Time) time.Time {
	at := ""
	switch {
	case c.Attempt != nil && c.Attempt.StartedAt != "":
		return moment(c.Attempt.StartedAt).Add(time.Duration(c.Attempt.DurationMs) * time.Millisecond)
	case c.Event != nil && c.Event.AttemptCount == 0: // otherwise it is sent again
		at = c.Event.CreatedAt
	case c.Transaction != nil && c.Transaction.CompletedAt != nil:
		at = *c.Transaction.CompletedAt
	case c.Transaction != nil:
		at = c.Transaction.CreatedAt
	case c.Request != nil:
		at = c.Request.Time
	}
	if at := moment(at); !at.IsZero() {
		return at
	}
	return now
}

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// printLine prints a line with its time, and marks a status in it on a terminal.
func printLine(out io.Writer, at time.Time, line string) {
	if colored(out) {
		line = Colored(line)
	}
	fmt.Fprintf(out, "%s  %s\n", LineTime(at), line)
}

// LineTime is the time of a line, with its day if that is another one than today: a sandbox may have a time of its own.
func LineTime(at time.Time) string {
	at = at.Local()
	layout := "15:04:05.000"
	if at.Format(time.DateOnly) != time.Now().Format(time.DateOnly) {
		layout = "2006-01-02 15:04:05.000"
	}
	return at.Format(layout)
}

// Colored marks the first status of a line, for a terminal.
func Colored(line string) string {
	words := strings.Split(line, "  ")
	for i, word := range words {
		for _, status := range payments.Statuses {
			if rest, found := strings.CutPrefix(word, string(status)); found && (rest == "" || strings.HasPrefix(rest, ",")) {
				words[i] = colorOf(status) + string(status) + plain + rest
				return strings.Join(words, "  ")
			}
		}
	}
	return line
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
