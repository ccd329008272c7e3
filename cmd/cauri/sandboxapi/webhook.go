package sandboxapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// Webhook returns the webhook of the sandbox, and how its receiver is.
func (c *Client) Webhook(ctx context.Context) (w wire.Webhook, err error) {
	return w, c.call(ctx, http.MethodGet, "/webhook", nil, &w)
}

// Compare compares what a receiver captured with what was sent.
func (c *Client) Compare(ctx context.Context, event string, r wire.CompareRequest) (found wire.Comparison, err error) {
	return found, c.call(ctx, http.MethodPost, "/events/"+url.PathEscape(event)+"/compare", r, &found)
}
