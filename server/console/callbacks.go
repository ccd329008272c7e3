package console

import (
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/ledger"
)

// callbackTrouble says why callbacks of an operator's own API do not arrive.
type callbackTrouble struct {
	ledger.FailingCallbacks
	trouble trouble // of the newest one
}

// readCallbacks adds to callbacks that are not acknowledged why they are not.
func (c *Console) readCallbacks(v *visit, found []ledger.UnacknowledgedCallbacks) (all []callbackTrouble, err error) {
	failing, err := c.Service.WhyCallbacksFail(v.ctx(), v.who, found)
	for _, of := range failing {
		all = append(all, callbackTrouble{of, troubleOf(v, advice.Attempt{Failure: of.Failure, Host: advice.HostOf(of.URL), Callback: true})})
	}
	return all, err
}

// what says in two sentences what fails.
func (h *callbackTrouble) what(v *visit) string {
	return v.Text("Callbacks of %s's own API fail.", operatorName(h.Operator)) + " " + h.trouble.what + "."
}

// often says how many callbacks failed.
func (h *callbackTrouble) often(v *visit) string {
	return operatorName(h.Operator) + ", " + unacknowledged(v, h.Count)
}

// unacknowledged says how many events or callbacks of the last 24 hours are unacknowledged.
func unacknowledged(v *visit, n int) string {
	if n >= ledger.MostCounted {
		return v.Text("more than %s of the last 24 hours not acknowledged", v.Number(ledger.MostCounted-1))
	}
	return v.Count(int64(n), "1 of the last 24 hours not acknowledged", "%s of the last 24 hours not acknowledged")
}
