package wire

import (
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// TestClient is the view of a SIM and its holder.
type TestClient struct {
	MSISDN         string `json:"msisdn" doc:"Its number."`
	Name           string `json:"name" doc:"Name of its TestClient resource. Of one that was made through the API, what the request said, or empty." example:"alice"`
	Source         string `json:"source" doc:"resource: a TestClient resource in the cluster, which alone changes it. api: it was made through the API."`
	Operator       string `json:"operator"`
	Country        string `json:"country"`
	Currency       string `json:"currency" doc:"Currency of the country and of the balance."`
	State          string `json:"state" doc:"A blocked SIM can neither pay nor be paid."`
	Behavior       string `json:"behavior" doc:"What its holder does when asked to confirm a payment."`
	Balance        int64  `json:"balance" doc:"Current balance, in whole units of the currency."`
	PendingPrompts int64  `json:"pendingPrompts" doc:"Payments that wait for its holder's answer."`
	// ManualUntil is nil for a holder that does what the behavior says.
	ManualUntil *string `json:"manualUntil" format:"date-time" doc:"Until then somebody answers by hand, whatever its behavior. ISO 8601, UTC, in real time; null: its behavior decides."`
}

// The states of a test client, with the names of the TestClient resource.
const (
	StateActive  = "Active"
	StateBlocked = "Blocked"
)

// TestClientOf returns the view of a test client.
func TestClientOf(c *ledger.TestClient) TestClient {
	v := TestClient{
		MSISDN: c.MSISDN, Name: c.Name, Source: c.Source, Operator: string(c.Operator), Country: string(c.Country),
		Currency: string(c.Currency()),
		State:    StateActive, Behavior: string(c.Behavior), Balance: c.Balance,
		PendingPrompts: int64(c.Prompts),
	}
	if c.Blocked {
		v.State = StateBlocked
	}
	if c.ManualUntil != nil {
		v.ManualUntil = new(payments.FormatTime(*c.ManualUntil))
	}
	return v
}

// OneTimeCode is the answer of GET /v1/test_clients/{msisdn}/otp.
type OneTimeCode struct {
	MSISDN string `json:"msisdn"`
	OTP    string `json:"otp" doc:"Six digits."`
}

// TestClientList is the answer of GET /v1/test_clients.
type TestClientList struct {
	Data       []TestClient `json:"data" doc:"Ordered by number."`
	NextCursor *string      `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool         `json:"hasMore"`
}

const (
	TestClientCursors cursors = "test_clients"
	PromptCursors     cursors = "prompts"
)

// NumberCursor copies a phone number, by which the list is ordered, into the type that cursors encode. A number has at most
// 16 characters, and an id has 16 bytes.
func NumberCursor(msisdn string) (place payments.ID) {
	copy(place[:], msisdn)
	return place
}

// MSISDNAt returns the number at a position; "" for nil.
func MSISDNAt(place *payments.ID) string {
	if place == nil {
		return ""
	}
	return strings.TrimRight(string(place[:]), "\x00")
}

// TestClientQuery is the query of a list of test clients.
type TestClientQuery struct {
	Filter ledger.TestClientFilter
	After  *payments.ID
	Limit  int
}

// TestClientParameters has the parsers of the query's parameters.
var TestClientParameters = Parameters[TestClientQuery, TestClientList]{
	"limit": func(q *TestClientQuery, value string, _ int64) string { return limit(&q.Limit, value) },
	"cursor": func(q *TestClientQuery, value string, tenant int64) string {
		return TestClientCursors.place(&q.After, tenant, value)
	},
	"country":  func(q *TestClientQuery, value string, _ int64) string { return country(&q.Filter.Country, value) },
	"operator": func(q *TestClientQuery, value string, _ int64) string { return operator(&q.Filter.Operator, value) },
	"state": func(q *TestClientQuery, value string, _ int64) string {
		q.Filter.Blocked = new(value == StateBlocked)
		if !slices.Contains([]string{StateActive, StateBlocked}, value) {
			return "must be one of Active, Blocked"
		}
		return ""
	},
}
