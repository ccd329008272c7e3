package wire

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/payments"
)

// ReceiverCheckRequest is the body of POST /v1/receiver_checks. The body is optional.
type ReceiverCheckRequest struct {
	_     struct{} `additionalProperties:"true"`
	TxID  string   `json:"tx_id,omitempty" pattern:"^TX_[0-9A-HJKMNP-TV-Z]{26}$" patternDescription:"a transaction's id, TX_ with 26 characters behind it" example:"TX_0SGFHP2T6CKSRTNMP79EP8AFX4" doc:"A collection that has ended. All events are the one of this payment, changed only as a line says. Left out: they are of payments that do not exist."`
	Allow bool     `json:"allow,omitempty" doc:"With tx_id: a refund of this payment that did not happen may be told."`
}

// CreateReceiverCheck reads the body of POST /v1/receiver_checks.
var CreateReceiverCheck = newDecoder[ReceiverCheckRequest]()

// ReceiverCheck is a check of a sandbox's receiver, with its report card.
type ReceiverCheck struct {
	ID          string             `json:"id" doc:"Unknown after a reset, which ends a check that runs." example:"chk_0SGFHP2T6CKSRTNMP79EP8AFX4"`
	State       string             `json:"state" enum:"queued,running,finished" doc:"queued: it waits for a worker, or because its receiving host was checked less than a minute ago."`
	TxID        *string            `json:"txId" doc:"The payment whose event is sent; null: all payments are invented."`
	RequestedAt string             `json:"requestedAt" format:"date-time" doc:"ISO 8601, UTC, in real time."`
	StartedAt   *string            `json:"startedAt" format:"date-time"`
	FinishedAt  *string            `json:"finishedAt" format:"date-time"`
	Problem     *string            `json:"problem" doc:"Why the check could not be run; null: it could."`
	Battery     int                `json:"battery" doc:"Version of the lines."`
	Letter      *string            `json:"letter" example:"A" doc:"A to F. null: the check has not finished, or nothing follows from the answers."`
	Summary     *string            `json:"summary" doc:"What was seen, in a sentence."`
	Lines       []ReceiverLineView `json:"lines" doc:"Those that were run so far. Only the first one if no program was reached."`
}

// ReceiverLineView is the result of a line.
type ReceiverLineView struct {
	ID       string  `json:"id" doc:"Stays the same in every version of the battery." example:"same-event-twice"`
	Group    string  `json:"group" enum:"genuine,survives,time,standard"`
	What     string  `json:"what" doc:"What was sent."`
	Expects  string  `json:"expects"`
	Outcome  string  `json:"outcome" enum:"passed,failed,skipped" doc:"skipped: it counts neither way."`
	Reason   *string `json:"reason" doc:"Why it is skipped: needs_tx_id, needs_allow, not_accepted, not_looked_at, without_answer, unreached, wrong_url, same_answer or broken. Why it failed: rewritten, or null."`
	Observed string  `json:"observed" doc:"What was answered, in words."`
	Bonus    bool    `json:"bonus" doc:"It costs no more than the letter A."`
	Why      string  `json:"why" doc:"Why the line matters."`
	Fix      string  `json:"fix" doc:"What to change so that it holds."`
}

const checkPrefix = "chk_"

// ParseCheckID reads the id of a check. It returns [payments.ErrBadID].
func ParseCheckID(text string) (payments.ID, error) {
	code, found := strings.CutPrefix(text, checkPrefix)
	if !found {
		return payments.ID{}, payments.ErrBadID
	}
	return payments.ParseCode(code)
}

// ReceiverCheckOf returns the view of a check. It returns an error if its card cannot be read.
func ReceiverCheckOf(c *receiverchecks.Check) (*ReceiverCheck, error) {
	view := &ReceiverCheck{
		ID: checkPrefix + c.ID.Code(), State: "queued", RequestedAt: payments.FormatTime(c.RequestedAt), StartedAt: momentOf(c.BeganAt),
		FinishedAt: momentOf(c.FinishedAt), Battery: grade.Battery, Lines: []ReceiverLineView{},
	}
	switch {
	case c.FinishedAt != nil:
		view.State = "finished"
	case c.BeganAt != nil:
		view.State = "running"
	}
	if c.Transaction != nil {
		view.TxID = new(c.Transaction.String())
	}
	if c.Problem != "" {
		view.Problem = &c.Problem
	}
	if c.Card == nil {
		return view, nil
	}
	var card grade.Card
	err := json.Unmarshal(c.Card, &card)
	SetCard(view, &card)
	return view, err
}

// SetCard sets the fields of a check that a report card has.
func SetCard(c *ReceiverCheck, card *grade.Card) {
	c.Battery = card.Battery
	if card.Letter != "" {
		c.Letter = new(string(card.Letter))
	}
	if !card.FinishedAt.IsZero() {
		c.Summary = new(card.Sentence().String())
	}
	for i := range card.Results {
		c.Lines = append(c.Lines, receiverLineOf(&card.Results[i]))
	}
}

func receiverLineOf(r *grade.Result) ReceiverLineView {
	line := r.Of()
	why, fix := r.Advice()
	view := ReceiverLineView{
		ID: line.ID, Group: string(line.Group), What: line.What.String(), Expects: string(line.Expects), Outcome: string(r.Outcome),
		Observed: r.Observed().String(), Bonus: line.Bonus(), Why: string(why), Fix: fix.String(),
	}
	if r.Reason != "" {
		view.Reason = new(string(r.Reason))
	}
	return view
}

// NoSuchCheck is 404 for a check of a receiver.
func NoSuchCheck() *Error {
	return NotFound("There is no check of the receiver with this id in this sandbox. A reset ends a check, and the newest 20 are kept.")
}

// NoWebhook is 409 for a sandbox without a webhook.
func NoWebhook() *Error {
	return &Error{Status: http.StatusConflict, Code: "no_webhook", Detail: map[string]any{"field": "spec.webhook.url"},
		Message: "This sandbox has no webhook URL to send events to. Set spec.webhook.url of the SandboxEnvironment first."}
}

// NoEndedCollection is 400 for a check with a transaction that is no collection, or has not ended.
func NoEndedCollection() *Error {
	return InvalidField("tx_id", "must be the id of a collection of this sandbox that has ended")
}

// TooManyChecks is 429 while a check is open, and within a minute of the last one.
func TooManyChecks(often receiverchecks.ErrTooManyChecks) *Error {
	e := &Error{Status: http.StatusTooManyRequests, Code: "too_many_checks", RetryAfter: "5",
		Message: "A check of this receiver is open. Read it, and ask for another one when it has finished."}
	if often.Wait > 0 {
		e.RetryAfter = strconv.Itoa(int(often.Wait / time.Second))
		e.Message = "The receiver was checked less than a minute ago. Ask again after the seconds of Retry-After."
	}
	return e
}
