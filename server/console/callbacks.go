package console

import (
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/ledger"
)

// callbackProblem says why callbacks of an operator's own API do not arrive.
type callbackProblem struct {
	ledger.FailingCallbacks
	problem deliveryProblem // why the newest unacknowledged callback failed
}

// readCallbacks returns one entry for each operator with unacknowledged callbacks. The entry says why the newest of
// these callbacks failed.
func (c *Console) readCallbacks(v *visit, found []ledger.UnacknowledgedCallbacks) (all []callbackProblem, err error) {
	failing, err := c.Service.WhyCallbacksFail(v.ctx(), v.who, found)
	for _, of := range failing {
		attempt := advice.Attempt{Failure: of.Failure, Host: advice.HostAndPortOf(of.URL), Callback: true}
		all = append(all, callbackProblem{of, deliveryProblemOf(v, attempt)})
	}
	return all, err
}

// title returns two sentences: whose callbacks fail, and why.
func (h *callbackProblem) title(v *visit) string {
	return v.Text("Callbacks of %s's own API fail.", operatorName(h.Operator)) + " " + h.problem.what + "."
}

// often returns the operator, and how many of its callbacks are unacknowledged, as a text.
func (h *callbackProblem) often(v *visit) string {
	return operatorName(h.Operator) + ", " + unacknowledged(v, h.Count)
}

// unacknowledged returns a text that says how many events or callbacks of the last 24 hours are not acknowledged. From
// [ledger.MostCounted] on, the text only says that there are more than a number.
func unacknowledged(v *visit, n int) string {
	if n >= ledger.MostCounted {
		return v.Text("more than %s of the last 24 hours not acknowledged", v.Number(ledger.MostCounted-1))
	}
	return v.Count(int64(n), "1 of the last 24 hours not acknowledged", "%s of the last 24 hours not acknowledged")
}
