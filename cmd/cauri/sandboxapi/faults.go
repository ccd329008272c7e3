package sandboxapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// Faults returns the faults of the sandbox, in the order in which they act.
func (c *Client) Faults(ctx context.Context) ([]wire.Fault, error) {
	var list wire.FaultList
	err := c.call(ctx, http.MethodGet, "/faults", nil, &list)
	return list.Data, err
}

// SetFault sets a fault. The body is an entry of spec.faults with the field `for`.
func (c *Client) SetFault(ctx context.Context, name string, body map[string]any) (f wire.Fault, err error) {
	return f, c.call(ctx, http.MethodPut, "/faults/"+url.PathEscape(name), body, &f)
}

// RemoveFaults removes the fault that was set with a name, or all that were set if the name is empty.
func (c *Client) RemoveFaults(ctx context.Context, name string) error {
	path := "/faults"
	if name != "" {
		path += "/" + url.PathEscape(name)
	}
	return c.call(ctx, http.MethodDelete, path, nil, nil)
}
