package sandboxapi

import (
	"context"
	"net/http"
)

// Clock is the clock of a sandbox.
type Clock struct {
	Mode      string  `json:"mode"`
	Now       string  `json:"now"`
	Target    *string `json:"target"`    // nil: it is not being advanced
	NextDueAt *string `json:"nextDueAt"` // nil: nothing is due at any time
	Due       struct {
		Transactions int64 `json:"transactions"`
		Events       int64 `json:"events"`
	} `json:"due"`
}

// AdvanceRequest says how far a clock goes: by a duration, or to a time or "nextDue".
type AdvanceRequest struct {
	By   string `json:"by,omitempty"`
	To   string `json:"to,omitempty"`
	Wait string `json:"wait,omitempty"`
}

// Advanced is the time after an advance, and what was done until then.
type Advanced struct {
	Now            string `json:"now"`
	Settled        int64  `json:"settled"`
	Expired        int64  `json:"expired"`
	Delivered      int64  `json:"delivered"`
	FailedAttempts int64  `json:"failedAttempts"`
}

// Clock reads the clock.
func (c *Client) Clock(ctx context.Context) (found Clock, err error) {
	return found, c.call(ctx, http.MethodGet, "/clock", nil, &found)
}

// Advance moves the clock on. It is not done where the work goes on after the time that the request waits.
func (c *Client) Advance(ctx context.Context, r AdvanceRequest) (a Advanced, done bool, err error) {
	status, err := c.exchange(ctx, http.MethodPost, "/clock/advance", r, &a)
	return a, status == http.StatusOK, err
}
