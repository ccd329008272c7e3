package console

import (
	"errors"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// paymentRefusal is the reason why the sandbox refuses all payments, or requests that a fault matches. The zero value
// means that it refuses none.
type paymentRefusal struct {
	disabled bool   // whether all environments are disabled
	quota    int64  // monthly quota that is used up; 0 for none
	limit    int    // limit of requests in a minute that is reached; 0 for none
	fault    string // name of the first fault that refuses requests; empty for none
}

// readRefusal returns why payments would be refused now. The parameter o has the acts of the faults.
func (c *Console) readRefusal(v *visit, o *overview) (r paymentRefusal, err error) {
	sandbox := v.who.Sandbox
	r.disabled = !hasEnabled(sandbox)
	var exceeded ledger.ErrQuotaExceeded
	if err := c.Ledger.CheckQuota(v.ctx(), sandbox.Tenant); errors.As(err, &exceeded) {
		r.quota = exceeded.Quota
	} else if err != nil {
		return r, err
	}
	if sandbox.RateLimit > 0 {
		granted, err := c.Ledger.GrantedRequests(v.ctx(), sandbox.Tenant)
		if err != nil {
			return r, err
		}
		if granted >= int64(sandbox.RateLimit) {
			r.limit = sandbox.RateLimit
		}
	}
	for i := range o.faults {
		if f := &o.faults[i]; r.fault == "" && f.Refuses() && !f.Over(v.clock.Now, o.acts[i].Acts) {
			r.fault = f.Name
		}
	}
	return r, nil
}

func hasEnabled(sandbox *sandboxes.Sandbox) bool {
	for _, e := range sandbox.Environments {
		if e.Enabled {
			return true
		}
	}
	return false
}

// says returns the refusal as a sentence; "" for none.
func (r *paymentRefusal) says(v *visit) string {
	switch {
	case r.disabled:
		return v.Text("Payments are refused: all environments of the sandbox are disabled.")
	case r.quota > 0:
		return v.Count(r.quota, "Payments are refused: the quota of 1 transaction a month is used up.",
			"Payments are refused: the quota of %s transactions a month is used up.")
	case r.limit > 0:
		return v.Count(int64(r.limit), "Requests are refused: there was 1 in the last minute, which is the limit.",
			"Requests are refused: there were %s in the last minute, which is the limit.")
	case r.fault != "":
		return v.Text("The fault %s refuses requests on purpose.", r.fault)
	}
	return ""
}
