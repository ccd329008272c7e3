package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// heard gives the sandbox a webhook, so that its events are queued.
func (f *fixture) heard() {
	f.t.Helper()
	f.config.Webhook = &sandboxes.WebhookConfig{URL: "http://127.0.0.1:1/hook", Retry: sandboxes.DefaultRetryPolicy}
	f.sandbox(f.config, key)
}

// text returns the one text that a query comes to.
func (f *fixture) text(query string) (value string) {
	f.t.Helper()
	if err := ledgertest.Connect(f.t, f.db).QueryRow(f.t.Context(), query).Scan(&value); err != nil {
		f.t.Fatal(err)
	}
	return value
}

func eventOf(tx string) string { return "evt_" + strings.TrimPrefix(tx, "TX_") }

// attempted writes down an attempt to deliver the event of a transaction.
func (f *fixture) attempted(tx, state string, status int, answer []byte) {
	f.t.Helper()
	id, err := payments.ParseID(tx)
	if err != nil {
		f.t.Fatal(err)
	}
	problem := any(nil)
	if state != "delivered" {
		problem = fmt.Sprint("the receiver answered ", status)
	}
	f.exec(
		`with e as (update events set state = $2::event_state, attempts = attempts + 1, due_at = case when $2 = 'queued' then now() + interval '1 hour' end,
		delivered_at = case when $2 = 'delivered' then now() end where id = $1 returning *)
		insert into delivery_attempts (tenant, event_id, attempt, started_at, duration_ms, response_status, response_body, error)
		select tenant, id, attempts, '2026-05-31T12:00:00.123Z', 31, $3, $4, $5 from e`,
		id[:],
		state,
		status,
		answer,
		problem,
	)
}

func TestEventShowsWhatIsSentAndHowThatWent(t *testing.T) {
	f := newFixture(t)
	f.heard()
	tx := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success", "description": "<é> & 🎫"})).body["id"].(string)
	f.attempted(tx, "queued", 500, []byte("a\xff\x00b"))
	f.attempted(tx, "delivered", 204, nil)
	got := f.call("GET", "/v1/events/"+eventOf(tx), nil)
	if got.status != http.StatusOK {
		t.Fatalf("answered %d: %s", got.status, got.raw)
	}
	body, _ := got.body["body"].(string)
	payload, _ := got.body["payload"].(object)
	if !strings.HasPrefix(body, `{"event":"payment.completed","tx_id":"`+tx+`"`) || !strings.Contains(body, "<é> & 🎫") ||
		payload["tx_id"] != tx {
		t.Errorf("body %s\npayload %v", body, payload)
	}
	for _, name := range []string{"createdAt", "deliveredAt"} {
		if text, _ := got.body[name].(string); text == "" {
			t.Errorf("%s is %v", name, got.body[name])
		}
	}
	delete(got.body, "body")
	delete(got.body, "payload")
	delete(got.body, "createdAt")
	delete(got.body, "deliveredAt")
	want := object{
		"id": eventOf(tx), "event": "payment.completed", "txId": tx, "status": "SUCCESS", "state": "delivered", "attemptCount": 2.0,
		"nextAttemptAt": nil, "lastResponseStatus": 204.0, "lastError": nil,
		"attempts": []any{
			object{"number": 1.0, "startedAt": "2026-05-31T12:00:00.123Z", "realStartedAt": "2026-05-31T12:00:00.123Z",
				"durationMs": 31.0, "responseStatus": 500.0, "error": "the receiver answered 500", "responseBody": "a\uFFFD\x00b"},
			object{
				"number":         2.0,
				"startedAt":      "2026-05-31T12:00:00.123Z",
				"realStartedAt":  "2026-05-31T12:00:00.123Z",
				"durationMs":     31.0,
				"responseStatus": 204.0,
				"error":          nil,
				"responseBody":   "",
			},
		},
	}
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if kept := f.text("select convert_from(body, 'UTF8') from events"); kept != body {
		t.Errorf("kept is %s", kept)
	}
}

func TestResend(t *testing.T) {
	f := newFixture(t)
	f.heard()
	tx := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"].(string)
	f.attempted(tx, "failed", 410, nil)
	got := f.call("POST", "/v1/events/"+eventOf(tx)+"/resend", nil)
	if got.status != http.StatusAccepted || got.body["state"] != "queued" || got.body["attemptCount"] != 1.0 ||
		got.body["nextAttemptAt"] == nil {
		t.Errorf("answered %d: %s", got.status, got.raw)
	}
	f.exec("update events set leased = true, due_at = now() + interval '1 minute'")
	f.call("POST", "/v1/events/"+eventOf(tx)+"/resend", nil).is(t, http.StatusConflict, "being_sent")
	f.config.Webhook = nil
	f.sandbox(f.config, key)
	f.call("POST", "/v1/events/"+eventOf(tx)+"/resend", nil).is(t, http.StatusConflict, "no_webhook")
}

// Under every path form nothing tells an event that is another sandbox's from one that is not there.
func TestEventsThatAreNotThere(t *testing.T) {
	f := newFixture(t)
	tx := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"].(string)
	foreign := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"}), withKey(otherKey)).body["id"].(string)
	for _, prefix := range []string{"/v1", "/api/v1", "/sandboxes/team/checkout/v1", "/sandboxes/team/checkout/api/v1"} {
		if got := f.call("GET", prefix+"/events/"+eventOf(tx), nil); got.status != http.StatusOK {
			t.Errorf("its own: %d %s", got.status, got.raw)
		}
		answers := map[string]bool{}
		for _, id := range []string{eventOf(foreign), eventOf("00000000000000000000000000"), tx, "x", strings.ToLower(eventOf(tx)), eventOf(tx) + "0"} {
			for _, call := range []string{"GET ", "POST /resend"} {
				method, suffix, _ := strings.Cut(call, " ")
				got := f.call(method, prefix+"/events/"+id+suffix, nil)
				got.is(t, http.StatusNotFound, "not_found")
				answers[got.raw] = true
			}
		}
		if len(answers) != 1 {
			t.Errorf("the answers differ: %v", answers)
		}
	}
	if got := f.call("GET", "/v1/events", nil).each("txId"); len(got) != 1 || got[0] != tx {
		t.Errorf("listed are %v", got)
	}
}

func TestEventsAreListed(t *testing.T) {
	f := newFixture(t)
	f.heard()
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 10_000}
	f.sandbox(f.config, key)
	txs := map[string]string{}
	names := map[string]string{}
	made := func(name, tx string) { txs[name], names[tx] = tx, name }
	for i, name := range []string{"a", "b", "c"} {
		made(
			name,
			f.call("POST", "/v1/payments", payment(name, object{"scenario": []string{"success", "success", "timeout"}[i]})).body["id"].(string),
		)
	}
	made("d", f.refund(txs["a"], object{"amount": 1, "reference": "d"}).body["id"].(string))
	made("e", f.disburse(disbursement("e")).body["tx_id"].(string))
	f.attempted(txs["a"], "delivered", 200, nil)
	f.attempted(txs["b"], "failed", 410, nil)
	f.attempted(txs["c"], "queued", 500, nil)
	f.exec("update events set state = 'recorded', due_at = null where attempts = 0")
	f.exec(
		"update events e set created_at = '2026-05-31T12:00:00.123456Z'::timestamptz + make_interval(secs => ascii(t.reference) - 97) from transactions t where t.id = e.id",
	)

	for query, want := range map[string]string{
		"":                                          "edcba",
		"state=delivered":                           "a",
		"state=failed":                              "b",
		"state=queued":                              "c",
		"state=recorded":                            "ed",
		"event=payment.completed":                   "cba",
		"event=payment.refunded":                    "d",
		"event=disbursement.completed":              "e",
		"event=payment.completed&state=failed":      "b",
		"tx_id=" + txs["d"]:                         "d",
		"tx_id=" + txs["d"] + "&state=failed":       "",
		"tx_id=TX_00000000000000000000000000":       "",
		"created_after=2026-05-31T12:00:01.123Z":    "edcb",
		"created_after=2026-05-31T12:00:01.124Z":    "edc",
		"created_before=2026-05-31T12:00:01.123Z":   "a",
		"created_after=2026-05-31T14:00:03%2B02:00": "ed",
		"limit=2":                           "ed",
		"unknown=1&=&&page=0&per_page=none": "edcba",
	} {
		got := f.call("GET", "/v1/events?"+query, nil)
		var listed string
		for _, tx := range got.each("txId") {
			listed += names[tx]
		}
		if got.status != http.StatusOK || listed != want || (got.body["nextCursor"] != nil) != got.body["hasMore"].(bool) {
			t.Errorf("%s lists %s, want %s: %s", query, listed, want, got.raw)
		}
	}
	for _, item := range f.call("GET", "/v1/events", nil).body["data"].([]any) {
		read := f.call("GET", "/v1/events/"+item.(object)["id"].(string), nil).body
		for _, name := range []string{"body", "payload", "attempts", "advice"} {
			delete(read, name)
		}
		if diff := cmp.Diff(item, any(read)); diff != "" {
			t.Errorf("-listed +read:\n%s", diff)
		}
	}
}

func TestEventsArePaged(t *testing.T) {
	f := newFixture(t)
	var want []string
	for i := range 5 {
		want = append(
			[]string{f.call("POST", "/v1/payments", payment(fmt.Sprint("r", i), object{"scenario": "timeout"})).body["id"].(string)},
			want...)
	}
	var got []string
	query := url.Values{"limit": {"2"}}
	for {
		page := f.call("GET", "/v1/events?"+query.Encode(), nil)
		got = append(got, page.each("txId")...)
		next, more := page.body["nextCursor"].(string)
		if !more {
			break
		}
		query.Set("cursor", next)
		f.call("POST", "/v1/payments", payment("more-"+next, object{"scenario": "timeout", "reference": next[:20]}))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-made +listed):\n%s", diff)
	}
	cursor := f.call("GET", "/v1/events?limit=1", nil).body["nextCursor"].(string)
	ofPayments := f.call("GET", "/v1/payments?limit=1", nil).body["nextCursor"].(string)
	f.call("GET", "/v1/events?limit=1", nil, withKey(otherKey))
	for what, query := range map[string]string{
		"changed":               "cursor=" + cursor[:len(cursor)-1] + map[bool]string{true: "B", false: "A"}[cursor[len(cursor)-1] == 'A'],
		"of another list":       "cursor=" + ofPayments,
		"twice":                 "cursor=" + cursor + "&cursor=" + cursor,
		"an unknown state":      "state=sent",
		"a state in capitals":   "state=FAILED",
		"a status":              "state=SUCCESS",
		"an unknown event":      "event=payment",
		"a type":                "event=collection",
		"an event's id":         "tx_id=evt_00000000000000000000000000",
		"no time":               "created_after=yesterday",
		"no limit":              "limit=0",
		"a limit that is large": "limit=101",
	} {
		got := f.call("GET", "/v1/events?"+query, nil)
		name, _, _ := strings.Cut(query, "=")
		detail, _ := got.body["detail"].(object)
		fields, _ := detail["fieldErrors"].(object)
		if got.status != http.StatusBadRequest || got.body["error"] != "invalid_params" || fields[name] == nil {
			t.Errorf("%s: %d %s", what, got.status, got.raw)
		}
	}
	if got := f.call("GET", "/v1/events?cursor="+cursor, nil, withKey(otherKey)); got.status != http.StatusBadRequest {
		t.Errorf("a cursor of another sandbox: %d %s", got.status, got.raw)
	}
}

// The list of a sandbox with very many events is not slow.
func TestManyEventsAreListedSoon(t *testing.T) {
	f := newFixture(t)
	f.call("POST", "/v1/payments", payment("r", object{"scenario": "timeout"}))
	f.many("r", 20_000)
	f.exec(
		"insert into events (tenant, id, state) select tenant, id, 'delivered' from transactions t where not exists (select from events e where e.id = t.id)",
	)
	f.exec("analyze events")
	f.exec("analyze transactions")
	for _, query := range []string{"", "state=failed", "event=payment.completed", "tx_id=TX_00000000000000000000000000", "state=delivered&limit=100"} {
		begun := time.Now()
		if got := f.call("GET", "/v1/events?"+query, nil); got.status != http.StatusOK {
			t.Errorf("%s: %d", query, got.status)
		}
		t.Logf("%s took %v", query, time.Since(begun))
	}
}
