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
}

func (p PaymentLine) String() string {
	return printable(fmt.Sprintf("%s  %s  %s  %s %s  %s/%s %s  ref %s", p.What, p.ID, p.Status, p.Amount, p.Currency, p.Operator, p.Country,
		p.MSISDN, p.Reference))
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
		MSISDN: p.MSISDN, Reference: p.Reference,
	}.String()
}

func eventLine(e *wire.EventSummary) string {
	return printable(fmt.Sprintf("%-22s  %s  %s, %s", e.Event, e.ID, e.Status, e.State))
}

func attemptLine(e *wire.EventSummary) string {
	line := fmt.Sprintf("%-22s  %s  ", fmt.Sprintf("attempt %d", e.AttemptCount), e.ID)
	switch {
	case e.LastResponseStatus != nil:
		line += fmt.Sprintf("answered %d", *e.LastResponseStatus)
	case e.LastError != nil:
		line += *e.LastError
	}
	switch {
	case e.State == "delivered":
		line += ", delivered"
	case e.State == "failed":
		line += ", given up"
	case e.NextAttemptAt != nil:
		line += ", the next one at " + clockTime(*e.NextAttemptAt)
	}
	return printable(line)
}

// line is a change on one line.
func (c *change) line() string {
	switch c.Kind {
	case kindTransaction:
		return paymentLine(c.Transaction)
	case kindEvent:
		return eventLine(c.Event)
	case kindAttempt:
		return attemptLine(c.Event)
	}
	return requestLine(c.Request)
}

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// printLine prints a line with its time, and marks a status in it on a terminal.
func printLine(out io.Writer, at time.Time, line string) {
	if terminal(out) {
		line = colored(line)
	}
	fmt.Fprintf(out, "%s  %s\n", at.Local().Format("15:04:05.000"), line)
}

// colored marks the first status of a line.
func colored(line string) string {
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
