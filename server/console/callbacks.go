package console

import (
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/ledger"
)

// callbackProblem says why callbacks of an operator's own API do not arrive.
type callbackProblem struct {
	ledger.FailingCallbacks
	problem deliveryProblem // of the newest one
}

// readCallbacks returns the unacknowledged callbacks with the reason why the newest one of each operator failed.
func (c *Console) readCallbacks(v *visit, found []ledger.UnacknowledgedCallbacks) (all []callbackProblem, err error) {
	failing, err := c.Service.WhyCallbacksFail(v.ctx(), v.who, found)
	for _, of := range failing {
		all = append(all, callbackProblem{of, deliveryProblemOf(v, advice.Attempt{Failure: of.Failure, Host: advice.HostAndPortOf(of.URL), Callback: true})})
	}
	return all, err
}

// what returns two sentences: whose callbacks fail, and why.
func (h *callbackProblem) title(v *visit) string {
	return v.Text("Callbacks of %s's own API fail.", operatorName(h.Operator)) + " " + h.problem.what + "."
}

// often returns the operator, and how many of its callbacks are unacknowledged, as a text.
func (h *callbackProblem) often(v *visit) string {
	return operatorName(h.Operator) + ", " + unacknowledged(v, h.Count)
}

// unacknowledged returns the text for a number of unacknowledged events or callbacks of the last 24 hours.
func unacknowledged(v *visit, n int) string {
	if n >= ledger.MostCounted {
		return v.Text("more than %s of the last 24 hours not acknowledged", v.Number(ledger.MostCounted-1))
	}
	return v.Count(int64(n), "1 of the last 24 hours not acknowledged", "%s of the last 24 hours not acknowledged")
}
