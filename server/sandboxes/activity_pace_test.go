package sandboxes

import (
	"slices"
	"testing"
	"time"
)

// A sandbox that was quiet does not wait for the pause of a busy one.
func TestPaceOfActivity(t *testing.T) {
	const pause = 2 * time.Second
	var a activity
	at := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	taken := func(after time.Duration, happened ...int64) []int64 {
		a.note(happened...)
		tenants := a.take(at.Add(after), pause)
		slices.Sort(tenants)
		return tenants
	}
	for _, round := range []struct {
		after    time.Duration
		happened []int64
		want     []int64
	}{
		{0, []int64{1}, []int64{1}},
		{500 * time.Millisecond, []int64{1}, nil},
		{time.Second, []int64{1, 2}, []int64{2}},
		{1500 * time.Millisecond, nil, nil},
		{2 * time.Second, nil, []int64{1}},
		{3 * time.Second, nil, nil},
	} {
		if got := taken(round.after, round.happened...); !slices.Equal(got, round.want) {
			t.Errorf("after %v: %v, not %v", round.after, got, round.want)
		}
	}
	a.note(1)
	if got := a.take(at.Add(2*time.Second), 0); !slices.Equal(got, []int64{1}) {
		t.Errorf("without a pause: %v", got)
	}
}
