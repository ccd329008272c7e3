package console_test

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// signer is a signing secret.
const signer = "whsec_c2lnbmVy"

// refused stores a signed attempt to send the event of a new payment, which the receiver refused. It returns the path
// of the event's page, the body and the signatures.
func (f *fixture) refused(at time.Time) (path, body string, signed webhooks.Signed) {
	f.t.Helper()
	f.heard()
	tx := f.pay(key, stranger, "ref-1", `,"description":"Café"`)
	path = "/webhooks/" + evt(tx)
	f.attempted(tx, "queued", 401, "the receiver answered 401", "bad signature")
	text := f.signedIn(checkout, key).get(checkout + path).text
	body = html.UnescapeString(regexp.MustCompile(`data-copy="([^"]*)" aria-label="Copy the bytes"`).FindStringSubmatch(text)[1])
	id, err := payments.ParseID(tx)
	if err != nil {
		f.t.Fatal(err)
	}
	signed = webhooks.Sign(webhooks.Delivery{ID: id, Secret: signer, Body: []byte(body), At: at})
	f.exec("update delivery_attempts set signed_at = $1, signature = $2, standard_signature = $3, signed_with = $4",
		at, signed.Signature, signed.Standard, strings.Join(signed.Secrets, " "))
	return path, body, signed
}

func TestEventExplainsItsSignature(t *testing.T) {
	f := newFixture(t)
	path, body, signed := f.refused(time.Unix(1780061444, 0))
	got := f.signedIn(checkout, key).get(checkout + path)
	got.has(t, "payment.completed Retrying", "1 attempt failed. The next attempt is ", "Your receiver answers 401.", "It holds another secret",
		"It verifies other bytes", "answered 401 in 31 ms", "bad signature", "12:00:00 10:00:00 in your logs",
		fmt.Sprintf("All %d of them", len(body)), signed.Secrets[0], strings.TrimPrefix(signed.Signature, "sha256="), strings.TrimPrefix(signed.Standard, "v1,"),
		"webhook-timestamp 1780061444", "X-Service-Signature "+signed.Signature, body, "Send again now")
	if strings.Contains(got.text, signer) || strings.Contains(got.text, "token=x") {
		t.Error("the page has a secret")
	}
}

// The comparison finds whether the secret, the bytes or the timestamp of a receiver is wrong.
func TestEventFindsTheCause(t *testing.T) {
	f := newFixture(t)
	at := time.Unix(1780061444, 0)
	path, body, signed := f.refused(at)
	by := func(secret, body string) string { return webhooks.Signature(secret, []byte(body)) }
	parsed := strings.ReplaceAll(body, `":`, `": `)
	const (
		right, wrongSecret, unknownSecret = "Secret right", "Secret wrong", "Secret not known"
		sameBody, noBody                  = "Body right, byte for byte", "Body not compared"
	)
	b := f.viewer()
	for name, c := range map[string]struct {
		form url.Values
		want []string
	}{
		"all is right": {
			url.Values{"body": {body + "\r\n"}, "computed": {signed.Signature}, "fingerprint": {signed.Secrets[0]}, "timestamp": {"1780061444"}},
			[]string{sameBody, right, "Timestamp right", "Everything is right."},
		},
		"the body alone":  {url.Values{"body": {body}}, []string{sameBody, unknownSecret, "compare its fingerprint with " + signed.Secrets[0]}},
		"exact bytes":     {url.Values{"body": {base64.StdEncoding.EncodeToString([]byte(body + "\n"))}}, []string{"Body wrong from byte", "line breaks"}},
		"written again":   {url.Values{"body": {parsed}}, []string{"Body wrong from byte 9 on", "a framework parsed it and wrote it again", "First difference at byte 9."}},
		"another secret":  {url.Values{"fingerprint": {strings.ToUpper(secrets.Fingerprint("x"))}}, []string{noBody, wrongSecret, "The receiver holds the secret"}},
		"an empty secret": {url.Values{"fingerprint": {secrets.Fingerprint("")}}, []string{wrongSecret, "The receiver has an empty secret"}},
		"computed with another secret": {
			url.Values{"body": {body}, "computed": {by("whsec_b3RoZXI=", body)}},
			[]string{sameBody, wrongSecret, "The bytes are right, and the code computed another value", signed.Secrets[0]},
		},
		"computed with the key of the other header": {
			url.Values{"body": {body}, "computed": {by("signer", body)}, "fingerprint": {signed.Secrets[0]}},
			[]string{right, "holds the right secret, and its code computed another value", "takes the whole text of the secret"},
		},
		"computed without a secret":      {url.Values{"computed": {by("undefined", body)}}, []string{wrongSecret, "with an empty secret"}},
		"computed from other bytes":      {url.Values{"body": {parsed}, "computed": {by(signer, parsed)}}, []string{"Body wrong from byte 9 on", unknownSecret}},
		"computed, and nothing else":     {url.Values{"computed": {by("x", body)}}, []string{noBody, unknownSecret, "Send the bytes too"}},
		"computed, in another form":      {url.Values{"computed": {strings.TrimPrefix(signed.Signature, "sha256=")}}, []string{right, "in another form than the header"}},
		"another timestamp":              {url.Values{"timestamp": {"1780061445"}, "body": {body}}, []string{"Timestamp wrong", "which is 1780061444"}},
		"nothing":                        {url.Values{}, []string{"Fill in one field at least."}},
		"no fingerprint":                 {url.Values{"fingerprint": {"b293"}}, []string{"A fingerprint has 8 digits"}},
		"markup":                         {url.Values{"body": {hostile}, "computed": {hostile}}, []string{"Body wrong from byte 0 on"}},
		"a secret in place of its print": {url.Values{"fingerprint": {signer}}, []string{"This is a secret. It was not kept."}},
		"a secret as what was computed":  {url.Values{"computed": {signer}}, []string{"This is a secret. It was not kept."}},
	} {
		got := b.post(checkout, path, c.form)
		if got.status != http.StatusOK && got.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d: %s", name, got.status, got.text)
			continue
		}
		for _, want := range c.want {
			if page := words(got.text); !strings.Contains(page, want) {
				t.Errorf("%s: the page has no %q: %s", name, want, page[strings.Index(page, "Find the cause"):])
			}
		}
		if strings.Contains(got.text, signer) || strings.Contains(got.text, "<script>alert") {
			t.Errorf("%s: the page has a secret, or markup: %s", name, got.text)
		}
	}
	if err := f.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := f.log.List(t.Context(), f.of("checkout").Tenant, requests.Filter{Succeeded: true}, nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", entries); strings.Contains(text, signer) || strings.Contains(text, signed.Signature) {
		t.Errorf("the request log has what was compared: %s", text)
	}
}

// Without a webhook URL, an event is sent again to those who follow the sandbox, and the page has the command that does.
func TestEventIsSentAgainWithoutAWebhook(t *testing.T) {
	f := newFixture(t)
	tx := f.pay(key, stranger, "ref-1", "")
	b := f.signedIn(checkout, key)
	b.get(checkout+"/webhooks/"+evt(tx)).has(t, "Send again now", "--forward-to=http://localhost:3000/webhooks")
	if got := b.post(checkout, "/webhooks/"+evt(tx)+"/resend", nil); got.status != http.StatusConflict {
		t.Errorf("while nobody follows, answered %d", got.status)
	}
	f.exec("update organizations set followed_until = now() + interval '10 minutes'")
	if got := b.post(checkout, "/webhooks/"+evt(tx)+"/resend", nil); got.status != http.StatusSeeOther {
		t.Errorf("answered %d: %s", got.status, got.text)
	}
}

func TestEventIsSentAgain(t *testing.T) {
	f := newFixture(t)
	path, _, _ := f.refused(time.Now())
	f.exec("update events set state = 'failed', due_at = null")
	b := f.signedIn(checkout, key)
	b.get(checkout+path).has(t, "payment.completed Failed", "Send again now")
	got := b.post(checkout, path+"/resend", nil)
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "../../"+strings.TrimPrefix(path, "/") {
		t.Fatalf("%d to %q: %s", got.status, got.header.Get("Location"), got.text)
	}
	b.get(checkout+path).has(t, "payment.completed Retrying")
	if err := f.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := f.log.List(t.Context(), f.of("checkout").Tenant, requests.Filter{Succeeded: true}, nil, 1)
	if err != nil || len(entries) != 1 || entries[0].Path != "/console"+path+"/resend" || !strings.HasSuffix(entries[0].Actor, ", full") {
		t.Errorf("the request log has %+v, %v", entries, err)
	}

	viewer := f.viewer()
	if page := viewer.get(checkout + path); strings.Contains(page.text, "Send again now") {
		t.Error("a viewer has the button")
	}
	if got := viewer.post(checkout, path+"/resend", nil); got.status != http.StatusForbidden {
		t.Errorf("a viewer sent it again: %d", got.status)
	}
	f.exec("update events set leased = true, leased_until = now() + interval '1 minute', due_at = now()")
	if got := b.post(checkout, path+"/resend", nil); got.status != http.StatusConflict || !strings.Contains(got.text, "It is being sent at this moment") {
		t.Errorf("while it is sent: %d: %s", got.status, got.text)
	}
	f.config.Webhook = nil
	f.apply(f.config, key)
	if got := b.post(checkout, path+"/resend", nil); got.status != http.StatusConflict || !strings.Contains(got.text, "There is no webhook") {
		t.Errorf("without a webhook: %d: %s", got.status, got.text)
	}
	f.config.Suspended = true
	f.apply(f.config, key)
	f.of("checkout")
	b.get(checkout+path).has(t, "This sandbox is suspended.", "Your receiver answers 401.")
	if got := b.post(checkout, path+"/resend", nil); got.status != http.StatusConflict || !strings.Contains(got.text, "The sandbox is suspended") {
		t.Errorf("while it is suspended: %d: %s", got.status, got.text)
	}
}

func TestEventThatDoesNotExist(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	of := f.pay(otherKey, stranger, "of-another-sandbox", "")
	for _, id := range []string{evt(of), "evt_0000000000000000000000000", "x"} {
		got := b.get(checkout + "/webhooks/" + id)
		if got.status != http.StatusNotFound || !strings.Contains(words(got.text), "There is no such event") {
			t.Errorf("%s: %d: %s", id, got.status, got.text)
		}
		if got := b.post(checkout, "/webhooks/"+id+"/resend", nil); got.status != http.StatusNotFound {
			t.Errorf("%s was sent again: %d", id, got.status)
		}
	}
	if got := f.browser().get(checkout + "/webhooks/" + evt(of)); got.status != http.StatusSeeOther {
		t.Errorf("nobody: %d", got.status)
	}
}

// The page of an event has its next attempt, and the times of the retries after it.
func TestEventHasItsSchedule(t *testing.T) {
	f := newFixture(t)
	f.heard()
	f.config.Webhook.Retry = sandboxes.RetryPolicy{MaxRetries: 3, InitialDelay: time.Minute, Factor: 2, MaxDelay: time.Hour}
	f.apply(f.config, key)
	tx := f.pay(key, stranger, "ref-1", `,"scenario":"success"`)
	f.attempted(tx, "queued", 500, "the receiver answered 500", "")
	f.exec("update events set due_at = '2026-05-31T12:00:00Z'")
	b := f.signedIn(checkout, key)
	next := func() string { return words(part(b.get(checkout+"/webhooks/"+evt(tx)).text, `id="next"`, "</footer>")) }
	if got, want := next(), "Next attempt: 31 May, 12:00:00. If it fails, about: 31 May, 12:02:00 , 31 May, 12:06:00"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f.exec("update events set attempts = 3")
	if got := next(); !strings.HasSuffix(got, "12:00:00. It is the last one.") {
		t.Errorf("before the last attempt: %q", got)
	}
}
