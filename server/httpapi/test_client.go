package httpapi

import (
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// testClientView is a SIM of the registry with its holder.
type testClientView struct {
	MSISDN         string `json:"msisdn" doc:"Its number."`
	Name           string `json:"name" doc:"Of its TestClient resource." example:"alice"`
	Operator       string `json:"operator"`
	Country        string `json:"country"`
	Currency       string `json:"currency" doc:"Of the country; its balance is in it."`
	State          string `json:"state" doc:"A blocked SIM can neither pay nor be paid."`
	Behaviour      string `json:"behaviour" doc:"What its holder does when asked to confirm a payment."`
	Balance        int64  `json:"balance" doc:"In whole units of the currency, now."`
	PendingPrompts int64  `json:"pendingPrompts" doc:"Payments that wait for its holder's answer."`
}

// The states of a test client, as its resource says them.
const (
	stateActive  = "Active"
	stateBlocked = "Blocked"
)

func testClientViewOf(c *store.TestClient) testClientView {
	v := testClientView{
		MSISDN: c.MSISDN, Name: c.Name, Operator: string(c.Operator), Country: string(c.Country), Currency: string(c.Currency()),
		State: stateActive, Behaviour: string(c.Behavior), Balance: c.Balance, PendingPrompts: int64(c.Prompts),
	}
	if c.Blocked {
		v.State = stateBlocked
	}
	return v
}

// testClientListView is the answer of GET /v1/test_clients.
type testClientListView struct {
	Data       []testClientView `json:"data" doc:"In the order of their numbers."`
	NextCursor *string          `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool             `json:"hasMore"`
}

const (
	testClientCursors cursors = "test_clients"
	promptCursors     cursors = "prompts"
)

// placeOf is a number's place in the list. A number has at most 16 characters, just as many as an id has bytes.
func placeOf(msisdn string) (place payments.ID) {
	copy(place[:], msisdn)
	return place
}

// msisdnAt is the number at a place, empty for none.
func msisdnAt(place *payments.ID) string {
	if place == nil {
		return ""
	}
	return strings.TrimRight(string(place[:]), "\x00")
}

// testClientQuery is what a list of test clients is asked for.
type testClientQuery struct {
	filter store.TestClientFilter
	after  *payments.ID
	limit  int
}

// testClientParameters reads each parameter into a query and returns what is wrong with it.
var testClientParameters = parameters[testClientQuery]{
	"limit": func(q *testClientQuery, value string, _ int64) string { return limit(&q.limit, value) },
	"cursor": func(q *testClientQuery, value string, tenant int64) string {
		return testClientCursors.place(&q.after, tenant, value)
	},
	"country": func(q *testClientQuery, value string, _ int64) string {
		q.filter.Country = payments.Country(value)
		if _, known := q.filter.Country.Currency(); !known {
			return "has to be one of CI, RW, BJ, TG"
		}
		return ""
	},
	"operator": func(q *testClientQuery, value string, _ int64) string {
		q.filter.Operator = payments.Operator(value)
		if !q.filter.Operator.Valid() {
			return "has to be one of mtn, orange, moov, airtel"
		}
		return ""
	},
	"state": func(q *testClientQuery, value string, _ int64) string {
		q.filter.Blocked = new(value == stateBlocked)
		if !slices.Contains([]string{stateActive, stateBlocked}, value) {
			return "has to be one of Active, Blocked"
		}
		return ""
	},
}
