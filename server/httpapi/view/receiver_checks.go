package view

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/httpapi/view/offline"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/payments"
)

// ReceiverCheckOf returns the view of a check. It returns an error if its card cannot be read.
func ReceiverCheckOf(c *receiverchecks.Check) (*wire.ReceiverCheck, error) {
	view := &wire.ReceiverCheck{
		ID: wire.CheckPrefix + c.ID.Code(), State: "queued", RequestedAt: payments.FormatTime(c.RequestedAt), StartedAt: momentOf(c.BeganAt),
		FinishedAt: momentOf(c.FinishedAt), Battery: grade.Battery, Lines: []wire.ReceiverLineView{},
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
	offline.SetCard(view, &card)
	return view, err
}

// NoSuchCheck is 404 for a check of a receiver.
func NoSuchCheck() *wire.Error {
	return NotFound("There is no check of the receiver with this id in this sandbox. A reset ends a check, and the newest 20 are kept.")
}

// NoWebhook is 409 for a sandbox without a webhook.
func NoWebhook() *wire.Error {
	return &wire.Error{Status: http.StatusConflict, Code: "no_webhook", Detail: map[string]any{"field": "spec.webhook.url"},
		Message: "This sandbox has no webhook URL to send events to. Set spec.webhook.url of the SandboxEnvironment first."}
}

// NoEndedCollection is 400 for a check with a transaction that is no collection, or has not ended.
func NoEndedCollection() *wire.Error {
	return InvalidField("tx_id", "must be the id of a collection of this sandbox that has ended")
}

// TooManyChecks is 429 while a check is open, and within a minute of the last one.
func TooManyChecks(often receiverchecks.ErrTooManyChecks) *wire.Error {
	e := &wire.Error{Status: http.StatusTooManyRequests, Code: "too_many_checks", RetryAfter: "5",
		Message: "A check of this receiver is open. Read it, and ask for another one when it has finished."}
	if often.Wait > 0 {
		e.RetryAfter = strconv.Itoa(int(often.Wait / time.Second))
		e.Message = "The receiver was checked less than a minute ago. Ask again after the seconds of Retry-After."
	}
	return e
}
