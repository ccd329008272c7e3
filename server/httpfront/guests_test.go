package httpfront

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/cauri-dev/cauri/server/postgres"
)

func newGuests() *guests {
	return &guests{rates: map[string]*rate.Limiter{}, turns: map[string]turns{}}
}

// Each guest has its own number of requests, and is told when there are more.
func TestGuestsHaveALimitEach(t *testing.T) {
	t.Parallel()
	g, now := newGuests(), time.Now()
	one, another := Guest{ID: "one", PerSecond: 0.5, Burst: 3}, Guest{ID: "another", PerSecond: 0.5, Burst: 3}
	granted := func(from Guest, at time.Time) Allowance {
		a, _ := g.count("org", from, at)
		return a
	}
	for i := range 3 {
		if a := granted(one, now); !a.Granted || a.remaining != 2-i {
			t.Errorf("request %d: %+v", i, a)
		}
	}
	if a := granted(one, now); a.Granted || a.Limit != 30 || a.Reset() != "2" {
		t.Errorf("the fourth request: %+v, again after %s s", a, a.Reset())
	}
	if a := granted(another, now); !a.Granted {
		t.Errorf("another guest: %+v", a)
	}
	if a := granted(one, now.Add(2*time.Second)); !a.Granted {
		t.Errorf("two seconds later: %+v", a)
	}
}

// The guests that are forgotten are those that would get nothing more by it.
func TestGuestsAreForgotten(t *testing.T) {
	t.Parallel()
	g, now := newGuests(), time.Now()
	g.count("org", Guest{ID: "busy", PerSecond: 0.001, Burst: 1}, now)
	for i := range guestsKnown {
		g.count("org", Guest{ID: string(rune(0x10000 + i)), PerSecond: 1, Burst: 1}, now)
	}
	g.count("org", Guest{ID: "new", PerSecond: 1, Burst: 1}, now.Add(time.Minute))
	if len(g.rates) != 2 || g.rates["busy"] == nil {
		t.Errorf("%d guests are known, want the busy one and the new one", len(g.rates))
	}
}

// The guests of a sandbox are served one after the other beyond a few, and those of another do not wait for them.
func TestGuestsTakeTurns(t *testing.T) {
	t.Parallel()
	g := newGuests()
	turnsOf := func(organization string) turns {
		_, of := g.count(organization, Guest{ID: organization, PerSecond: 1, Burst: 9}, time.Now())
		return of
	}
	of := turnsOf("a")
	var last func()
	for range guestsAtOnce {
		var err error
		if last, err = of.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := turnsOf("a").acquire(ended); !errors.Is(err, postgres.ErrOverloaded) {
		t.Errorf("one more: %v", err)
	}
	if _, err := turnsOf("b").acquire(t.Context()); err != nil {
		t.Errorf("of another sandbox: %v", err)
	}
	served := make(chan error)
	go func() {
		_, err := turnsOf("a").acquire(t.Context())
		served <- err
	}()
	last()
	if err := <-served; err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

// The answers that guests do not read leave room for those of the holder of the API key.
func TestGuestsLeaveRoomForAnswers(t *testing.T) {
	t.Parallel()
	const size = largeAnswer
	u := &unreadAnswers{bounds: UnreadBounds{Process: 10 * size, Sandbox: 4 * size}, of: map[string]unread{}}
	taken := func(organization string, guest bool) (n int, release func()) {
		for {
			end, ok := u.acquire(organization, guest, size)
			if !ok {
				return n, release
			}
			n, release = n+1, end
		}
	}
	guests, end := taken("a", true)
	if owners, _ := taken("a", false); guests != 2 || owners != 2 {
		t.Errorf("guests have %d answers and the owner %d, of four", guests, owners)
	}
	end()
	if more, _ := taken("a", true); more != 1 {
		t.Errorf("guests have %d more after one was read", more)
	}
	taken("b", true)
	if more, _ := taken("c", true); more != 1 {
		t.Errorf("guests of a third sandbox have %d answers, of half of the process' ten with four others", more)
	}
}
