package sandboxapi

import (
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// Clock returns the clock of the sandbox.
func (c *Client) Clock(ctx context.Context) (found wire.Clock, err error) {
	return found, c.call(ctx, http.MethodGet, "/clock", nil, &found)
}

// Advance advances the clock and waits for the end of the advance. The result target is empty if the clock has reached
// its target. If the advance takes longer than the request waits, the caller can wait again: it sends target in the
// field To.
func (c *Client) Advance(ctx context.Context, r wire.AdvanceRequest) (a wire.Advanced, target string, err error) {
	var answer struct {
		wire.Advanced
		Target string `json:"target"`
	}
	err = c.call(ctx, http.MethodPost, "/clock/advance", r, &answer)
	return answer.Advanced, answer.Target, err
}
