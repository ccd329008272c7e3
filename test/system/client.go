package system

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Client calls the api with the key of one sandbox.
type Client struct {
	// Observe, if set, is called with every answer, or with the error if there was no answer.
	Observe func(Answer, error)
	// AnswerWithin is the timeout of a request. The default is longer than any delay of the api.
	AnswerWithin time.Duration

	bases []string // of all replicas
	turn  atomic.Uint64
	key   string
	http  *http.Client
}

// transport keeps enough connections open for all clients of a test.
var transport = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 256
	return t
}()

// answerWithin is the default timeout of a request. The longest delay of an answer is 35 s.
const answerWithin = 60 * time.Second

// Client returns a client of the sandbox that uses all given replicas of the api in turn. It returns when each of them
// knows the sandbox.
func (s *Sandbox) Client(ctx context.Context, apis ...*API) (*Client, error) {
	c := &Client{AnswerWithin: answerWithin, key: s.Key, http: &http.Client{Transport: transport}}
	for _, api := range apis {
		c.bases = append(c.bases, api.URL+"/v1")
		err := Until(ctx, time.Minute, api.Name+" knows the key of "+s.Config.Name, func(ctx context.Context) error {
			answer, err := c.sendTo(ctx, api.URL+"/v1", http.MethodGet, "/payments?limit=1", nil, c.header())
			if err == nil && answer.Status != http.StatusOK {
				err = answer.unexpected()
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// WithKey returns a copy of the client with another key.
func (c *Client) WithKey(key string) *Client {
	return &Client{AnswerWithin: c.AnswerWithin, bases: c.bases, key: key, http: c.http}
}

// Payment is the body of POST /v1/payments, and of POST /v1/disbursements.
type Payment struct {
	Amount      int64  `json:"amount"`
	Currency    string `json:"currency"`
	Operator    string `json:"operator"`
	Country     string `json:"country"`
	MSISDN      string `json:"msisdn"`
	Reference   string `json:"reference"`
	Application string `json:"application"`
	Scenario    string `json:"scenario,omitempty"`
	Description string `json:"description,omitempty"`
}

// Unregistered is a number without a SIM.
const Unregistered = "+250791111111"

// NewPayment is a payment of 100 francs. A scenario forces its outcome. Without one the payer decides.
func NewPayment(reference, msisdn, scenario string) Payment {
	return Payment{
		Amount: 100, Currency: "RWF", Operator: "mtn", Country: "RW", MSISDN: msisdn, Reference: reference, Application: "shop",
		Scenario: scenario,
	}
}

// Answer is an answer of the api.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Begun  time.Time // when the request was sent
	Took   time.Duration
}

func (a Answer) unexpected() error { return fmt.Errorf("the api answered %d %s", a.Status, a.Body) }

// TransactionID is the id of the transaction in the answer, or empty.
func (a Answer) TransactionID() string {
	var transaction struct {
		ID   string `json:"id"`    // of a payment
		TxID string `json:"tx_id"` // of a disbursement
	}
	if a.Status/100 != 2 || json.Unmarshal(a.Body, &transaction) != nil {
		return ""
	}
	return transaction.ID + transaction.TxID
}

// Get sends a GET to a path below /v1. An error means that no answer came.
func (c *Client) Get(ctx context.Context, path string) (Answer, error) {
	return c.send(ctx, http.MethodGet, path, nil)
}

// Post sends body as JSON. An error means that no answer came.
func (c *Client) Post(ctx context.Context, path string, body any) (Answer, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return Answer{}, err
	}
	return c.send(ctx, http.MethodPost, path, encoded)
}

// Call sends a request of any method with a body of JSON; an empty body is none. An error means that no answer came.
func (c *Client) Call(ctx context.Context, method, path, body string) (Answer, error) {
	return c.send(ctx, method, path, []byte(body))
}

// send uses the next replica.
func (c *Client) send(ctx context.Context, method, path string, body []byte) (Answer, error) {
	return c.sendTo(ctx, c.base(), method, path, body, c.header())
}

func (c *Client) base() string { return c.bases[c.turn.Add(1)%uint64(len(c.bases))] }

func (c *Client) header() http.Header {
	return http.Header{"Authorization": {"Bearer " + c.key}, "Content-Type": {"application/json"}}
}

func (c *Client) sendTo(ctx context.Context, base, method, path string, body []byte, header http.Header) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.AnswerWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	request.Header = header
	answer, err := c.do(request)
	if c.Observe != nil {
		c.Observe(answer, err)
	}
	return answer, err
}

func (c *Client) do(request *http.Request) (answer Answer, err error) {
	answer.Begun = time.Now()
	defer func() { answer.Took = time.Since(answer.Begun) }()
	response, err := c.http.Do(request)
	if err != nil {
		return answer, err
	}
	defer func() { _ = response.Body.Close() }()
	answer.Status, answer.Header = response.StatusCode, response.Header
	answer.Body, err = io.ReadAll(response.Body)
	return answer, err
}

// Insist repeats a POST until the answer is a result, as a careful client does: it retries after no answer and after a
// 5xx. Any other answer without a result is an error.
func (c *Client) Insist(ctx context.Context, path string, body any) (Answer, error) {
	return insist(ctx, path, func() (Answer, error) { return c.Post(ctx, path, body) })
}

// InsistOnGet is [Client.Insist] for a GET.
func (c *Client) InsistOnGet(ctx context.Context, path string) (Answer, error) {
	return insist(ctx, path, func() (Answer, error) { return c.Get(ctx, path) })
}

func insist(ctx context.Context, path string, ask func() (Answer, error)) (Answer, error) {
	for {
		answer, err := ask()
		switch {
		case err == nil && answer.Status/100 == 2:
			return answer, nil
		case err == nil && answer.Status/100 != 5:
			return answer, answer.unexpected()
		}
		if !Rest(ctx, 50*time.Millisecond) {
			if err == nil {
				err = answer.unexpected()
			}
			return answer, fmt.Errorf("giving up on %s: %w", path, err)
		}
	}
}
