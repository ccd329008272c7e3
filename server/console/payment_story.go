package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

// mostTries is the maximum number of attempts of an event on the page of its transaction.
const mostTries = 5

// step is a step in the history of a transaction.
type step struct {
	at                time.Time // sandbox time; zero: it has not happened
	icon, class       string
	title, code, text string
	status            payments.Status // status after the step; empty for none
	faults            []string        // names of the faults that acted
	event             *service.Event  // event of the step; nil for none
	refund            *paymentRow     // refund of the step; nil for none
	moves             []move          // movements that the step made
}

// story returns the steps of the transaction: the request, the confirmation, the outcome, the events, the refunds.
func (d *paymentDetail) story(v *visit) []step {
	steps := append([]step{d.requested(v)}, d.confirmed(v)...)
	steps = append(steps, d.ended(v))
	for _, e := range d.events {
		_, class, _ := delivery(v, &e.Event)
		steps = append(steps, step{at: e.CreatedAt, icon: "webhooks", class: class, text: tried(v, &e.Event), event: e})
	}
	for i := range d.refunds {
		r := &d.refunds[i]
		s := step{at: r.CreatedAt, icon: "refund", class: appearances[r.Status].class, status: r.Status, refund: r, text: v.Text("Nothing moved.")}
		if r.Status == payments.Success {
			s.text = v.Text("Float %s. No commission comes back.", v.Signed(-r.Amount))
		}
		steps = append(steps, s)
	}
	return steps
}

func (d *paymentDetail) requested(v *visit) step {
	s := step{at: d.CreatedAt, icon: "requests", title: v.Text("Requested"), faults: d.Faults}
	switch {
	case d.NativeCall != "":
		s.code, s.text = d.NativeCall, v.Text("of %s's own API", operatorName(d.Operator))
	default:
		r := requestOf(v.who.Sandbox.Known, d.Transaction)
		s.code, s.text = "POST "+strings.TrimPrefix(r.path, "/api"), v.Text("of the store %s", isolated(d.Store))
	}
	if d.Scenario != "" {
		s.text += ". " + v.Text("It asks for the scenario %s.", string(d.Scenario))
	}
	return s
}

// prompted reports whether the payer was asked to confirm the transaction.
func (d *paymentDetail) prompted() bool {
	return d.Type == payments.Collection && (d.CompletedAt == nil || d.CompletedAt.After(d.CreatedAt))
}

// confirmed returns the steps in which the payer was asked and answered.
func (d *paymentDetail) confirmed(v *visit) []step {
	if api := operators.NativeAPI(d.Operator); api != nil && d.NativeCall != "" && d.NativeCall == api.Started {
		return []step{{
			at: d.CreatedAt, icon: "phone", title: v.Text("The payer paid"),
			text: v.Text("The payer started the payment on the phone, or by a QR code."),
		}}
	}
	if d.NativeCall != "" && d.Type == payments.Collection && hasCode(d.Operator) {
		return []step{{
			at: d.CreatedAt, icon: "st-pin", title: v.Text("Confirmed on the payment page"),
			text: v.Text("The payer gave the number and its one-time code."),
		}}
	}
	if !d.prompted() {
		return nil
	}
	total := v.Money(d.Currency, d.CustomerTotal())
	asked := step{at: d.CreatedAt, icon: "phone", title: v.Text("The phone rang"), text: v.Text("It asks for the PIN to pay %s.", total)}
	switch {
	case d.TestBehavior != "":
		asked.title, asked.text = v.Text("A test number was asked"), v.Text("It answers by itself: %s.", string(d.TestBehavior))
	case d.client == nil && d.Status != payments.UnknownMSISDN:
		asked.icon, asked.title = "ahead", v.Text("The operator was asked")
		asked.text = v.Text("No test client has this number, so no phone rings.")
		return []step{asked}
	}
	answered := step{icon: "st-pin", title: v.Text("PIN entered"), text: v.Text("The PIN was right.")}
	switch d.Status {
	case payments.Pending, payments.AccountBlocked, payments.UnknownMSISDN:
		return []step{asked}
	case payments.Timeout:
		answered = step{icon: "st-time", class: "wait", title: v.Text("No answer"), text: v.Text("The prompt ended without one.")}
	case payments.UserCancelled:
		answered = step{icon: "st-no", class: "wait", title: v.Text("Cancelled"), text: v.Text("By the payer, on the phone.")}
	case payments.PINInvalid:
		answered.class, answered.text = "bad", v.Text("The PIN was wrong.")
	}
	answered.at = *d.CompletedAt
	return []step{asked, answered}
}

// ended returns the step of the outcome, with the movements.
func (d *paymentDetail) ended(v *visit) step {
	if d.CompletedAt == nil {
		return step{icon: "st-pending", title: v.Text("Open"), status: d.Status, text: v.Text("Nothing has moved yet.")}
	}
	s := step{at: *d.CompletedAt, status: d.Status, icon: "x", class: appearances[d.Status].class, title: v.Text("Ended")}
	latency := " · " + v.Text("latency %s ms", v.Number(d.Latency.Milliseconds()))
	if d.Status != payments.Success {
		s.text = d.because(v) + " " + v.Text("Nothing moved.") + latency
		return s
	}
	s.icon, s.title, s.moves = "check", v.Text("Settled"), d.moves
	float, sim := d.NetAmount, -d.CustomerTotal()
	if outgoing(d.Transaction) {
		float, sim = -d.Amount, d.Amount
	}
	var said []string
	if d.MerchantBalanceAfter != nil {
		said = append(said, v.Text("Float %s, now %s", v.Signed(float), v.Number(*d.MerchantBalanceAfter)))
	}
	if d.SIMBalanceAfter != nil {
		said = append(said, v.Text("phone %s, now %s", v.Signed(sim), v.Number(*d.SIMBalanceAfter)))
	}
	s.text = strings.Join(said, " · ") + latency
	return s
}

// tried returns a sentence that says how far the delivery of an event is.
func tried(v *visit, e *ledger.Event) string {
	attempts := int64(e.Attempts)
	switch {
	case e.State == ledger.EventRecorded:
		return v.Text("It is not sent: the sandbox has no webhook, or does not send this event.")
	case e.State == ledger.EventDelivered:
		return v.Text("Acknowledged by attempt %s.", v.Number(attempts))
	case e.State == ledger.EventFailed:
		return v.Count(attempts, "The attempt failed, and none follows.", "%s attempts failed, and none follows.")
	}
	next := v.Text("It is being sent.")
	if e.NextAttemptAt != nil {
		next = v.Text("The next attempt is %s.", v.At(*e.NextAttemptAt, v.clock.Now))
	}
	if attempts == 0 {
		return next
	}
	return v.Count(attempts, "1 attempt failed.", "%s attempts failed.") + " " + next
}

// since returns the time from the request to a step, as a text. It returns "" for less than ten milliseconds.
func (d *paymentDetail) since(v *visit, s *step) string {
	switch after := s.at.Sub(d.CreatedAt); {
	case s.at.IsZero() || after < 10*time.Millisecond:
		return ""
	case after < time.Second:
		return "+" + v.Decimal(after.Seconds(), 2) + "\u00a0s"
	case after < time.Minute:
		return "+" + v.Decimal(after.Seconds(), 1) + "\u00a0s"
	default:
		return "+" + v.Duration(after)
	}
}

// answerOf returns the receiver's answer to an attempt, as a text.
func answerOf(v *visit, a *ledger.AttemptRecord) string {
	took := v.Text("in %s ms", v.Number(a.Duration.Milliseconds()))
	switch {
	case a.ResponseStatus != nil:
		return v.Text("answered %s", fmt.Sprint(*a.ResponseStatus)) + " " + took
	case a.Error == nil:
		return v.Text("acknowledged") + " " + took
	}
	return titleOfFailure(v, *a.Error)
}

// inRealTime returns the real time of an attempt, as a text; "" if it differs from the sandbox time by less than a second.
func inRealTime(v *visit, a *ledger.AttemptRecord) string {
	if a.StartedAt.Sub(a.RealStartedAt).Abs() < time.Second {
		return ""
	}
	return v.Moment(a.RealStartedAt, a.StartedAt)
}

// answerBody returns the beginning of an answer's body on one line. If there is no answer, it returns the error of the attempt.
func answerBody(a *ledger.AttemptRecord) string {
	text := string(a.ResponseBody)
	if a.ResponseStatus == nil && a.Error != nil {
		text = *a.Error
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if short := []rune(text); len(short) > longestText {
		text = string(short[:longestText]) + "…"
	}
	return asJSON.visible(text)
}
