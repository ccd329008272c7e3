package resync

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/postgres"
)

// An open breaker blocks every resource once, and returns exactly these when it closes.
func TestBreaker(t *testing.T) {
	b := NewBreaker()
	if err := b.Check(named("before")); err != nil {
		t.Errorf("blocked by a closed breaker: %v", err)
	}
	if !b.open(postgres.ErrUnavailable) || b.open(postgres.ErrUnavailable) {
		t.Error("a breaker opens once")
	}
	for _, name := range []string{"b", "a", "b"} {
		if err := b.Check(named(name)); !errors.Is(err, postgres.ErrUnavailable) {
			t.Errorf("the error of %s is %v", name, err)
		}
	}
	names := func(changes []Change) (names []string) {
		for _, c := range changes {
			names = append(names, c.Key.Name)
		}
		return names
	}
	if diff := cmp.Diff([]string{"b", "a"}, names(b.close())); diff != "" {
		t.Error(diff)
	}
	if err := b.Check(named("after")); err != nil || len(b.close()) != 0 || !b.open(postgres.ErrUnavailable) {
		t.Errorf("the breaker did not close: %v", err)
	}
}
