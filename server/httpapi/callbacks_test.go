package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A callback of MTN's API is read, listed and sent again as an event, by nobody but its sandbox.
func TestCallbacksAreEvents(t *testing.T) {
	f := newFixture(t)
	shop := newShopEndpoint(t)
	f.config.CallbackHosts = []string{"127.0.0.1"}
	f.sandbox(f.config, key)
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	f.runWorker()
	m := f.mtn(key)
	paid := m.pay(alice, "X-Callback-Url", shop.URL+"/paid?order=1")
	tx := f.call("GET", "/v1/payments?reference="+paid, nil).body["data"].([]any)[0].(object)["id"].(string)
	if got := f.call("GET", "/v1/events?event=operator.callback", nil).each("id"); len(got) != 0 {
		t.Errorf("before the approval the callbacks %v are listed", got)
	}
	f.approve(alice)
	sent := shop.wait(t, "/paid", 1)[0]

	callback := f.attemptedCallback(tx, 1)
	event := f.call("GET", "/v1/events/"+eventOf(tx), nil).body
	id := callback["id"].(string)
	if id == event["id"] || len(id) != len(event["id"].(string)) || id[:len(id)-1] != event["id"].(string)[:len(id)-1] {
		t.Errorf("the callback has the id %s, the event %s", id, event["id"])
	}
	got := f.call("GET", "/v1/events/"+id, nil)
	if diff := cmp.Diff(object{
		"event": "operator.callback", "txId": tx, "status": "SUCCESS", "state": "delivered", "attemptCount": 1.0,
		"createdAt": event["createdAt"], "nextAttemptAt": nil, "lastResponseStatus": 200.0, "lastError": nil,
		"method": "POST", "url": shop.URL + "/paid?order=1", "body": sent, "payload": m.call("GET", "/collection/v1_0/requesttopay/"+paid, "").body,
	}, without(got.body, "id", "deliveredAt", "attempts")); diff != "" {
		t.Errorf("the callback (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(callback, without(got.body, "method", "url", "body", "payload", "attempts")); diff != "" {
		t.Errorf("the callback (-listed +read):\n%s", diff)
	}
	for query, want := range map[string][]string{
		"": {id, eventOf(tx)}, "event=operator.callback": {id}, "event=payment.completed": {eventOf(tx)}, "tx_id=" + tx: {id, eventOf(tx)},
		"state=delivered": {id}, "state=recorded": {eventOf(tx)}, "state=failed": nil,
	} {
		var listed []string
		cursor := ""
		for range 4 {
			page := f.call("GET", "/v1/events?limit=1&"+query+cursor, nil)
			page.is(t, http.StatusOK, "")
			listed = append(listed, page.each("id")...)
			next, more := page.body["nextCursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		if diff := cmp.Diff(want, listed); diff != "" {
			t.Errorf("%s, page after page (-want +listed):\n%s", query, diff)
		}
	}

	again := f.call("POST", "/v1/events/"+id+"/resend", nil)
	again.is(t, http.StatusAccepted, "SUCCESS")
	if fieldsOf(again.body, "id", "state", "attemptCount") != id+" queued 1" {
		t.Errorf("sent again: %s", again.raw)
	}
	if came := shop.wait(t, "/paid", 2); came[1] != sent {
		t.Errorf("%s came again, and %s came first", came[1], sent)
	}
	f.attemptedCallback(tx, 2)
	attempts := f.call("GET", "/v1/events/"+id, nil).body["attempts"].([]any)
	if len(attempts) != 2 || fieldsOf(attempts[1].(object), "number", "responseStatus") != "2 200" {
		t.Errorf("the attempts are %v", attempts)
	}

	for what, foreign := range map[string]string{
		"another's":        id,
		"of nothing":       "evt_00000000000000000000000001",
		"of no one's form": id[:len(id)-1] + "I",
	} {
		f.call("GET", "/v1/events/"+foreign, nil, withKey(otherKey)).is(t, http.StatusNotFound, "not_found")
		f.call("POST", "/v1/events/"+foreign+"/resend", nil, withKey(otherKey)).is(t, http.StatusNotFound, "not_found")
		if t.Failed() {
			t.Fatalf("a callback %s is not 404 for a stranger", what)
		}
	}
	if listed := f.call("GET", "/v1/events?tx_id="+tx, nil, withKey(otherKey)).each("id"); len(listed) != 0 {
		t.Errorf("another sandbox lists %v", listed)
	}
	cursor := f.call("GET", "/v1/events?limit=1", nil).body["nextCursor"].(string)
	f.call("GET", "/v1/events?cursor="+cursor, nil, withKey(otherKey)).is(t, http.StatusBadRequest, "invalid_params")
}

// attemptedCallback waits until the callback of a transaction was attempted so often, and returns it as it is listed.
func (f *fixture) attemptedCallback(tx string, attempts float64) object {
	f.t.Helper()
	var listed []any
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		listed = f.call("GET", "/v1/events?event=operator.callback&tx_id="+tx, nil).body["data"].([]any)
		if len(listed) == 1 && listed[0].(object)["attemptCount"] == attempts {
			return listed[0].(object)
		}
	}
	f.t.Fatalf("the callbacks of %s are %v, want one with %v attempts", tx, listed, attempts)
	return nil
}

// without is a copy of an object that lacks some fields.
func without(o object, names ...string) object {
	rest := object{}
	for name, value := range o {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			rest[name] = value
		}
	}
	return rest
}
