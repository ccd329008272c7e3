package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/cmd/cauri/explain"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Each kind of id is explained, with its cause and no secret.
func TestExplainSaysWhatHappened(t *testing.T) {
	f := newFixture(t)
	file := filepath.Join(t.TempDir(), ".env.cauri")
	lines := EnvLine(variableURI, f.url) + EnvLine(variableAPIKey, testKey) + EnvLine(variableSecret, testSecret)
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var secretsTold []string
	explained := func(id, cause string) (found explain.Explanation) {
		t.Helper()
		got := run(t, Options{}, "explain", id, "--env-file="+file, "-o", "json")
		if err := json.Unmarshal([]byte(got.out), &found); err != nil {
			t.Fatalf("%s: %v, %v", id, err, got.err)
		}
		if found.Cause != cause || found.Summary == "" || len(found.Next) > 3 || cause != "" && len(found.Next) == 0 {
			t.Errorf("%s: the cause is %q and not %q\n%s", id, found.Cause, cause, got.out)
		}
		people := run(t, Options{}, "explain", id, "--env-file="+file)
		people.want(t, ExitSuccess, string(Sprintf("%s", found.Summary)))
		for _, secret := range []string{testKey, testSecret, strings.TrimPrefix(testSecret, webhooks.SecretPrefix)} {
			if strings.Contains(got.out+people.out, secret) {
				secretsTold = append(secretsTold, id)
			}
		}
		return found
	}
	paid := strings.TrimSpace(f.run("pay", "--scenario=success", "--reference=paid", "-o", "name").out)
	event := "evt_" + strings.TrimPrefix(paid, "TX_")
	well := strings.TrimSpace(f.run("pay", "--scenario=success", "--reference=well", "-o", "name").out)
	f.run("pay", "--scenario=pin_invalid", "--reference=forced", "--order-ref=order-1")
	pending := strings.TrimSpace(f.run("pay", "--msisdn="+manual, "--reference=asked", "--wait=false", "-o", "name").out)
	f.run("pay", "--msisdn=+250788999999", "--operator=mtn", "--country=RW", "--currency=RWF", "--reference=nobody")
	f.send(http.MethodPost, "/v1/payments", `{"amount":"25000","currency":"RWF","msisdn":"0530000901","reference":"wrong","application":"shop"}`)
	f.send(http.MethodPost, "/v1/payments", `{"amount":"25000","currency":"RWF","msisdn":"`+alice+`","reference":"text","application":"shop"}`)
	f.send(http.MethodPost, "/v1/payments", `{"amount":25000,"currency":"RWF","msisdn":"`+alice+`","reference":"store","application":"boutique"}`)
	f.send(http.MethodPost, "/v1/payments", `{"amount":7,"currency":"RWF","msisdn":"`+alice+`","reference":"paid","application":"shop"}`)
	f.send(http.MethodPost, "/v1/payments/"+paid+"/refund", `{"amount":999999,"reference":"back"}`)
	logged := strings.Fields(f.run("requests", "-o", "name").out) // the newest first
	explained(well, "")
	explained("well", "")
	explained(paid, "request.exceeds_refundable")
	explained(event, "event.no_webhook")
	explained("forced", "payment.scenario")
	explained("order-1", "payment.scenario")
	explained("nobody", "payment.unknown_msisdn")
	if found := explained(pending, "payment.waits_for_payer"); found.Next[0].Tool != "answer_payer" || found.Next[0].Arguments["transaction"] != pending {
		t.Errorf("the steps are %+v", found.Next)
	}
	explained(alice, "request.duplicate_reference")
	explained("+250788999999", "number.unknown")
	explained("0530000901", "request.number_form")
	for i, cause := range []string{
		"request.exceeds_refundable", "request.duplicate_reference", "request.unknown_store", "request.amount_form", "request.invalid_body",
	} {
		explained(logged[i], cause)
	}
	wrong := explained("wrong", "request.invalid_body")
	if len(wrong.Next) < 2 || !strings.Contains(wrong.Next[0].Change, "without quotes") || !strings.Contains(wrong.Next[1].Change, "digits only") {
		t.Errorf("what to send instead is %+v", wrong.Next)
	}
	explained("text", "request.amount_form")
	for _, missing := range []string{"TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE", "evt_1", "log_1", "chk_1", "never-seen"} {
		f.run("explain", missing).want(t, ExitRefused, missing)
	}
	if len(secretsTold) > 0 {
		t.Errorf("a secret is told about %q", secretsTold)
	}
}

// A signature that a program logged names the mistake, with nothing else.
func TestVerifyNamesHowASignatureWasComputed(t *testing.T) {
	f := newFixture(t)
	paid := strings.TrimSpace(f.run("pay", "--scenario=success", "-o", "name").out)
	event := "evt_" + strings.TrimPrefix(paid, "TX_")
	stored, err := f.api.Event(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	for _, rewritten := range webhooks.Rewrites([]byte(stored.Body))[:1] {
		got := f.run("verify", event, "--secret="+testSecret, "--computed="+webhooks.Signature(testSecret, rewritten.Body))
		got.want(t, ExitNegative, "signature.body_rewritten", "JavaScript (JSON.stringify)", "before anything parses them", "cauri resend")
		if strings.Contains(got.out, testSecret) {
			t.Error("the secret is told")
		}
	}
	f.run("verify", event, "--secret="+testSecret, "--computed="+webhooks.Signature(testSecret, []byte(stored.Body))).want(t, ExitSuccess, "ok")
	f.run("verify", "--secret="+testSecret, "--computed=sha256=00").want(t, ExitUsage, "needs the id of an event")
}
