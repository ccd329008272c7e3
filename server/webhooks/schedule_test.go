package webhooks_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/webhooks"
)

var standard = webhooks.Schedule{MaxRetries: 5, InitialDelay: 5 * time.Second, Factor: 5, MaxDelay: time.Hour}

var failed = webhooks.Result{Status: 500, Err: errors.New("the receiver answered 500")}

// exactly is a chance that leaves the delay as it is.
func exactly() float64 { return 0.5 }

func TestScheduleOfTheContract(t *testing.T) {
	t.Parallel()
	var got []time.Duration
	for attempts := 1; ; attempts++ {
		delay, again := standard.Next(attempts, failed, exactly)
		if !again {
			break
		}
		got = append(got, delay)
	}
	want := []time.Duration{5 * time.Second, 25 * time.Second, 125 * time.Second, 625 * time.Second, 3125 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("delays (-want +got):\n%s", diff)
	}
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	endless := standard
	endless.MaxRetries = math.MaxInt
	cases := map[string]struct {
		schedule webhooks.Schedule
		attempts int
		result   webhooks.Result
		chance   float64
		delay    time.Duration
		again    bool
	}{
		"the last retry":   {standard, 5, failed, 0.5, 3125 * time.Second, true},
		"retries used up":  {standard, 6, failed, 0.5, 0, false},
		"no retries":       {webhooks.Schedule{InitialDelay: time.Second, Factor: 2, MaxDelay: time.Hour}, 1, failed, 0.5, 0, false},
		"the cap":          {endless, 6, failed, 0.5, time.Hour, true},
		"the cap, far out": {endless, 1_000_000, failed, 0.5, time.Hour, true},
		"a huge factor": {webhooks.Schedule{MaxRetries: 9, InitialDelay: time.Second, Factor: 1e308, MaxDelay: time.Hour}, 9, failed, 0.5,
			time.Hour, true},
		"a factor of one": {webhooks.Schedule{MaxRetries: 9, InitialDelay: time.Second, Factor: 1, MaxDelay: time.Hour}, 9, failed, 0.5,
			time.Second, true},
		"a first delay of 0": {webhooks.Schedule{MaxRetries: 9, Factor: 5, MaxDelay: time.Hour}, 9, failed, 0.5, 0, true},
		"a first delay of 0, a huge factor": {
			webhooks.Schedule{MaxRetries: 9, Factor: 1e308, MaxDelay: time.Hour}, 9, failed, 0.5, 0, true,
		},
		"the longest cap of all": {
			webhooks.Schedule{MaxRetries: 99, InitialDelay: time.Second, Factor: 1e308, MaxDelay: math.MaxInt64 / 2}, 99, failed, 0.5,
			math.MaxInt64 / 2, true,
		},
		"first delay beyond the cap": {webhooks.Schedule{MaxRetries: 9, InitialDelay: time.Hour, Factor: 1, MaxDelay: time.Minute}, 1, failed,
			0.5, time.Minute, true},
		"jitter at its least": {standard, 1, failed, 0, 4500 * time.Millisecond, true},
		"jitter at its most":  {standard, 1, failed, math.Nextafter(1, 0), 5500 * time.Millisecond, true},

		"Retry-After of 0 s less than the delay": {standard, 2, webhooks.Result{Status: 429, RetryAfter: time.Second}, 0.5, 25 * time.Second,
			true},
		"Retry-After beyond the delay":         {standard, 1, webhooks.Result{Status: 503, RetryAfter: time.Minute}, 0.5, time.Minute, true},
		"Retry-After beyond the cap":           {standard, 1, webhooks.Result{Status: 503, RetryAfter: 3 * time.Hour}, 0.5, time.Hour, true},
		"Retry-After when retries are used up": {standard, 6, webhooks.Result{Status: 429, RetryAfter: time.Minute}, 0.5, 0, false},
		"410 stops":                            {standard, 1, webhooks.Result{Status: 410}, 0.5, 0, false},
		"404 does not":                         {standard, 1, webhooks.Result{Status: 404}, 0.5, 5 * time.Second, true},
		"nor does no answer":                   {standard, 1, webhooks.Result{}, 0.5, 5 * time.Second, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			delay, again := c.schedule.Next(c.attempts, c.result, func() float64 { return c.chance })
			if again != c.again || (delay-c.delay).Abs() > time.Duration(float64(c.delay)*1e-9) {
				t.Errorf("got %s, %t, want %s, %t", delay, again, c.delay, c.again)
			}
		})
	}
}

func TestAfterProbe(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]time.Duration{0: 0, time.Minute: time.Minute, 3 * time.Hour: time.Hour} {
		if got := standard.AfterProbe(webhooks.Result{Status: 503, RetryAfter: after}); got != want {
			t.Errorf("after a Retry-After of %s it waits %s, want %s", after, got, want)
		}
	}
}
