package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
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
		status(got.LastFailure), status(got.LastDelivery), got.Waiting)
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
		"fails, then acknowledges": {[][]ledger.AttemptResult{{exhausted, acked}}, "healthy, 0 in a row, first none, last no answer within 10s, acknowledged 204, 0 waiting"},
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

func TestWebhookOfAPausedEndpoint(t *testing.T) {
	w := fallen(t, 5)
	got, err := w.ReadWebhook(t.Context(), w.Sandbox.Tenant)
	if err != nil || got.State != ledger.EndpointPaused || got.NextProbeAt == nil || got.Failures != 20 || got.Waiting != 5 {
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
	if got, err := w.ReadWebhook(t.Context(), w.Sandbox.Tenant); err != nil || got.State != ledger.EndpointNone || got.URL != "" {
		t.Errorf("it is %+v, %v", got, err)
	}
}
