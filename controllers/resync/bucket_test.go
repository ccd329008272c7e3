package resync

import (
	"testing"
	"time"
)

func TestBucket(t *testing.T) {
	now := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	b := newBucket(4, 50, now)
	taken := func() (n int) {
		for b.allow(now) {
			n++
		}
		return n
	}
	if n := taken(); n != 50 {
		t.Errorf("a full bucket has %d tokens", n)
	}
	now = now.Add(b.wait(now))
	if n := taken(); n != 1 {
		t.Errorf("after the time to wait there are %d tokens", n)
	}
	now = now.Add(2500 * time.Millisecond)
	if n := taken(); n != 10 {
		t.Errorf("%d tokens in two seconds and a half", n)
	}
	now = now.Add(time.Hour)
	if n := taken(); n != 50 {
		t.Errorf("%d tokens after a long time", n)
	}

	for range 2 {
		b.spend(now)
	}
	if wait := b.wait(now).Round(time.Millisecond); wait != 750*time.Millisecond {
		t.Errorf("with two tokens of debt, the next one comes after %v", wait)
	}
	for range 1000 {
		b.spend(now)
	}
	if wait := b.wait(now).Round(time.Millisecond); wait != 12750*time.Millisecond {
		t.Errorf("with the highest debt, the next token comes after %v", wait)
	}
	now = now.Add(time.Hour)
	b.putBack()
	if n := taken(); n != 50 {
		t.Errorf("%d tokens after one too many was put back", n)
	}
}
