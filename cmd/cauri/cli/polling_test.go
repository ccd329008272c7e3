package cli

import (
	"slices"
	"testing"
	"time"
)

func newPolling(f *fixture) *polling {
	return &polling{api: f.api, interval: time.Millisecond, ready: func() {}, known: map[string]*followed{}}
}

// told is what a poll tells.
func told(t *testing.T, f *polling) (all []string) {
	t.Helper()
	err := f.poll(t.Context(), func(c change) error {
		if c.Transaction != nil {
			all = append(all, c.Type+" "+c.Transaction.Reference+" "+c.Transaction.Status)
		} else {
			all = append(all, c.Type+" "+c.Event.State)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPollingTellsChangesOnce(t *testing.T) {
	f := newFixture(t)
	f.run("pay", "--scenario=success", "--reference=before")
	follow := newPolling(f)
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{"what was there before", func() {}, nil},
		{"nothing", func() {}, nil},
		{"one that is final", func() { f.run("pay", "--scenario=success", "--reference=a") }, []string{"transaction a SUCCESS", "event recorded"}},
		{"one that waits", func() { f.run("pay", "--msisdn="+manual, "--reference=b", "--wait=false") }, []string{"transaction b PENDING"}},
		{"its answer", func() { f.run("approve", manual) }, []string{"transaction b SUCCESS", "event recorded"}},
		{"two, oldest first", func() {
			f.run("pay", "--scenario=success", "--reference=c")
			f.run("pay", "--scenario=blocked", "--reference=d")
		}, []string{"transaction c SUCCESS", "transaction d ACCOUNT_BLOCKED", "event recorded", "event recorded"}},
		{"a reset", func() { f.run("reset") }, nil},
		{"after it", func() { f.run("pay", "--scenario=success", "--reference=a") }, []string{"transaction a SUCCESS", "event recorded"}},
	}
	for _, step := range steps {
		step.do()
		if got := told(t, follow); !slices.Equal(got, step.want) {
			t.Errorf("%s: told %q, want %q", step.name, got, step.want)
		}
	}
}

// Changes of what is no longer among the newest are told too.
func TestPollingTellsChangesOfOldTransactions(t *testing.T) {
	f := newFixture(t)
	follow := newPolling(f)
	told(t, follow)
	f.run("pay", "--msisdn="+manual, "--reference=old", "--wait=false")
	told(t, follow)
	f.run("approve", manual)
	for _, one := range follow.known {
		one.seen = false // as if a hundred others had come
	}
	var got []string
	err := follow.readOpen(t.Context(), func(c change) error { got = append(got, c.Type); return nil })
	if want := []string{"transaction", "event"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("told %q, %v, want %q", got, err, want)
	}
}
