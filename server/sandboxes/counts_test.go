package sandboxes_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// history adds n transactions like r1 whose ids were made at a time before now.
func (w *fixture) history(n int, ago time.Duration) {
	w.T.Helper()
	w.Exec(`insert into transactions
		select (jsonb_populate_record(t, jsonb_build_object('reference', gen_random_uuid(), 'id',
			lpad(to_hex((extract(epoch from now() - make_interval(secs => $2)) * 1e6)::bigint + i), 14, '0') || substr(md5(i::text || $2::text), 1, 18)))).*
		from transactions t, generate_series(1, $1::int) i where t.tenant = $3 and t.reference = 'r1'`, n, ago.Seconds(), w.Sandbox.Tenant)
}

func TestTransactionsAreCounted(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	w.Client("alice", alice, 5000)
	w.Create(w.Collection("r1", payments.UnknownMSISDN, alice))
	w.Pending("r2", alice)
	passthrough := w.Collection("r3", payments.Pending, "+250788000009")
	w.Create(passthrough)
	steps := []struct {
		what    string
		do      func()
		want    sandboxes.TransactionCounts
		written int // of them
	}{
		{"few", func() {}, sandboxes.TransactionCounts{Total: 3, Pending: 2}, 0},
		{"many", func() { w.history(2500, time.Hour) }, sandboxes.TransactionCounts{Total: 2503, Pending: 2}, 2500},
		{"many that may not be all", func() { w.history(1500, time.Minute) }, sandboxes.TransactionCounts{Total: 4003, Pending: 2}, 2500},
		{"the same again", func() {}, sandboxes.TransactionCounts{Total: 4003, Pending: 2}, 2500},
		{"one that came late", func() { w.history(1, 4*time.Minute) }, sandboxes.TransactionCounts{Total: 4004, Pending: 2}, 2500},
	}
	for _, step := range steps {
		step.do()
		for range 2 {
			if got := w.Apply().Transactions; got != step.want {
				t.Errorf("%s: %+v, want %+v", step.what, got, step.want)
			}
		}
		if got := w.Count("select coalesce(max(total), 0)::int from transaction_counts"); got != step.written {
			t.Errorf("%s: %d are written down, want %d", step.what, got, step.written)
		}
	}
	if got := other.Apply().Transactions; got != (sandboxes.TransactionCounts{}) {
		t.Errorf("the other sandbox has %+v", got)
	}
}

func TestUsedQuotaIsTold(t *testing.T) {
	w := newFixture(t, manual(&noon), func(c *sandboxes.Config) { c.MonthlyQuota = new(int64(2)) })
	w.Client("alice", alice, 5000)
	december := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	told := func(used int64, renews time.Time, exceeded bool) {
		t.Helper()
		quota := w.Apply().Quota
		if diff := cmp.Diff(&sandboxes.QuotaState{Limit: 2, Used: used, RenewsAt: renews}, quota); diff != "" || quota.Exceeded() != exceeded {
			t.Errorf("exceeded: %t, %s", quota.Exceeded(), diff)
		}
	}
	told(0, december, false)
	w.Create(w.Collection("r1", payments.Success, alice))
	told(1, december, false)
	w.Create(w.Collection("r2", payments.Success, alice))
	told(2, december, true)
	w.Stand(december)
	told(0, december.AddDate(0, 1, 0), false)
	w.Config.MonthlyQuota = nil
	if quota := w.Apply().Quota; quota != nil || quota.Exceeded() {
		t.Errorf("the quota is %+v", quota)
	}
}

func TestDeliveriesAreTold(t *testing.T) {
	w := newFixture(t)
	w.beside("other")
	at := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	w.Exec(`insert into endpoint_health (tenant, failures, failing_since, probe_at, delivered, failed, last_failure_at, last_failure)
		values ($1, 3, $2, $2, 41, 1, $2, 'the receiver answered 500')`, w.Sandbox.Tenant, at)
	want := webhooks.EndpointHealth{
		State: webhooks.EndpointPaused, Delivered: 41, Failed: 1, Failures: 3, FailingSince: &at, ProbeAt: &at,
		LastFailure: "the receiver answered 500", LastFailedAt: &at,
	}
	if diff := cmp.Diff(want, w.Apply().Endpoint); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What the controller says of the URL is a part of the receiver's health, until something is acknowledged there.
func TestForbiddenURLIsTold(t *testing.T) {
	w := newFixture(t)
	const reason = "events may not be sent to 127.0.0.1: it is this machine itself"
	w.Config.Webhook = &sandboxes.WebhookConfig{URL: "http://localhost/x", Retry: sandboxes.DefaultRetryPolicy, Refusal: reason}
	health := w.Apply().Endpoint
	if health.State != webhooks.EndpointFailing || health.Cause() != reason || !health.Fails() {
		t.Errorf("it is %+v", health)
	}
	w.Exec("insert into endpoint_health (tenant, probe_at, last_failure) values ($1, now(), 'no answer within 10s')", w.Sandbox.Tenant)
	if health = w.Apply().Endpoint; health.State != webhooks.EndpointPaused || health.Cause() != reason {
		t.Errorf("paused at a former URL, it is %+v", health)
	}
	w.Exec("update endpoint_health set probe_at = null, acknowledged_url = 'http://localhost/x'")
	if health = w.Apply().Endpoint; health.State != webhooks.EndpointHealthy || !health.Acknowledged || health.Refusal != "" {
		t.Errorf("what works nevertheless is %+v", health)
	}
	w.Config.Webhook.URL, w.Config.Webhook.Refusal = "http://shop.team.svc/x", ""
	if health = w.Apply().Endpoint; health.State != webhooks.EndpointHealthy || health.Acknowledged {
		t.Errorf("another URL is %+v", health)
	}
	w.Config.Webhook = nil
	if health = w.Apply().Endpoint; health.State != webhooks.EndpointNone {
		t.Errorf("no webhook is %+v", health)
	}
}

// Under a clock that stands all ids are of one moment, and rise in the order of recording: those that were recorded are never counted
// again.
func TestTransactionsAreCountedUnderAClock(t *testing.T) {
	w := newFixture(t)
	noon := time.Date(2031, time.March, 31, 12, 0, 0, 0, time.UTC)
	w.Stand(noon)
	w.Create(w.Collection("r1", payments.UnknownMSISDN, alice))
	w.Exec(`insert into transactions
		select (jsonb_populate_record(t, jsonb_build_object('reference', i::text, 'id',
			lpad(to_hex((extract(epoch from $1::timestamptz) * 1e6)::bigint + i), 14, '0') || substr(md5(i::text), 1, 18)))).*
		from transactions t, generate_series(1, 1500) i where t.tenant = $2`, noon, w.Sandbox.Tenant)
	w.Exec("update clocks set last_stamp = $1::timestamptz + interval '1500 microseconds'", noon)
	for range 2 {
		if got := w.Apply().Transactions; got.Total != 1501 {
			t.Errorf("%d transactions, want 1501", got.Total)
		}
	}
	if written := w.Count("select total from transaction_counts"); written != 1500 { // all but the last
		t.Errorf("%d are written down, want 1500", written)
	}
}
