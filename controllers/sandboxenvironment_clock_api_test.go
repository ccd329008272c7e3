package controllers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/ledger/ledgertest"
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

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Clock.Start, s.Spec.Reset = "2027-01-31T23:59:59+01:00", "1"
	})
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

// exec changes the test's database.
func (c *cluster) exec(sql string) {
	c.Helper()
	if _, err := ledgertest.Connect(c, c.databaseURL).Exec(c.Context(), sql); err != nil {
		c.Fatal(fmt.Errorf("%s: %w", sql, err))
	}
}
