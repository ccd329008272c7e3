package grade

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Options say what to check, and how to reach the receiver.
type Options struct {
	Secret string
	Known  *Known // nil: all transactions are invented
	// In is the market of invented transactions: that of the sandbox's first environment. Zero: the first one that there is.
	In Market
	// Allow permits the event of a refund of the known transaction, which did not happen.
	Allow bool
	Now   func() time.Time // real time
	// Send sends a message and returns the answer. It does not follow redirects, and waits for 10 s at most.
	Send func(context.Context, Message) Answer
	// After is called after each line with the card so far. Its error ends the check. nil: nothing is called.
	After func(context.Context, *Card) error
}

// Market is an operator in a country.
type Market struct {
	Operator payments.Operator
	Country  payments.Country
}

// Answer is the answer of the receiver to a message.
type Answer struct {
	Status     int    `json:"status"` // 0: there was none
	DurationMs int64  `json:"durationMs"`
	Error      string `json:"error,omitempty"`     // why there was none
	Host       string `json:"host,omitempty"`      // that gave none, with its port
	Late       bool   `json:"late,omitempty"`      // it took longer than 10 s
	Unreached  bool   `json:"unreached,omitempty"` // no connection was made, so no program got the message
}

func (a Answer) accepts() bool { return a.Status >= 200 && a.Status <= 299 }

// run is a check that runs.
type run struct {
	Options
	maker
	card     *Card
	genuine  Answer
	unclear  Reason // why nothing follows from the answer to a genuine event; empty: it was accepted or refused
	standard bool   // the receiver looks at webhook-signature
}

// probeStandard is what [maker.forged] sends to find out whether the receiver looks at webhook-signature: a wrong one
// beside a right X-Service-Signature.
const probeStandard = "probe"

// Run runs the battery. It returns the error of options.After, and the error of ctx if that ends.
func Run(ctx context.Context, options Options) (*Card, error) {
	r := run{Options: options, card: &Card{Battery: Battery, StartedAt: options.Now()}}
	r.maker = maker{
		secret: options.Secret, known: options.Known, allow: options.Allow, now: options.Now, nonce: strings.ToLower(rand.Text()[:8]),
		market: options.In,
	}
	if options.In == (Market{}) {
		r.market = Market{payments.Operators[0], payments.Countries[0]}
	}
	for _, line := range Lines() {
		result, err := r.line(ctx, &line)
		if err != nil {
			return nil, err
		}
		r.card.Results = append(r.card.Results, result)
		if err := r.goesOn(ctx); err != nil {
			return nil, err
		}
		if result.Reason == Unreached { // the lines are about a program, and there is none
			break
		}
	}
	r.card.Letter, r.card.FinishedAt = letterOf(r.card.Results), options.Now()
	return r.card, nil
}

// goesOn returns why the check ends here; nil: it goes on.
func (r *run) goesOn(ctx context.Context) error {
	if ctx.Err() != nil { // the answers say nothing about the receiver
		return context.Cause(ctx)
	}
	if r.After == nil {
		return nil
	}
	return r.After(ctx, r.card)
}

// line runs a line, unless nothing would follow from it.
func (r *run) line(ctx context.Context, l *Line) (Result, error) {
	result := Result{Line: l.ID, Outcome: Skipped}
	switch {
	case l.Group == Time:
		return r.timed(l), nil
	case l.ID == lineGenuine:
		return r.first(ctx, l)
	case r.unclear == "" && !r.genuine.accepts():
		result.Reason = NotAccepted
		return result, nil
	case r.unclear != "" && (l.Expects != Refused || l.Group == Standard):
		result.Reason = r.unclear
		return result, nil
	case l.ID == lineEarlyRefund && r.known != nil && !r.allow:
		result.Reason = NeedsAllow
		return result, nil
	}
	if l.ID == lineOldTimestamp {
		answers, err := r.send(ctx, probeStandard)
		if err != nil {
			return result, err
		}
		r.standard = answers[0].Status != 0 && !answers[0].accepts()
	}
	if l.Group == Standard && !r.standard {
		result.Reason = NoStandard
		return result, nil
	}
	var err error
	result.Answers, err = r.send(ctx, l.ID)
	r.judge(l, &result)
	return result, err
}

// first sends a genuine event, and learns from its answer whether the receiver accepts unknown transactions. A receiver
// that answers 401 or 403 has refused the signature, and one that does not answer has refused the event.
func (r *run) first(ctx context.Context, l *Line) (Result, error) {
	result := Result{Line: l.ID}
	var err error
	if result.Answers, err = r.send(ctx, l.ID); err != nil {
		return result, err
	}
	r.genuine = result.Answers[0]
	switch status := r.genuine.Status; {
	case r.genuine.accepts():
		result.Outcome = Passed
		return result, nil
	case r.genuine.Unreached:
		result.Outcome, result.Reason = Skipped, Unreached
		return result, nil
	case status == 0:
		result.Outcome = Failed
		return result, nil
	}
	rewrites, err := r.rewrites(ctx)
	if err != nil {
		return result, err
	}
	if rewrites {
		result.Outcome, result.Reason = Failed, Rewritten
		return result, nil
	}
	return result, r.refused(ctx, &result)
}

// refused judges a receiver that has refused a genuine event. A forged one tells whether it looks at signatures at all.
func (r *run) refused(ctx context.Context, result *Result) error {
	status := r.genuine.Status
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		result.Outcome = Failed
		return nil
	}
	forged, err := r.send(ctx, lineWrongSignature)
	if err != nil {
		return err
	}
	same := forged[0].Status == status
	switch {
	case same && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status/100 == 3):
		r.unclear = WrongURL
	case same && status >= http.StatusBadGateway: // of a proxy whose program does not run
		r.unclear = Broken
	case r.known != nil:
		result.Outcome = Failed
		return nil
	case same && status >= http.StatusInternalServerError:
		r.unclear = Broken
	case same:
		r.unclear = SameAnswer
	default:
		r.unclear = NeedsTransaction
	}
	result.Outcome, result.Reason = Skipped, r.unclear
	return nil
}

// judge sets the outcome of a line from its answers. That a receiver refuses what it does not know says nothing about
// its signatures, unless it answers in another way.
func (r *run) judge(l *Line, result *Result) {
	result.Outcome = Passed
	for _, answer := range result.Answers {
		switch {
		case l.Expects != Refused && !answer.accepts(), l.Expects == Refused && answer.accepts():
			result.Outcome = Failed
		case answer.Status == 0: // to what should be refused
			result.Outcome, result.Reason = Skipped, NoAnswer
		case r.unclear != "" && answer.Status == r.genuine.Status:
			result.Outcome, result.Reason = Skipped, r.unclear
		}
	}
}

// timed judges how long all answers took. Where no other line counts, the answers may be those of another program.
func (r *run) timed(l *Line) Result {
	result := Result{Line: l.ID, Outcome: Passed, Answers: []Answer{r.card.Slowest()}}
	slowest := result.Answers[0]
	if slowest.Late || l.ID == lineFast && slowest.DurationMs > time.Second.Milliseconds() {
		result.Outcome = Failed
	}
	switch {
	case slowest == (Answer{}):
		result.Outcome, result.Reason, result.Answers = Skipped, NoAnswer, nil
	case r.unclear != "" && r.card.Count(Skipped) == len(r.card.Results):
		result.Outcome, result.Reason, result.Answers = Skipped, r.unclear, nil
	}
	return result
}

// send sends the messages of a line, one after the other, until one is not accepted. Those of [lineAtOnce] leave at the same moment.
func (r *run) send(ctx context.Context, line string) (answers []Answer, err error) {
	messages, err := r.messages(line)
	if err == nil && line == lineAtOnce {
		return webhooks.AtOnce(ctx, 2, func(ctx context.Context) Answer {
			return r.Send(ctx, Message{Header: messages[0].Header.Clone(), Body: messages[0].Body})
		}), nil
	}
	for _, message := range messages {
		answer := r.Send(ctx, message)
		answers = append(answers, answer)
		if !answer.accepts() {
			break
		}
	}
	return answers, err
}
