package expectations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/payments"
)

func TestCheck(t *testing.T) {
	type observation = expectations.Observation
	const paid = `{"transactions":{"where":{"status":"SUCCESS"},"count":1}}`
	const pending = `{"transactions":{"where":{"status":"PENDING"},"count":0}}`
	const ofStore = `{"transactions":{"where":{"application":"shpo"},"count":0}}`
	const some = `{"transactions":{"count":">=2"}}`
	const delivered = `{"events":{"state":"delivered","count":1,"maxAttempts":2}}`
	const sent = `{"events":{"count":"<=1"}}`
	const float = `{"float":{"currency":"RWF","equals":500}}`
	const alice = `{"testClient":{"msisdn":"+250788000001","balance":0}}`
	const refunds = `{"refunds":{"of":"order","total":100}}`
	const nothing = `{"nothingElse":true}`
	other := &payments.ID{1}
	for _, test := range []struct {
		line       string
		o          observation
		met, never bool
		observed   string
	}{
		{paid, observation{}, false, false, "0 transactions"},
		{paid, observation{Count: 1}, true, false, "1 transaction"},
		{paid, observation{Count: 2}, false, true, "2 transactions"},
		{paid, observation{Count: 10_000}, false, true, "more than 9999 transactions"},
		{pending, observation{Count: 1}, false, false, "1 transaction"},
		{ofStore, observation{}, true, false, "0 transactions"},
		{ofStore, observation{NoStore: true}, false, false, "the sandbox has no application shpo"},
		{some, observation{Count: 1}, false, false, "1 transaction"},
		{some, observation{Count: 10_000}, true, false, "more than 9999 transactions"},
		{delivered, observation{Count: 1, MostAttempts: 2}, true, false, "1 event, at most 2 attempts each"},
		{delivered, observation{Count: 1, MostAttempts: 3}, false, true, "1 event, at most 3 attempts each"},
		{delivered, observation{Count: 2, MostAttempts: 1}, false, false, "2 events, at most 1 attempt each"},
		{sent, observation{Count: 2}, false, true, "2 events"},
		{float, observation{Amount: new(int64(500))}, true, false, "500"},
		{float, observation{Amount: new(int64(600))}, false, false, "600"},
		{float, observation{}, false, false, "the sandbox has no float in RWF"},
		{alice, observation{Amount: new(int64(0))}, true, false, "0"},
		{alice, observation{}, false, false, "the sandbox has no test client with this number"},
		{refunds, observation{Amount: new(int64(0))}, false, false, "0"},
		{refunds, observation{Amount: new(int64(100))}, true, false, "100"},
		{refunds, observation{Amount: new(int64(101))}, false, true, "101"},
		{nothing, observation{}, true, false, "no other transaction"},
		{nothing, observation{Count: 1, Example: other}, false, false, "1 other transaction, for example " + other.String()},
		{nothing, observation{Count: 2, Example: other, Ended: true}, false, true, "2 other transactions, for example " + other.String()},
	} {
		line := parse(t, "["+test.line+"]")[0]
		want := expectations.Result{Line: line.String(), Met: test.met, Never: test.never, Observed: test.observed, Seen: test.o}
		if diff := cmp.Diff(want, expectations.Check(nil, &line, &test.o)); diff != "" {
			t.Errorf("%s of %+v: %s", test.line, test.o, diff)
		}
	}
}
