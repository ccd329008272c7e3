package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// webhook describes the webhook of the sandbox in a line.
func (w *fixture) webhook() string {
	w.T.Helper()
	got, err := w.ReadWebhook(w.T.Context(), w.Sandbox.Tenant)
	if err != nil {
		w.T.Fatal(err)
	}
	status := func(a *ledger.EndpointAttempt) string {
		if a == nil {
			return "none"
		}
		if a.ResponseStatus == nil {
			return *a.Error
		}
		return fmt.Sprint(*a.ResponseStatus)
	}
	return fmt.Sprintf("%s, %d in a row, first %s, last %s, acknowledged %s, %d waiting", got.State, got.Failures, status(got.FirstFailure),
		status(got.LastFailed), status(got.LastDelivery), got.Waiting)
}

func TestHealthNamesItsAttempts(t *testing.T) {
	t.Parallel()
	badGateway := ledger.AttemptResult{State: ledger.EventQueued, ResponseStatus: 502, Error: "the receiver answered 502", RetryAfter: time.Hour}
	for name, c := range map[string]struct {
		batches [][]ledger.AttemptResult
		want    string
	}{
		"never tried":              {nil, "healthy, 0 in a row, first none, last none, acknowledged none, 0 waiting"},
		"acknowledges":             {[][]ledger.AttemptResult{{acked}}, "healthy, 0 in a row, first none, last none, acknowledged 204, 0 waiting"},
		"fails":                    {[][]ledger.AttemptResult{{badGateway, exhausted}}, "failing, 2 in a row, first 502, last no answer within 10s, acknowledged none, 1 waiting"},
		"fails again":              {[][]ledger.AttemptResult{{badGateway}, {exhausted}}, "failing, 2 in a row, first 502, last no answer within 10s, acknowledged none, 1 waiting"},
		"fails, then acknowledges": {[][]ledger.AttemptResult{{exhausted, acked}}, "failing, 0 in a row, first none, last no answer within 10s, acknowledged 204, 0 waiting"},
		"acknowledges, then fails": {[][]ledger.AttemptResult{{acked}, {exhausted, badGateway}}, "failing, 2 in a row, first no answer within 10s, last 502, acknowledged 204, 1 waiting"},
		"works for a moment only":  {[][]ledger.AttemptResult{{exhausted}, {acked, badGateway}}, "failing, 1 in a row, first 502, last 502, acknowledged 204, 1 waiting"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			for _, batch := range c.batches {
				w.owe(len(batch))
				w.attempts(batch...)
			}
			if diff := cmp.Diff(c.want, w.webhook()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// judged says how the receiver is: its state, how many events are unacknowledged, and the newest of them.
func (w *fixture) judged() string {
	w.T.Helper()
	got, err := w.Health(w.T.Context(), w.Sandbox.Tenant)
	if err != nil {
		w.T.Fatal(err)
	}
	newest := "none"
	if n := got.Newest; n != nil {
		newest = fmt.Sprintf("%s (%t, attempt %d: %s)", w.referenceOf(n.ID), n.Waits, n.Attempt, n.Failure)
	}
	return fmt.Sprintf("%s %t, %d, newest %s", got.State, got.Acknowledged, got.Unacknowledged, newest)
}

func (w *fixture) referenceOf(id payments.ID) string {
	return read[string](w, "select reference from transactions where id = $1", postgres.UUID(id))
}

// A receiver is not well while an event waits after, or has ended failed by, an attempt on which no fault acted, until the event is
// delivered, sent again, or a day old in sandbox time.
func TestReceiverIsJudgedByEachEvent(t *testing.T) {
	w := newFixture(t)
	finish := func(reference string, result ledger.AttemptResult) {
		t.Helper()
		for _, e := range w.Lease(ledgertest.Body()) {
			if e.Transaction.Reference == reference {
				w.Finish(&e, result)
				return
			}
		}
		t.Fatalf("%s is not due", reference)
	}
	expect := func(when, want string) {
		t.Helper()
		if got := w.judged(); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	owes := func(reference string) payments.ID {
		t.Helper()
		return w.Create(w.Collection(reference, payments.PINInvalid, alice)).ID
	}
	expect("at first", "healthy false, 0, newest none")
	owes("a")
	expect("before the first attempt", "healthy false, 0, newest none")
	finish("a", turnedAway)
	expect("it waits", "failing false, 1, newest a (true, attempt 1: the receiver answered 500)")
	owes("b")
	finish("b", acked)
	expect("another one was acknowledged", "failing true, 1, newest a (true, attempt 1: the receiver answered 500)")
	w.Due()
	finish("a", exhausted)
	expect("its retries are used up", "failing false, 1, newest a (false, attempt 2: no answer within 10s)")
	w.RunAhead(time.Hour)
	c := owes("c")
	finish("c", exhausted)
	expect("two", "failing false, 2, newest c (false, attempt 1: no answer within 10s)")
	if got, err := w.Health(t.Context(), w.Sandbox.Tenant); err != nil || got.OldestAt == nil || !got.OldestAt.Equal(read[time.Time](w,
		"select e.created_at from events e join transactions t using (tenant, id) where t.reference = 'a'")) {
		t.Errorf("the oldest is of %v, %v", got.OldestAt, err)
	}
	w.RunAhead(24 * time.Hour)
	expect("one of them is a day old", "failing false, 1, newest c (false, attempt 1: no answer within 10s)")
	if _, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, c); err != nil {
		t.Fatal(err)
	}
	expect("it is sent again", "healthy false, 0, newest none")
	finish("c", turnedAway)
	expect("in vain", "failing false, 1, newest c (true, attempt 2: the receiver answered 500)")
	w.Due()
	finish("c", acked)
	expect("it is delivered", "healthy true, 0, newest none")
}

// What was attempted at a former URL is told apart, also while the first attempts at the present one fail.
func TestReceiverIsJudgedByItsPresentURL(t *testing.T) {
	w := newFixture(t)
	w.owe(2)
	w.attempts(exhausted, exhausted) // no retry is due
	health := func() *webhooks.EndpointHealth {
		t.Helper()
		got, err := w.Health(t.Context(), w.Sandbox.Tenant)
		if err != nil {
			t.Fatal(err)
		}
		return &got.EndpointHealth
	}
	if h := health(); h.Failures != 2 || h.Newest.Former || h.URLChangedAt != nil {
		t.Fatalf("before: %+v, %+v", h, h.Newest)
	}
	w.Config.Webhook.URL = "http://elsewhere.example/"
	w.Apply()
	w.Reload()
	h := health()
	if h.State != webhooks.EndpointFailing || h.Failures != 0 || h.FailingSince != nil || h.URLChangedAt == nil || !h.Newest.Former ||
		h.Unacknowledged != 2 {
		t.Errorf("after the change: %+v, %+v", h, h.Newest)
	}
	if got, err := w.ReadWebhook(t.Context(), w.Sandbox.Tenant); err != nil || got.FirstFailure != nil || got.LastFailed == nil {
		t.Errorf("the first of no failures is %+v, %v", got.FirstFailure, err)
	}
	w.owe(1)
	w.attempts(acked)
	if h := health(); !h.Acknowledged || h.Unacknowledged != 2 || !h.Newest.Former {
		t.Errorf("after a delivery: %+v, %+v", h, h.Newest)
	}
}

// An attempt that was on its way to the former URL when the URL changed says nothing about the present one.
func TestReceiverIsJudgedAtItsPresentURL(t *testing.T) {
	w := newFixture(t)
	former := w.Config.Webhook.URL
	to := func(url string) {
		t.Helper()
		w.Config.Webhook.URL = url
		w.Apply()
		w.Reload()
	}
	expect := func(when, want string) {
		t.Helper()
		if got := w.judged(); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	finish := func(attempts ...ledger.FinishedAttempt) {
		t.Helper()
		for i, kept := range w.FinishAll(attempts...) {
			if !kept {
				t.Fatalf("attempt %d was not kept", i)
			}
		}
	}
	w.owe(5)
	slow := w.Lease(ledgertest.Body())
	attempt := func(i int, result ledger.AttemptResult) ledger.FinishedAttempt {
		result.StartedAt = time.Now()
		return ledger.FinishedAttempt{Event: &slow[i], AttemptResult: result}
	}
	to("https://dead.example/hook")
	finish(attempt(0, acked))
	expect("the former URL answers late, for the first time", "healthy false, 0, newest none")
	to(former)
	finish(attempt(1, acked))
	expect("it answers, and is the present one", "healthy true, 0, newest none")
	to("https://dead.example/hook")
	finish(attempt(2, acked))
	expect("it answers late again", "healthy false, 0, newest none")
	w.owe(1)
	present := w.leaseOne(ledgertest.Body())
	delivered := acked
	delivered.StartedAt = time.Now()
	finish(ledger.FinishedAttempt{Event: present, AttemptResult: delivered}, attempt(3, acked))
	expect("the present one answers before the former", "healthy true, 0, newest none")
	finish(attempt(4, ledger.AttemptResult{State: ledger.EventQueued, Error: "no answer within 10s"}))
	got, err := w.Health(t.Context(), w.Sandbox.Tenant)
	if err != nil || !got.Acknowledged || got.Failures != 0 || got.Unacknowledged != 1 {
		t.Errorf("the former URL fails late: %+v, %v", got.EndpointHealth, err)
	}
}

func TestWebhookOfAPausedEndpoint(t *testing.T) {
	w := fallen(t, 5)
	got, err := w.ReadWebhook(t.Context(), w.Sandbox.Tenant)
	if err != nil || got.State != webhooks.EndpointPaused || got.ProbeAt == nil || got.Failures != 20 || got.Waiting != 5 {
		t.Errorf("it is %+v, %v", got, err)
	}
	if got.FirstFailure != nil {
		t.Errorf("the first failure is %+v, and its attempt was removed", got.FirstFailure)
	}
}

// Only fingerprints of secrets are shown, and of a URL only what is no credential.
func TestWebhookShowsNoSecret(t *testing.T) {
	w := newFixture(t)
	w.Exec(`update organizations set webhook_url = 'https://u:p@shop.example/hook?token=t#f', secret_fingerprints = '{aaaaaaaa,bbbbbbbb,cccccccc}',
		previous_secret_until = now() + interval '1 hour', older_secrets_until = array[now()]`)
	got, err := w.ReadWebhook(t.Context(), w.Sandbox.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	if got.URL != "https://shop.example/hook" || got.Secret.Fingerprint != "aaaaaaaa" || len(got.Previous) != 1 ||
		got.Previous[0].Fingerprint != "bbbbbbbb" {
		t.Errorf("it is %+v", got)
	}
	w.Exec("update organizations set webhook_url = null")
	if got, err := w.ReadWebhook(t.Context(), w.Sandbox.Tenant); err != nil || got.State != webhooks.EndpointNone || got.URL != "" {
		t.Errorf("it is %+v, %v", got, err)
	}
}
