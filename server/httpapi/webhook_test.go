package httpapi_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

const signer = "whsec_c2lnbmVy"

// signed writes down an attempt at the event of a new payment that was signed at a time, and returns the path of the event,
// its body and how it was signed.
func (f *fixture) signed(at time.Time, previous ...string) (path, body string, signed webhooks.Signed) {
	f.t.Helper()
	tx := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success", "description": "Café"})).body["id"].(string)
	path = "/v1/events/" + eventOf(tx)
	body, _ = f.call("GET", path, nil).body["body"].(string)
	id, err := payments.ParseID(tx)
	if err != nil {
		f.t.Fatal(err)
	}
	f.attempted(tx, "queued", 401, []byte("bad signature"))
	signed = webhooks.Sign(webhooks.Delivery{ID: id, Secret: signer, Previous: previous, Body: []byte(body), At: at})
	f.exec("update delivery_attempts set signed_at = $1, signature = $2, previous_signature = nullif($3, ''), standard_signature = $4, signed_with = $5",
		at, signed.Signature, signed.Previous, signed.Standard, strings.Join(signed.Secrets, " "))
	return path, body, signed
}

// What an event says of its signature is enough for a receiver to verify it.
func TestSignatureIsExplained(t *testing.T) {
	f := newFixture(t)
	f.heard()
	at := time.Now()
	path, body, signed := f.signed(at, "the previous one")
	got := f.call("GET", path, nil)
	explained, _ := got.body["signature"].(object)
	header := http.Header{}
	for _, h := range explained["headers"].([]any) {
		header.Set(h.(object)["name"].(string), h.(object)["value"].(string))
	}
	for _, secret := range []string{signer, "the previous one"} {
		if err := webhooks.Verify(header, []byte(body), secret, at); err != nil {
			t.Errorf("with %s: %v", secret, err)
		}
		if strings.Contains(got.raw, secret) {
			t.Errorf("the secret %s is shown", secret)
		}
	}
	var lines []string
	for _, scheme := range explained["schemes"].([]any) {
		for _, one := range scheme.(object)["signatures"].([]any) {
			if value := one.(object)["value"].(string); !strings.Contains(header.Get(one.(object)["header"].(string)), value) {
				t.Errorf("no header has %s", value)
			}
			lines = append(lines, one.(object)["header"].(string)+" "+one.(object)["secretFingerprint"].(string))
		}
	}
	current, previous := signed.Secrets[0], signed.Secrets[1]
	want := []string{
		"X-Service-Signature " + current, "X-Service-Signature-Previous " + previous, "webhook-signature " + current, "webhook-signature " + previous,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("signatures (-want +got):\n%s", diff)
	}
	if explained["bytes"] != float64(len(body)) || explained["attempt"] != 1.0 {
		t.Errorf("it is %v", explained)
	}
}

func TestCompareWithWhatWasSent(t *testing.T) {
	f := newFixture(t)
	f.heard()
	at := time.Now().Truncate(time.Second)
	path, body, signed := f.signed(at)
	fingerprint := signed.Secrets[0]
	for name, c := range map[string]struct {
		sent   object
		causes string
		which  string // header of the schemes that verify
	}{
		"all of it": {object{
			"body": body, "signature": signed.Signature, "webhook_signature": signed.Standard, "secret_fingerprint": fingerprint,
			"verified_at": at.Add(time.Minute).Format(time.RFC3339),
		}, "", "X-Service-Signature webhook-signature"},
		"the body":            {object{"body": body}, "secret_unknown", "X-Service-Signature webhook-signature"},
		"in base64":           {object{"body_base64": base64.StdEncoding.EncodeToString([]byte(body))}, "secret_unknown", "X-Service-Signature webhook-signature"},
		"written again":       {object{"body": strings.ReplaceAll(body, `":`, `": `)}, "rewritten", ""},
		"another secret":      {object{"body": body, "secret_fingerprint": "00000000"}, "other_secret", ""},
		"both":                {object{"body": body + "\n", "secret_fingerprint": "00000000"}, "line_breaks other_secret", ""},
		"another signature":   {object{"body": body, "signature": "sha256=00"}, "other_signature", "webhook-signature"},
		"without its prefix":  {object{"body": body, "webhook_signature": signed.Standard[3:]}, "other_signature", "X-Service-Signature"},
		"another timestamp":   {object{"body": body, "webhook_timestamp": "1"}, "other_timestamp", "X-Service-Signature"},
		"verified later":      {object{"body": body, "verified_at": at.Add(6 * time.Minute).Format(time.RFC3339)}, "stale_timestamp", "X-Service-Signature"},
		"computed":            {object{"body": body, "computed_signature": signed.Signature}, "", "X-Service-Signature webhook-signature"},
		"in another form":     {object{"body": body, "computed_signature": signed.Standard[3:]}, "other_form", "X-Service-Signature webhook-signature"},
		"with another key":    {object{"body": body, "computed_signature": "sha256=" + strings.Repeat("00", 32)}, "other_key", ""},
		"with no secret":      {object{"body": body, "computed_signature": webhooks.Signature("undefined", []byte(body))}, "no_secret", ""},
		"of other bytes":      {object{"body": body + "\n", "computed_signature": webhooks.Signature(signer, []byte(body+"\n"))}, "line_breaks", ""},
		"an empty secret":     {object{"body": body, "secret_fingerprint": "e3b0c442"}, "no_secret", ""},
		"one of two of a key": {object{"body": body, "webhook_signature": "v1,x " + signed.Standard, "secret_fingerprint": fingerprint}, "", "X-Service-Signature webhook-signature"},
	} {
		got := f.call("POST", path+"/compare", c.sent)
		if got.status != http.StatusOK {
			t.Errorf("%s: answered %d: %s", name, got.status, got.raw)
			continue
		}
		var causes, verified []string
		for _, cause := range got.body["causes"].([]any) {
			causes = append(causes, cause.(object)["code"].(string))
		}
		for _, scheme := range got.body["schemes"].([]any) {
			if scheme.(object)["verifies"] == true {
				verified = append(verified, scheme.(object)["header"].(string))
			}
		}
		if diff := cmp.Diff([]string{c.causes, c.which}, []string{strings.Join(causes, " "), strings.Join(verified, " ")}); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, got.raw)
		}
	}
	for _, wrong := range []object{
		{}, {"body": body, "body_base64": "e30="}, {"body_base64": "e30"}, {"body": body, "verified_at": "today"}, {"body": body, "secret_fingerprint": signer},
	} {
		f.call("POST", path+"/compare", wrong).is(t, http.StatusBadRequest, "invalid_body")
	}
	f.call("POST", path+"/compare", object{"body": strings.Repeat("x", 64<<10)}).is(t, http.StatusRequestEntityTooLarge, "body_too_large")
}

// Nothing of what a receiver captured is logged, nor of what was sent.
func TestComparedBytesAreNotLogged(t *testing.T) {
	f := newFixture(t)
	f.heard()
	path, _, _ := f.signed(time.Now())
	f.call("GET", "/v1/requests?all=true", nil)
	f.call("POST", path+"/compare", object{"body": "my-private-bytes", "verified_at": "my-private-time"})
	f.call("POST", path+"/compare", object{"body": "my-private-bytes", "computed_signature": "my-private-bytes"})
	f.logged()
	if log := f.call("GET", "/v1/requests?all=true", nil); !strings.Contains(log.raw, path) || strings.Contains(log.raw, "my-private-bytes") {
		t.Errorf("the log is %s", log.raw)
	}
}

// A fault that forged an attempt is told from a mistake of the receiver.
func TestCompareNamesTheFault(t *testing.T) {
	f := newFixture(t)
	f.heard()
	path, body, _ := f.signed(time.Now())
	f.faulty(`[{"name": "half", "webhook": {"truncate": true}}]`)
	f.exec("update delivery_attempts set faults = '{half}'")
	got := f.call("POST", path+"/compare", object{"body": body[:len(body)/2]})
	if !strings.Contains(got.raw, `"same":true`) || !strings.Contains(got.raw, `"fault"`) || strings.Contains(got.raw, `"verifies":true`) {
		t.Errorf("answered %s", got.raw)
	}
}

// Callbacks of an operator's own API that fail are told beside the webhook, with their cause.
func TestWebhookNamesCallbacksThatFail(t *testing.T) {
	f := newFixture(t)
	f.heard()
	if got := f.call("GET", "/v1/webhook", nil); len(got.body["callbacks"].([]any)) != 0 {
		t.Fatalf("none was sent: %s", got.raw)
	}
	tx := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"].(string)
	id, err := payments.ParseID(tx)
	if err != nil {
		t.Fatal(err)
	}
	f.exec(`with n as (insert into native_callbacks (tenant, id, transaction_id, operator, kind, url, body, state, attempts, created_at)
			select tenant, id, id, 'mtn', '', 'http://10.0.0.7:8080/paid', '{}', 'failed', 1, created_at from transactions where id = $1 returning *),
		failed as (insert into unacknowledged_events (tenant, id, operator, created_at, attempt) select tenant, id, 'mtn', now(), 1 from n)
		insert into callback_attempts (tenant, id, attempt, started_at, duration_ms, error) select tenant, id, 1, now(), 31, $2 from n`,
		id[:], "events may not be sent to 10.0.0.7: it is not an address of the public Internet")
	got := f.call("GET", "/v1/webhook", nil)
	callbacks := got.body["callbacks"].([]any)
	if got.body["state"] != "healthy" || len(callbacks) != 1 {
		t.Fatalf("answered %s", got.raw)
	}
	one := callbacks[0].(object)
	advised := one["advice"].(object)
	if fieldsOf(one, "operator", "unacknowledged") != "mtn 1" || advised["cause"] != "receiver.callback_host" ||
		!strings.Contains(advised["message"].(string), "10.0.0.7:8080") || !strings.Contains(advised["action"].(string), "spec.callbackHosts") {
		t.Errorf("answered %s", got.raw)
	}
	if event := f.call("GET", "/v1/events/"+one["eventId"].(string), nil); event.status != http.StatusOK {
		t.Errorf("its event: %d: %s", event.status, event.raw)
	}
}

// An event names the host with its port, and nobody as its receiver after the webhook was removed.
func TestEventNamesItsReceiver(t *testing.T) {
	f := newFixture(t)
	f.heard()
	tx := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"].(string)
	f.attempted(tx, "failed", 0, nil)
	f.exec("update delivery_attempts set error = 'dial tcp 127.0.0.1:1: connect: connection refused', response_status = null")
	message := func() string {
		t.Helper()
		got := f.call("GET", "/v1/events/"+eventOf(tx), nil)
		advised, _ := got.body["advice"].(object)
		return fieldsOf(advised, "cause", "message", "action")
	}
	if got := message(); !strings.HasPrefix(got, "receiver.not_listening Nothing listens at 127.0.0.1:1.") {
		t.Errorf("it is %q", got)
	}
	f.config.Webhook = nil
	f.sandbox(f.config, key)
	if got := message(); !strings.HasPrefix(got, "receiver.former_url ") || !strings.Contains(got, "There is no webhook now") {
		t.Errorf("without a webhook it is %q", got)
	}
}

// A receiver that was down and acknowledges events now is not said to be down.
func TestWebhookTellsWhatIsOver(t *testing.T) {
	f := newFixture(t)
	f.heard()
	tx := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"].(string)
	f.attempted(tx, "failed", 0, nil)
	f.exec("update delivery_attempts set error = 'connection refused', response_status = null")
	f.exec("insert into unacknowledged_events (tenant, id, operator, created_at, attempt) select tenant, event_id, '', now(), attempt from delivery_attempts")
	f.exec("insert into endpoint_health (tenant, failures, last_failure, last_failure_at) select tenant, 1, 'connection refused', now() from delivery_attempts")
	said := func() string {
		t.Helper()
		got := f.call("GET", "/v1/webhook", nil)
		advised, _ := got.body["advice"].(object)
		return fieldsOf(got.body, "state") + " " + fieldsOf(advised, "cause", "message")
	}
	if got := said(); got != "failing receiver.not_listening Nothing listens at 127.0.0.1:1." {
		t.Errorf("while it is down: %q", got)
	}
	f.exec("update endpoint_health h set failures = 0, acknowledged_url = o.webhook_url from organizations o where o.tenant = h.tenant")
	if got := said(); got != "failing receiver.recovered An event was not delivered, and the receiver acknowledges events now." {
		t.Errorf("when it works again: %q", got)
	}
	f.config.Webhook.URL = "http://127.0.0.1:2/hook"
	f.sandbox(f.config, key)
	if got := said(); got != "failing receiver.former_url An event was not delivered to a former URL." {
		t.Errorf("at another URL: %q", got)
	}
}
