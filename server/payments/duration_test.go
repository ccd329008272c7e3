package payments

import (
	"testing"
	"time"
)

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 ms", 23 * time.Millisecond: "23 ms", 999 * time.Millisecond: "999 ms", time.Second: "1 s", 1740 * time.Millisecond: "1.7 s",
		9960 * time.Millisecond: "10.0 s", 40*time.Second + 700*time.Millisecond: "41 s", 59*time.Second + 900*time.Millisecond: "1 min",
		90 * time.Second: "1 min 30 s", time.Hour: "1 h", 61 * time.Minute: "1 h 1 min", 2*time.Hour + 30*time.Second: "2 h 1 min",
		24 * time.Hour: "1 d", 7200 * time.Hour: "300 d", -3 * time.Second: "3 s",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}
