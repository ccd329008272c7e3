package sandboxapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// Evaluate evaluates the lines of an expectation. lines is a JSON array. If since is the id of a transaction, only
// later transactions count. If since is "", all transactions count.
func (c *Client) Evaluate(ctx context.Context, lines json.RawMessage, since string) (e wire.Evaluation, err error) {
	body := struct {
		Expect json.RawMessage `json:"expect"`
		Since  string          `json:"since,omitempty"`
	}{lines, since}
	return e, c.call(ctx, http.MethodPost, "/expectations/evaluate", body, &e)
}
