package payments_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

// lowest and highest are draws from [0, n) that find the ends of a range.
func lowest(int64) int64    { return 0 }
func highest(n int64) int64 { return n - 1 }

// scenarioRow is a row of the contract's scenario table.
type scenarioRow struct {
	Status   payments.Status
	Forced   bool
	Min, Max time.Duration
}

func TestScenarioTable(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	want := map[payments.Scenario]scenarioRow{
		"success":        {"SUCCESS", true, 800 * ms, 1800 * ms},
		"pin_invalid":    {"PIN_INVALID", true, 600 * ms, 1400 * ms},
		"low_balance":    {"INSUFFICIENT_FUNDS", true, 600 * ms, 1400 * ms},
		"timeout":        {"TIMEOUT", true, 25_000 * ms, 35_000 * ms},
		"blocked":        {"ACCOUNT_BLOCKED", true, 500 * ms, 1000 * ms},
		"cancelled":      {"USER_CANCELLED", true, 3000 * ms, 8000 * ms},
		"unknown_msisdn": {"UNKNOWN_MSISDN", true, 400 * ms, 900 * ms},
		"limit_exceeded": {"LIMIT_EXCEEDED", true, 500 * ms, 1000 * ms},
		"maintenance":    {"SERVICE_UNAVAILABLE", true, 200 * ms, 600 * ms},
		"duplicate":      {"DUPLICATE_REFERENCE", true, 200 * ms, 500 * ms},
	}
	got := make(map[payments.Scenario]scenarioRow)
	for _, s := range payments.Scenarios {
		status, forced := s.Status()
		got[s] = scenarioRow{status, forced, status.Latency(lowest), status.Latency(highest)}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scenarios (-want +got):\n%s", diff)
	}
}

func TestScenarioThatForcesNothing(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]payments.Scenario{"none": "", "unknown": "lost_in_transit", "upper case": "SUCCESS"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if status, forced := s.Status(); forced || status != "" {
				t.Errorf("Status() = %q, %t, want none", status, forced)
			}
		})
	}
}

// TestLatencyOfPending checks that a payer who is asked takes as long as one who succeeds.
func TestLatencyOfPending(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func(int64) int64{"lowest": lowest, "highest": highest} {
		if got, want := payments.Pending.Latency(draw), payments.Success.Latency(draw); got != want {
			t.Errorf("%s latency of PENDING is %s, want %s", name, got, want)
		}
	}
}

func TestLatencyDrawsFromTheWholeRange(t *testing.T) {
	t.Parallel()
	var asked int64
	got := payments.Success.Latency(func(n int64) int64 {
		asked = n
		return 234
	})
	if asked != 1001 || got != 1034*time.Millisecond {
		t.Errorf("drew from %d values and got %s, want 1001 values and 1.034s", asked, got)
	}
}

func TestScaleLatency(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		latency time.Duration
		percent int
		want    time.Duration
	}{
		"unscaled":          {1234 * time.Millisecond, 100, 1234 * time.Millisecond},
		"answered at once":  {35 * time.Second, 0, 0},
		"ten times as long": {35 * time.Second, 1000, 350 * time.Second},
		"half":              {1001 * time.Millisecond, 50, 500_500 * time.Microsecond},
		"one percent":       {200 * time.Millisecond, 1, 2 * time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := payments.ScaleLatency(tt.latency, tt.percent); got != tt.want {
				t.Errorf("ScaleLatency(%s, %d) = %s, want %s", tt.latency, tt.percent, got, tt.want)
			}
		})
	}
}
