package sandboxapi

import (
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// CheckReceiver asks for a check of the sandbox's receiver.
func (c *Client) CheckReceiver(ctx context.Context, asked wire.ReceiverCheckRequest) (check wire.ReceiverCheck, err error) {
	return check, c.call(ctx, http.MethodPost, "/receiver_checks", asked, &check)
}

// ReceiverCheck returns a check.
func (c *Client) ReceiverCheck(ctx context.Context, id string) (check wire.ReceiverCheck, err error) {
	return check, c.call(ctx, http.MethodGet, "/receiver_checks/"+id, nil, &check)
}
