package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

// A manual clock stands at its start, and at its new one after a reset. A change of its mode waits for an advance.
func TestManualClockOfAResource(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Clock = &v1alpha1.Clock{Mode: "Manual", Start: "2026-11-22T10:00:00Z"}
		s.Spec.Seed = new(int64(42))
		s.Spec.Faults = []v1alpha1.Fault{{
			Name: "elsewhere", When: &v1alpha1.FaultCondition{Operator: "moov", Store: "kiosk"}, API: &v1alpha1.APIFault{Status: 503},
		}}
	})
	c.create(sandbox)
	c.sandboxReady(sandbox)
	shows := func(clock string) {
		t.Helper()
		c.until(func(ctx context.Context) string {
			c.refresh(sandbox)
			status := sandbox.Status.Clock
			if status == nil {
				return "the status has no clock"
			}
			got := string(status.Mode) + " " + status.Offset
			if status.Now != nil {
				got = string(status.Mode) + " " + status.Now.UTC().Format(time.RFC3339)
			}
			return cmp.Diff(clock, got)
		})
	}
	shows("Manual 2026-11-22T10:00:00Z")
	const told = "Everything in the spec is applied. Not used: spec.faults[0] (there is no environment moov), " +
		"spec.faults[0] (there is no store kiosk)."
	if got := message(sandbox.Status.Conditions, "Ready"); got != told {
		t.Errorf("Ready says %q, want %q", got, told)
	}
	if n := c.count("select count(*) from organizations where seed = 42 and jsonb_array_length(faults) = 1"); n != 1 {
		t.Error("the seed or the faults are not in the database")
	}

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Clock.Start = "2027-01-31T23:59:59+01:00" })
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady True Ready",
		"Ready True ClockStartWaits")
	shows("Manual 2026-11-22T10:00:00Z")
	const waits = "spec.clock.start waits for the next reset: the clock continues from where it is, and begins at 2027-01-31T23:59:59+01:00 " +
		"after `cauri reset` or a new value of spec.reset."
	if got := message(sandbox.Status.Conditions, "Ready"); !strings.HasPrefix(got, waits) {
		t.Errorf("Ready says %q, want %q", got, waits)
	}
	if got := columns(c.kubectl("get", "sbx", sandbox.Name)); !strings.Contains(got, "checkout  True  ClockStartWaits  ") {
		t.Errorf("kubectl shows\n%s", got)
	}
	c.until(func(context.Context) string { return cmp.Diff(1, c.reasons("SandboxEnvironment")["ClockStartWaits"]) })
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Reset = "1" })
	c.sandboxReady(sandbox)
	shows("Manual 2027-01-31T22:59:59Z")

	c.exec("update clocks set target = stands_at + interval '1 hour'")
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Clock = nil })
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False ClockAdvancing", "CredentialsReady True Ready",
		"Ready False ClockAdvancing", "Reconciling True Retrying")
	c.exec("update clocks set stands_at = target, target = null")
	c.sandboxReady(sandbox)
	if status := sandbox.Status.Clock; status.Mode != v1alpha1.RealClock || status.Now != nil || status.Offset == "" {
		t.Errorf("the clock is %+v", status)
	}
}

// A quota that is used up is the reason of Ready, which kubectl shows, and a warning, until there is room again.
func TestAUsedUpQuotaIsShown(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Quota = &v1alpha1.Quota{MonthlyTransactions: new(int64(3))}
	})
	c.create(sandbox)
	c.sandboxReady(sandbox)
	if quota := sandbox.Status.Quota; quota == nil || quota.Used != 0 || quota.RenewsAt.UTC().Day() != 1 || !quota.RenewsAt.After(time.Now()) {
		t.Errorf("the status has the quota %+v", quota)
	}
	c.exec("insert into quota_usage (tenant, month, used) select tenant, date_trunc('month', now() at time zone 'utc')::date, 2 from organizations")
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Quota.MonthlyTransactions = new(int64(2)) })
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady True Ready",
		"Ready True QuotaExceeded")
	want := "The quota is used up, 2 of 2 transactions of this month: the API answers 402 quota_exceeded until " +
		sandbox.Status.Quota.RenewsAt.UTC().Format(time.RFC3339) + " in the sandbox's time. Raise spec.quota.monthlyTransactions, or reset the sandbox."
	if got := message(sandbox.Status.Conditions, "Ready"); got != want {
		t.Errorf("Ready says %q, want %q", got, want)
	}
	if got := columns(c.kubectl("get", "sbx")); !strings.Contains(got, "checkout  True  QuotaExceeded  ") {
		t.Errorf("kubectl shows\n%s", got)
	}
	c.until(func(context.Context) string { return cmp.Diff(1, c.reasons("SandboxEnvironment")["QuotaExceeded"]) })

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Reset = "1" })
	c.sandboxReady(sandbox)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Quota = nil })
	c.sandboxReady(sandbox)
	if sandbox.Status.Quota != nil {
		t.Errorf("the status has the quota %+v", sandbox.Status.Quota)
	}
}

// exec changes the test's database.
func (c *cluster) exec(sql string) {
	c.Helper()
	if _, err := ledgertest.Connect(c, c.databaseURL).Exec(c.Context(), sql); err != nil {
		c.Fatal(fmt.Errorf("%s: %w", sql, err))
	}
}
