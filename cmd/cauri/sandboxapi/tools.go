package sandboxapi

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// Page reads one page of a list, such as "/payments", into a list of package wire.
func (c *Client) Page(ctx context.Context, path string, query url.Values, into any) error {
	return c.call(ctx, http.MethodGet, path+"?"+query.Encode(), nil, into)
}

// AddPayer adds a test client.
func (c *Client) AddPayer(ctx context.Context, r wire.TestClientRequest) (p wire.TestClient, err error) {
	return p, c.call(ctx, http.MethodPost, "/test_clients", r, &p)
}

// ChangePayer changes fields of a test client.
func (c *Client) ChangePayer(ctx context.Context, msisdn string, r wire.TestClientPatch) (p wire.TestClient, err error) {
	return p, c.call(ctx, http.MethodPatch, "/test_clients/"+url.PathEscape(msisdn), r, &p)
}

// Text returns the text of a page at a path below the URL of the sandbox, such as "/docs/api/createPayment.md".
func (c *Client) Text(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.base, "/api/v1")+path, http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set("User-Agent", wire.CommandAgent+"cli")
	answer, err := c.client.Do(request)
	if err != nil {
		return "", unreachable(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return "", unreachable(ctx, err)
	}
	if answer.StatusCode != http.StatusOK {
		return "", c.refused(answer, text)
	}
	return string(text), nil
}
