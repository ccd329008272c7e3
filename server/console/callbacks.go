package console

import (
	"errors"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/ledger"
)

// callbackTrouble says why callbacks of an operator's own API do not arrive.
type callbackTrouble struct {
	ledger.UnacknowledgedCallbacks
	trouble trouble // of the newest one
}

// readCallbacks adds to callbacks that are not acknowledged why they are not.
func (c *Console) readCallbacks(v *visit, found []ledger.UnacknowledgedCallbacks) (all []callbackTrouble, err error) {
	for _, of := range found {
		newest, err := c.Service.ReadEvent(v.ctx(), v.who, of.Newest)
		if errors.Is(err, ledger.ErrNotFound) { // it was removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		failure := ""
		for i := range newest.History {
			if a := &newest.History[i]; a.Error != nil && len(a.Faults) == 0 {
				failure = *a.Error
			}
		}
		attempt := advice.Attempt{Failure: failure, Host: advice.HostOf(newest.Callback.URL), Callback: true}
		all = append(all, callbackTrouble{of, troubleOf(v, attempt)})
	}
	return all, nil
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
