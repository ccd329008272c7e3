package ledger

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// MostWaiting is the largest number of waiting events that is counted.
const MostWaiting = 1000

// Webhook is the endpoint of a sandbox's events, how deliveries to it go, and the secrets that sign them. Attempts to
// which a fault applied are no failures.
type Webhook struct {
	webhooks.EndpointHealth
	URL          string // without user, password and query; empty: none
	Types        []payments.Type
	Retry        sandboxes.RetryPolicy
	FirstFailure *EndpointAttempt // of Failures; nil: there is none, or its event was removed
	LastFailed   *EndpointAttempt // the last that failed
	NewestFailed *EndpointAttempt // of Newest; nil: there is none, or it was removed
	LastDelivery *EndpointAttempt // the last attempt that was acknowledged
	Waiting      int              // events to be sent, at most [MostWaiting]
	Secret       *SigningSecret   // nil: it is not made yet
	Previous     []SigningSecret  // sign too, the most recent first
}

// EndpointAttempt is an attempt with the event that it sent.
type EndpointAttempt struct {
	Event payments.EventID
	AttemptRecord
}

// SigningSecret tells a signing secret from others without showing it.
type SigningSecret struct {
	Fingerprint string
	Since       *time.Time // when the current secret began to sign, in real time; nil for a previous one
	Until       *time.Time // when a previous secret ends to sign, in real time; nil for the current one
}

// ReadWebhook returns the webhook of a tenant. It returns [postgres.ErrConfigChanged] if a reset has replaced the tenant.
func (l *Ledger) ReadWebhook(ctx context.Context, tenant int64) (*Webhook, error) {
	q := l.core.Tenant(tenant)
	row, err := q.GetWebhook(ctx, tenant, MostWaiting)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, postgres.ErrConfigChanged // by a reset, since the statement before
	}
	if err != nil {
		return nil, postgres.Classify(err, "reading the webhook")
	}
	w := &Webhook{URL: shownURL(row.WebhookURL), Waiting: int(row.Waiting)}
	if w.EndpointHealth, err = sandboxes.ReadEndpointHealth(ctx, q, tenant); err != nil {
		return nil, postgres.Classify(err, "reading how the receiver is")
	}
	w.Retry = sandboxes.RetryPolicy{
		MaxRetries: int(row.WebhookMaxRetries), InitialDelay: time.Duration(row.WebhookInitialDelayMs) * time.Millisecond,
		Factor: row.WebhookFactor, MaxDelay: time.Duration(row.WebhookMaxDelayMs) * time.Millisecond,
	}
	for _, t := range row.WebhookTypes {
		w.Types = append(w.Types, payments.Type(t))
	}
	ends := row.OlderSecretsUntil
	if row.PreviousSecretUntil != nil {
		ends = append([]time.Time{*row.PreviousSecretUntil}, ends...)
	}
	w.Secret, w.Previous = signingSecrets(row.SecretFingerprints, row.SecretSince, ends, row.Now)

	ids := []pgtype.UUID{row.FirstFailed, row.LastFailed, row.LastAcked}
	numbers := []int32{orZero(row.FirstFailedAttempt), orZero(row.LastFailedAttempt), orZero(row.LastAckedAttempt)}
	if w.Newest != nil {
		ids, numbers = append(ids, postgres.UUID(w.Newest.ID)), append(numbers, int32(w.Newest.Attempt))
	}
	attempts, err := q.GetAttempts(ctx, ids, numbers, tenant)
	if err != nil {
		return nil, postgres.Classify(err, "reading the last attempts")
	}
	for i, into := range []**EndpointAttempt{&w.FirstFailure, &w.LastFailed, &w.LastDelivery, &w.NewestFailed}[:len(ids)] {
		for j := range attempts {
			if a := &attempts[j]; a.EventID == ids[i] && a.Attempt == numbers[i] {
				*into = &EndpointAttempt{payments.EventID{ID: a.EventID.Bytes}, attemptOf(a)}
			}
		}
	}
	return w, nil
}

// shownURL returns a URL without what may be a credential.
func shownURL(text *string) string {
	if text == nil {
		return ""
	}
	u, err := url.Parse(*text)
	if err != nil || egress.Unclear(u) {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// signingSecrets returns the current secret and the previous ones that still sign. Their fingerprints are in this order;
// ends are those of the previous ones.
func signingSecrets(
	fingerprints []string, since *time.Time, ends []time.Time, now time.Time,
) (current *SigningSecret, previous []SigningSecret) {
	if len(fingerprints) == 0 {
		return nil, nil
	}
	for i, until := range ends {
		if i+1 < len(fingerprints) && until.After(now) {
			previous = append(previous, SigningSecret{Fingerprint: fingerprints[i+1], Until: &until})
		}
	}
	return &SigningSecret{Fingerprint: fingerprints[0], Since: since}, previous
}

func orZero(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
