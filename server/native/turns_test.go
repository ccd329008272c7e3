package native

import (
	"context"
	"testing"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// A sandbox has one turn at a time, and a process has two. A caller who waits too long is refused, and leaves no state.
func TestRSATurns(t *testing.T) {
	p := newRSATurns()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	first, err := p.acquire(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.acquire(gone, 1); !operatorapi.IsRefused(err, operatorapi.Unavailable) {
		t.Errorf("a second turn of a sandbox: %v", err)
	}
	second, err := p.acquire(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.acquire(gone, 3); !operatorapi.IsRefused(err, operatorapi.Unavailable) {
		t.Errorf("a third turn: %v", err)
	}
	waits := make(chan error)
	go func() {
		release, err := p.acquire(t.Context(), 1)
		if err == nil {
			release()
		}
		waits <- err
	}()
	first()
	if err := <-waits; err != nil {
		t.Errorf("the next turn: %v", err)
	}
	second()
	if len(p.sandboxes) != 0 || len(p.slots) != 0 {
		t.Errorf("%d sandboxes and %d slots are left", len(p.sandboxes), len(p.slots))
	}
}
