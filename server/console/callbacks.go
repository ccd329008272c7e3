package console

import (
	"errors"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// mostCallbacks is how many of the newest callbacks are looked at for what fails.
const mostCallbacks = 100

// callbackHealth says how the callbacks of the operators' own APIs go.
type callbackHealth struct {
	some     bool // whether there are any
	failures int  // in a row, of the operator whose callback failed last; [mostCallbacks] at most
	event    payments.EventID
	operator payments.Operator
	trouble  trouble // of the last failure
}

// readCallbacks returns how the newest callbacks go. What a fault acted on has failed on purpose, and counts for nothing.
func (c *Console) readCallbacks(v *visit) (h callbackHealth, err error) {
	newest, err := c.Ledger.ListEvents(v.ctx(), v.who.Sandbox.Tenant, ledger.EventFilter{Callback: new(true)}, nil, mostCallbacks)
	if h.some = len(newest) > 0; err != nil || !h.some {
		return h, err
	}
	orders, err := c.Ledger.OrdersOf(v.ctx(), v.who.Sandbox.Tenant, newest)
	if err != nil {
		return h, err
	}
	delivered := map[payments.Operator]bool{}
	for i := range newest {
		e := &newest[i]
		var of payments.Operator
		if e.Transaction != nil {
			of = orders[*e.Transaction].Operator
		}
		switch {
		case delivered[of], len(e.LastFaults) > 0, h.failures > 0 && of != h.operator:
		case e.State == ledger.EventDelivered:
			delivered[of] = true
		case e.LastError != nil:
			if h.failures++; h.failures == 1 {
				h.event, h.operator = e.EventID(), of
			}
		}
	}
	if h.failures == 0 {
		return h, nil
	}
	last, err := c.Service.ReadEvent(v.ctx(), v.who, h.event)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && last.LastError == nil { // it was removed or delivered meanwhile
		return callbackHealth{some: true}, nil
	}
	if err != nil {
		return h, err
	}
	h.operator, h.trouble = last.Callback.Operator, troubleOf(v, *last.LastError, hostOf(last.Callback.URL))
	return h, nil
}

// what says in two sentences what fails.
func (h *callbackHealth) what(v *visit) string {
	return v.Text("Callbacks of %s's own API fail.", operatorName(h.operator)) + " " + h.trouble.what + "."
}

// often says how many callbacks failed.
func (h *callbackHealth) often(v *visit) string {
	if h.failures == mostCallbacks {
		return v.Text("more than %s callbacks failed in a row", v.Number(mostCallbacks-1))
	}
	return v.Count(int64(h.failures), "1 callback failed", "%s callbacks failed in a row")
}
