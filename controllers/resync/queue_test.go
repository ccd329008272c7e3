package resync

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// TestChangeQueue is about the order: who changed first comes first, however often others change.
func TestChangeQueue(t *testing.T) {
	queue := newChangeQueue()
	queue.hold(Change{Key: client.ObjectKey{Namespace: "n", Name: "held"}})
	queue.hold(Change{Key: client.ObjectKey{Namespace: "n", Name: "held"}})
	queue.append(ofAccounts([]sandboxes.AccountChange{
		{Namespace: "n", Sandbox: "s"},
		{Namespace: "n", Sandbox: "s", TestClient: "s"},
		{Namespace: "n", Sandbox: "s"},
	}))
	queue.release()
	queue.append(ofAccounts([]sandboxes.AccountChange{{Namespace: "n", Sandbox: "s"}, {Namespace: "m", Sandbox: "s"}}))

	var got []string
	for range 4 {
		c, err := queue.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kind := " sandbox"
		if c.IsTestClient {
			kind = " test client"
		}
		got = append(got, c.Key.String()+kind)
	}
	want := []string{"n/s sandbox", "n/s test client", "n/held sandbox", "m/s sandbox"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	queue.append([]Change{{Key: client.ObjectKey{Namespace: "n", Name: "s"}}})
	if c, err := queue.next(t.Context()); err != nil || c.Key.Name != "s" {
		t.Errorf("a resource that changed again does not come again: %v, %v", c, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := queue.next(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of an empty queue is %v", err)
	}
}

// TestPreferredChanges come first, once, and hold up nothing for good.
func TestPreferredChanges(t *testing.T) {
	queue := newChangeQueue()
	queue.append([]Change{named("a"), named("b"), named("c"), named("a")})
	queue.prefer([]Change{named("c"), named("d")})
	queue.append([]Change{named("b"), named("e")})
	var got []string
	for range 5 {
		c, err := queue.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.Key.Name)
	}
	if diff := cmp.Diff([]string{"c", "d", "a", "b", "e"}, got); diff != "" {
		t.Error(diff)
	}
	if c, more := queue.pop(); more {
		t.Errorf("%v came twice", c)
	}
}
