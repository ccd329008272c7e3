// Package sandboxapi is a client of the API of one sandbox, for the command line.
package sandboxapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// Client calls the API of one sandbox.
type Client struct {
	base     string // URL that ends with /api/v1
	key      string
	client   *http.Client
	patience time.Duration // timeout of a request
}

// maxAnswer is the maximum size of an answer, in bytes.
const maxAnswer = 32 << 20

// maxWait is the default timeout of a request. The API holds an answer for about seven minutes at most.
const maxWait = 10 * time.Minute

// New returns a client of the sandbox at a URL. A nil transport means the default transport.
func New(uri, key string, transport http.RoundTripper) *Client {
	return &Client{
		base: strings.TrimRight(uri, "/") + "/api/v1", key: key, client: &http.Client{Transport: transport}, patience: maxWait,
	}
}

// RefusedError is an error answer of the API.
type RefusedError struct {
	Status     int
	Code       string // error code; empty: the answer is not from Cauri
	Message    string
	Fields     map[string][]string // messages by field
	Detail     map[string]any      // all of the answer's detail
	RequestID  string
	RetryAfter time.Duration
}

func (e *RefusedError) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("the API answered %d without an error of Cauri: is another service at this address?", e.Status)
	}
	if len(e.Fields) == 0 {
		return fmt.Sprintf("the API answered %d %s: %s", e.Status, e.Code, e.Message)
	}
	// The API's message is not used, because it refers to a field of the answer.
	text := fmt.Sprintf("the API answered %d %s: these fields are wrong:", e.Status, e.Code)
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		text += fmt.Sprintf("\n  %s: %s", field, strings.Join(e.Fields[field], "; "))
	}
	return text
}

// UnreachableError is the error of a request without an answer.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return "the API cannot be reached: " + e.Err.Error() }
func (e *UnreachableError) Unwrap() error { return e.Err }

// ForeignError is the error of an answer that is not one of Cauri.
type ForeignError struct{ Err error }

func (e *ForeignError) Error() string { return e.Err.Error() }
func (e *ForeignError) Unwrap() error { return e.Err }

// IsNotFound reports whether an error is the API's answer that an object does not exist.
func IsNotFound(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound && refused.Code == "not_found"
}

// Health returns the health of the API. It needs no key.
func (c *Client) Health(ctx context.Context) (h wire.Health, err error) {
	return h, c.call(ctx, http.MethodGet, "/health", nil, &h)
}

// Meta returns the version and the capabilities of the API.
func (c *Client) Meta(ctx context.Context) (m wire.Meta, err error) {
	return m, c.call(ctx, http.MethodGet, "/meta", nil, &m)
}

// Pay makes a payment.
func (c *Client) Pay(ctx context.Context, r wire.CreatePaymentRequest) (p wire.Payment, err error) {
	return p, c.call(ctx, http.MethodPost, "/payments", r, &p)
}

// Refund refunds a payment.
func (c *Client) Refund(ctx context.Context, id string, r wire.RefundRequest) (p wire.Payment, err error) {
	return p, c.call(ctx, http.MethodPost, "/payments/"+url.PathEscape(id)+"/refund", r, &p)
}

// PayOut makes a disbursement.
func (c *Client) PayOut(ctx context.Context, r wire.DisbursementRequest) (d wire.Disbursement, err error) {
	return d, c.call(ctx, http.MethodPost, "/disbursements", r, &d)
}

// Payment returns a transaction of any type.
func (c *Client) Payment(ctx context.Context, id string) (p wire.Payment, err error) {
	return p, c.call(ctx, http.MethodGet, "/payments/"+url.PathEscape(id), nil, &p)
}

// Payments returns the newest transactions that match the query.
func (c *Client) Payments(ctx context.Context, query url.Values, limit int) ([]wire.Payment, error) {
	return list[wire.Payment](ctx, c, "/payments", query, limit)
}

// PaymentList is like Payments, and has the cursor behind the last one.
func (c *Client) PaymentList(ctx context.Context, query url.Values, limit int) (List[wire.Payment], error) {
	return readList[wire.Payment](ctx, c, "/payments", query, limit)
}

// EventList is like Events, and has the cursor behind the last one.
func (c *Client) EventList(ctx context.Context, query url.Values, limit int) (List[wire.EventSummary], error) {
	return readList[wire.EventSummary](ctx, c, "/events", query, limit)
}

// RequestList is like Requests, and has the cursor behind the last one.
func (c *Client) RequestList(ctx context.Context, query url.Values, limit int) (List[wire.LoggedRequest], error) {
	return readList[wire.LoggedRequest](ctx, c, "/requests", query, limit)
}

// PayerList is like Payers, and has the cursor behind the last one.
func (c *Client) PayerList(ctx context.Context, query url.Values, limit int) (List[wire.TestClient], error) {
	return readList[wire.TestClient](ctx, c, "/test_clients", query, limit)
}

// Events returns the newest events that match the query, in the order of their transactions.
func (c *Client) Events(ctx context.Context, query url.Values, limit int) ([]wire.EventSummary, error) {
	return list[wire.EventSummary](ctx, c, "/events", query, limit)
}

// Event returns an event with its body and attempts.
func (c *Client) Event(ctx context.Context, id string) (e wire.EventDetail, err error) {
	return e, c.call(ctx, http.MethodGet, "/events/"+url.PathEscape(id), nil, &e)
}

// Resend sends an event again.
func (c *Client) Resend(ctx context.Context, id string) (e wire.EventSummary, err error) {
	return e, c.call(ctx, http.MethodPost, "/events/"+url.PathEscape(id)+"/resend", nil, &e)
}

// Requests returns the newest requests in the request log that match the query.
func (c *Client) Requests(ctx context.Context, query url.Values, limit int) ([]wire.LoggedRequest, error) {
	return list[wire.LoggedRequest](ctx, c, "/requests", query, limit)
}

// RequestsUntil returns the newest requests in the request log, also successful ones. It reads pages until enough
// returns true for the oldest request read.
func (c *Client) RequestsUntil(ctx context.Context, limit int, enough func(oldest wire.LoggedRequest) bool) ([]wire.LoggedRequest, error) {
	return listUntil(ctx, c, "/requests", url.Values{"all": {"true"}}, limit, enough)
}

// Payers returns the test clients that match the query.
func (c *Client) Payers(ctx context.Context, query url.Values, limit int) ([]wire.TestClient, error) {
	return list[wire.TestClient](ctx, c, "/test_clients", query, limit)
}

// Payer returns the test client with this number.
func (c *Client) Payer(ctx context.Context, msisdn string) (p wire.TestClient, err error) {
	return p, c.call(ctx, http.MethodGet, "/test_clients/"+url.PathEscape(msisdn), nil, &p)
}

// RemovePayer removes a test client that was added.
func (c *Client) RemovePayer(ctx context.Context, msisdn string) error {
	return c.call(ctx, http.MethodDelete, "/test_clients/"+url.PathEscape(msisdn), nil, nil)
}

// TestNumbers returns the test numbers.
func (c *Client) TestNumbers(ctx context.Context) ([]wire.TestNumber, error) {
	all, err := c.Numbers(ctx)
	return all.Data, err
}

// Numbers returns the test numbers, and the sandbox's environments.
func (c *Client) Numbers(ctx context.Context) (all wire.TestNumberList, err error) {
	return all, c.call(ctx, http.MethodGet, "/test_numbers", nil, &all)
}

// Prompts returns the payments that wait for a payer's answer.
func (c *Client) Prompts(ctx context.Context, msisdn string, limit int) ([]wire.Prompt, error) {
	return list[wire.Prompt](ctx, c, "/test_clients/"+url.PathEscape(msisdn)+"/prompts", nil, limit)
}

// Answer answers a prompt with approve, cancel or wrong_pin.
func (c *Client) Answer(ctx context.Context, msisdn, id, answer string) (p wire.Payment, err error) {
	path := "/test_clients/" + url.PathEscape(msisdn) + "/prompts/" + url.PathEscape(id) + "/" + answer
	return p, c.call(ctx, http.MethodPost, path, nil, &p)
}

// Reset empties the sandbox.
func (c *Client) Reset(ctx context.Context) (r wire.Reset, err error) {
	return r, c.call(ctx, http.MethodPost, "/reset", nil, &r)
}

// ConsoleLink makes a link that opens the console of the sandbox once.
func (c *Client) ConsoleLink(ctx context.Context, r wire.ConsoleLinkRequest) (l wire.ConsoleLink, err error) {
	return l, c.call(ctx, http.MethodPost, "/console_links", r, &l)
}

// List is a list in the form of the API: its entries, and the cursor of those behind them.
type List[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"nextCursor"`
	HasMore    bool    `json:"hasMore"`
}

// list reads pages until it has limit entries, or all.
func list[T any](ctx context.Context, c *Client, path string, query url.Values, limit int) ([]T, error) {
	found, err := readList[T](ctx, c, path, query, limit)
	return found.Data, err
}

// readList is like list, and returns the cursor behind the last entry.
func readList[T any](ctx context.Context, c *Client, path string, query url.Values, limit int) (List[T], error) {
	return readUntil(ctx, c, path, query, limit, func(T) bool { return false })
}

// listUntil is like list, but it also ends after a page if enough returns true for the last entry of the page.
func listUntil[T any](ctx context.Context, c *Client, path string, query url.Values, limit int, enough func(last T) bool) ([]T, error) {
	found, err := readUntil(ctx, c, path, query, limit, enough)
	return found.Data, err
}

func readUntil[T any](ctx context.Context, c *Client, path string, query url.Values, limit int, enough func(last T) bool) (List[T], error) {
	all := List[T]{Data: []T{}}
	asked := url.Values{}
	for name, values := range query {
		asked[name] = values
	}
	for len(all.Data) < limit {
		asked.Set("limit", strconv.Itoa(min(limit-len(all.Data), wire.MaxLimit)))
		var next List[T]
		if err := c.call(ctx, http.MethodGet, path+"?"+asked.Encode(), nil, &next); err != nil {
			return List[T]{}, err
		}
		all.Data = append(all.Data, next.Data...)
		all.NextCursor, all.HasMore = next.NextCursor, next.HasMore
		if next.NextCursor == nil || len(next.Data) == 0 || enough(next.Data[len(next.Data)-1]) {
			break
		}
		asked.Set("cursor", *next.NextCursor)
	}
	return all, nil
}

// call sends a request and decodes its answer.
func (c *Client) call(ctx context.Context, method, path string, body, result any) error {
	content := io.Reader(http.NoBody)
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(encoded)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, c.patience, fmt.Errorf("no answer for %s", c.patience))
	defer cancel()
	request, err := c.request(bounded, method, path, content)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return lost(ctx, bounded, err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return lost(ctx, bounded, err)
	}
	if answer.StatusCode/100 != 2 {
		return c.refused(answer, text)
	}
	if result == nil { // the answer has no body
		return nil
	}
	if err := json.Unmarshal(text, result); err != nil {
		return &ForeignError{fmt.Errorf("the answer to %s %s is not one of Cauri (%w): is another service at this address?", method, path, err)}
	}
	return nil
}

// request returns a request with the key.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err == nil {
		request.Header = c.own()
	}
	return request, err
}

// own returns the headers of each request.
func (c *Client) own() http.Header {
	return http.Header{"Authorization": {"Bearer " + c.key}, "User-Agent": {wire.CommandAgent + "cli"}}
}

// unreachable returns the error of ctx if the command was interrupted. Otherwise it returns an [UnreachableError],
// without the URL of the request.
func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return &UnreachableError{err}
}

func (c *Client) refused(answer *http.Response, text []byte) error {
	var said struct {
		Error, Message string
		Detail         struct {
			FieldErrors map[string][]string `json:"fieldErrors"`
		}
	}
	var whole struct{ Detail map[string]any }
	_, _ = json.Unmarshal(text, &said), json.Unmarshal(text, &whole) // both stay empty for an error of another server
	e := &RefusedError{
		Status: answer.StatusCode, Code: said.Error, Message: said.Message, Fields: said.Detail.FieldErrors, Detail: whole.Detail,
		RequestID: answer.Header.Get("X-Request-Id"),
	}
	if e.Status == http.StatusUnauthorized && e.Code != "" {
		e.Message += notAKey(c.key)
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// ofAnOperator matches the keys and users of the operators' own APIs.
var ofAnOperator = regexp.MustCompile(`^[0-9a-f]{32}$|^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// notAKey returns a text that says what the user gave instead of an API key; "" if the format of the text does not show
// it.
func notAKey(key string) string {
	switch {
	case strings.HasPrefix(key, "whsec_"):
		return " What was given is the signing secret of the webhooks: give the api-key of the sandbox's Secret."
	case ofAnOperator.MatchString(key):
		return " What was given looks like a key or a user of an operator's own API: give the api-key of the sandbox's Secret."
	}
	return ""
}
