package expectations_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/payments"
)

func parse(t *testing.T, text string) []expectations.Line {
	t.Helper()
	lines, err := expectations.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestLinesAreReadAndWritten(t *testing.T) {
	const text = `[
		{"transactions":{"where":{"orderRef":"order-1042","type":"collection","status":"SUCCESS"},"count":1}},
		{"transactions":{"count":">=1"}},
		{"events":{"where":{"event":"payment.completed","orderRef":"order-1042"},"state":"delivered","count":"2..4","maxAttempts":3}},
		{"float":{"currency":"RWF","equals":1001477}},
		{"testClient":{"msisdn":"+250788123456","balance":0}},
		{"refunds":{"of":"order-1042","total":0}},
		{"nothingElse":true}]`
	lines := parse(t, text)
	written, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(written, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var said []string
	for i := range lines {
		said = append(said, lines[i].String())
	}
	if diff := cmp.Diff([]string{
		"transactions where orderRef=order-1042 type=collection status=SUCCESS: 1",
		"transactions: >=1",
		"events where event=payment.completed state=delivered orderRef=order-1042: 2..4, at most 3 attempts each",
		"float RWF: 1001477",
		"balance of the test client +250788123456: 0",
		"refunds of order-1042: 0",
		"nothing else",
	}, said); diff != "" {
		t.Error(diff)
	}
}

// Each message says what to write instead.
func TestWrongLines(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "expect must be a list of 1 to 50 lines, each one of transactions, events, float, testClient, refunds or nothingElse",
		`[]`: "expect must have 1 to 50 lines, and has 0",
		`[{}]`: "expect[0] must have exactly one of transactions, events, float, testClient, refunds or nothingElse, and has 0: " +
			"write a line for each",
		`[{"nothingElse":true,"refunds":{"of":"a","total":1}}]`: "expect[0] must have exactly one of transactions, events, float, " +
			"testClient, refunds or nothingElse, and has 2: write a line for each",
		`[{"transactions":{"where":{"orderRef":null,"msisdn":""},"count":1}}]`: "expect[0].transactions.where.msisdn has no value, so that " +
			"the line would select more: write one, or leave the field out; expect[0].transactions.where.orderRef has no value, so that the line " +
			"would select more: write one, or leave the field out",
		`[{"events":{"where":null,"state":"","count":1,"maxAttempts":null}}]`: "expect[0].events.maxAttempts has no value, so that the line " +
			"would select more: write one, or leave the field out; expect[0].events.state has no value, so that the line would select more: write " +
			"one, or leave the field out; expect[0].events.where has no value, so that the line would select more: write one, or leave the field out",
		`[{"transactions":{"where":{"createdAfter":"2026-05-31T12:00:00,5Z"},"count":1}}]`: "expect[0].transactions.where.createdAfter must be a " +
			"time like 2026-12-01T00:00:00Z",
		`[{"transaction":{"count":1}}]`: `expect[0] has an unknown field "transaction". Write one of transactions, events, float, ` +
			`testClient, refunds or nothingElse.`,
		`[{"transactions":{"where":{"order_ref":"a"},"count":1}}]`: `expect[0] has an unknown field "transactions.where.order_ref". Write one ` +
			`of orderRef, reference, type, status, operator, country, application, msisdn, createdAfter or createdBefore.`,
		`[{"transactions":{"orderRef":"a","count":1}}]`: `expect[0] has an unknown field "transactions.orderRef". Write where or count; what ` +
			`selects transactions stands under where.`,
		`[{"transactions":{}}]`:               `expect[0].transactions.count is required: write a number, for example 1, or a range: ">=1", "<=3" or "2..4"`,
		`[{"transactions":{"count":"4..2"}}]`: `expect[0] is not a line: must be a range from the smaller to the larger number, such as "2..4"`,
		`[{"transactions":{"count":10000}}]`:  `expect[0] is not a line: must be a number from 0 to 9999, or a range: ">=1", "<=3" or "2..4"`,
		`[{"transactions":{"count":1.5}}]`:    `expect[0] is not a line: must be a number from 0 to 9999, or a range: ">=1", "<=3" or "2..4"`,
		`[{"transactions":{"where":{"status":"PAID"},"count":1}}]`: "expect[0].transactions.where.status must be SUCCESS, PIN_INVALID, " +
			"INSUFFICIENT_FUNDS, TIMEOUT, ACCOUNT_BLOCKED, USER_CANCELLED, UNKNOWN_MSISDN, LIMIT_EXCEEDED, SERVICE_UNAVAILABLE, " +
			"DUPLICATE_REFERENCE or PENDING",
		`[{"events":{"where":{"event":"paid"},"state":"sent","count":1,"maxAttempts":-1}}]`: "expect[0].events.where.event must be " +
			"payment.completed, payment.refunded, disbursement.completed or operator.callback; expect[0].events.state must be recorded, " +
			"queued, delivered or failed; expect[0].events.maxAttempts must be from 0 to 9999",
		`[{"events":{"where":{"event":"payment.completed","type":"refund"},"count":1}}]`: "expect[0].events.where.type must be the type of " +
			"the transactions that have this event: leave it out",
		`[{"float":{"currency":"EUR"}}]`: "expect[0].float.currency must be " + payments.OneOf(payments.Currencies) + "; expect[0].float.equals is required: write an amount, " +
			"for example 48500",
		`[{"testClient":{"msisdn":"0788","balance":-1}}]`: "expect[0].testClient.msisdn must be a number in international form: " +
			"+ and the code of its country, digits only; expect[0].testClient.balance must be from 0 to 1000000000000000",
		`[{"refunds":{"total":1}}]`: "expect[0].refunds.of is required: write the order, for example order-1042",
		`[{"nothingElse":false}]`:   "expect[0].nothingElse must be true: leave the line out if there may be other transactions",
		`[{"merchant":{"get":"http://localhost"}}]`: "expect[0].merchant is for `cauri expect` only, since Cauri itself asks no URL: leave the " +
			"line out, or use `cauri expect`",
		`[{"transactions":{"where":{"createdAfter":"2026-12-01T00:00:00Z","createdBefore":"2026-12-01T00:00:00Z"},"count":1}}]`: "expect[0]." +
			"transactions.where.createdBefore must be later than createdAfter",
	} {
		_, err := expectations.Parse([]byte(text))
		if err == nil {
			t.Errorf("%s is valid", text)
		} else if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestMerchantLine(t *testing.T) {
	if _, err := expectations.ParseWithMerchant([]byte(`[{"merchant":{"get":"http://localhost:3000/o/1","json":{"paid":true}}}]`)); err != nil {
		t.Error(err)
	}
	_, err := expectations.ParseWithMerchant([]byte(`[{"merchant":{"get":"file:///etc/passwd"}}]`))
	if err == nil || !strings.Contains(err.Error(), "must be an http or https URL") {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatTheLinesCount(t *testing.T) {
	lines := parse(t, `[
		{"transactions":{"where":{"orderRef":"a"},"count":1}},
		{"events":{"where":{"orderRef":"b","event":"payment.refunded"},"count":1}},
		{"events":{"where":{"orderRef":"c","event":"operator.callback"},"count":1}},
		{"refunds":{"of":"d","total":0}},
		{"float":{"currency":"RWF","equals":1}},
		{"nothingElse":true}]`)
	if diff := cmp.Diff([]expectations.Where{
		{OrderRef: "a"}, {OrderRef: "b", Type: "refund"}, {OrderRef: "c"}, {OrderRef: "d", Type: "refund"},
	}, expectations.Counted(lines)); diff != "" {
		t.Error(diff)
	}
}
