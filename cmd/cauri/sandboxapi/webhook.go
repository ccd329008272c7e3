package sandboxapi

import (
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// Webhook returns the webhook of the sandbox, and how its receiver is.
func (c *Client) Webhook(ctx context.Context) (w wire.Webhook, err error) {
	return w, c.call(ctx, http.MethodGet, "/webhook", nil, &w)
}
