package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// hanging is an operator that takes payments and never says so.
type hanging struct {
	collected, asked int
	known            adapter.Answer
	unknown          error
}

func (h *hanging) Collect(ctx context.Context, _ *payments.Transaction) (adapter.Answer, error) {
	h.collected++
	<-ctx.Done()
	return adapter.Answer{}, errors.New("the operator did not answer in time")
}

func (h *hanging) Ask(ctx context.Context, _ *payments.Transaction) (adapter.Answer, error) {
	h.asked++
	if ctx.Err() != nil {
		return adapter.Answer{}, errors.New("there is no time to ask")
	}
	return h.known, h.unknown
}

// An operator that hangs leaves time for the question that comes before it is given up on, within the time of one exchange.
func TestHangingOperatorIsAskedBeforeItIsGivenUpOn(t *testing.T) {
	t.Parallel()
	pending := adapter.Answer{Status: payments.Pending}
	for name, c := range map[string]struct {
		failures int
		operator hanging
		asked    int
		status   payments.Status
		err      string
	}{
		"not the last attempt": {0, hanging{known: pending}, 0, "", "the operator did not answer in time"},
		"it has the payment":   {forwardTries - 1, hanging{known: pending}, 1, payments.Pending, ""},
		"it has an outcome":    {forwardTries - 1, hanging{known: adapter.Answer{Status: payments.UserCancelled}}, 1, payments.UserCancelled, ""},
		"it knows nothing":     {forwardTries - 1, hanging{unknown: errors.New("404")}, 1, "", "the operator did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			w := &Worker{now: time.Now}
			f := &ledger.Forward{Transaction: &payments.Transaction{}, Failures: c.failures, Attempts: c.failures}
			if c.failures > 0 { // whatever time the attempt takes of it, half is left
				var end context.CancelFunc
				ctx, end = context.WithTimeout(t.Context(), time.Minute)
				defer end()
				w.now = func() time.Time { deadline, _ := ctx.Deadline(); return deadline.Add(-50 * time.Millisecond) }
			}
			answer, err := w.collect(ctx, f, &c.operator)
			if answer.Status != c.status || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("got %+v, %v", answer, err)
			}
			if c.operator.collected != 1 || c.operator.asked != c.asked {
				t.Errorf("it got %d payments and %d questions", c.operator.collected, c.operator.asked)
			}
		})
	}
}

// A collection that no operator's API decides is approved when its latency is over, by its own times.
func TestApprove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		age, answerAfter, expireAfter time.Duration
		status                        payments.Status
		after                         time.Duration
	}{
		"at once":                       {0, 0, time.Hour, payments.Success, 0},
		"before its latency is over":    {time.Second, 3 * time.Second, time.Hour, payments.Pending, 2 * time.Second},
		"when it is over":               {3 * time.Second, 3 * time.Second, time.Hour, payments.Success, 0},
		"long after it is over":         {5 * time.Hour, 3 * time.Second, time.Hour, payments.Success, 0},
		"its time runs out before":      {time.Second, 3 * time.Second, 2 * time.Second, payments.Pending, time.Second},
		"its time ran out before":       {2 * time.Second, 3 * time.Second, 2 * time.Second, payments.Timeout, 0},
		"its time ran out long before":  {5 * time.Hour, 3 * time.Second, 2 * time.Second, payments.Timeout, 0},
		"its time ran out at that time": {2 * time.Second, 2 * time.Second, 2 * time.Second, payments.Timeout, 0},
	} {
		d := approve(&ledger.Forward{Age: c.age, AnswerAfter: c.answerAfter, ExpireAfter: c.expireAfter})
		if d.status() != c.status || d.deferred.After != c.after || d.deferred.Accepted {
			t.Errorf("%s: %s, again after %s", name, d.status(), d.deferred.After)
		}
	}
}
