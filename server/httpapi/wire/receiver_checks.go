package wire

// ReceiverCheckRequest is the body of POST /v1/receiver_checks. The body is optional.
type ReceiverCheckRequest struct {
	_     struct{} `additionalProperties:"true"`
	TxID  string   `json:"tx_id,omitempty" pattern:"^TX_[0-9A-HJKMNP-TV-Z]{26}$" patternDescription:"a transaction's id, TX_ with 26 characters behind it" example:"TX_0SGFHP2T6CKSRTNMP79EP8AFX4" doc:"A collection that has ended. All events are the one of this payment, changed only as a line says. Left out: they are of payments that do not exist."`
	Allow bool     `json:"allow,omitempty" doc:"With tx_id: a refund of this payment that did not happen may be told."`
}

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

const CheckPrefix = "chk_"
