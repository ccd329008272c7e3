package process

import (
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func never(string) bool  { return false }
func always(string) bool { return true }

func TestPortsAreKept(t *testing.T) {
	t.Parallel()
	state := newTestState(t)
	first, err := Choose([]string{"a", "b"}, Ports{}, never)
	if err != nil {
		t.Fatal(err)
	}
	if first["a"] == first["b"] {
		t.Errorf("one port for two: %v", first)
	}
	if err := state.SavePorts(first); err != nil {
		t.Fatal(err)
	}
	known, err := state.Ports()
	if err != nil {
		t.Fatal(err)
	}
	second, err := Choose([]string{"a", "b"}, known, never)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the second choice differs:\n%s", diff)
	}
}

// A process that was killed a moment ago may still hold its port when it starts again. It must keep its port.
func TestAPortThatIsAboutToBeLeft(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	left := time.AfterFunc(300*time.Millisecond, func() { listener.Close() })
	t.Cleanup(func() { left.Stop(); listener.Close() })
	chosen, err := Choose([]string{"a"}, Ports{"a": port}, never)
	if err != nil {
		t.Fatal(err)
	}
	if chosen["a"] != port {
		t.Errorf("port %d in place of %d", chosen["a"], port)
	}
}

func TestATakenPort(t *testing.T) {
	t.Parallel()
	taken := testkit.TakePort(t)
	cases := map[string]struct {
		inUseByOwner func(string) bool
		kept         bool
	}{
		"by its owner":       {always, true},
		"by another program": {never, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			chosen, err := Choose([]string{"a"}, Ports{"a": taken}, c.inUseByOwner)
			if err != nil {
				t.Fatal(err)
			}
			if kept := chosen["a"] == taken; kept != c.kept {
				t.Errorf("port %d -> %d", taken, chosen["a"])
			}
		})
	}
}
