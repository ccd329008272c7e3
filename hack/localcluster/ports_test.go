package main

import (
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func never(string) bool  { return false }
func always(string) bool { return true }

func takePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

func TestPortsAreKept(t *testing.T) {
	t.Parallel()
	state := newTestState(t)
	first, err := choose([]string{"a", "b"}, ports{}, never)
	if err != nil {
		t.Fatal(err)
	}
	if first["a"] == first["b"] {
		t.Errorf("one port for two: %v", first)
	}
	if err := state.savePorts(first); err != nil {
		t.Fatal(err)
	}
	known, err := state.ports()
	if err != nil {
		t.Fatal(err)
	}
	second, err := choose([]string{"a", "b"}, known, never)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the second choice differs:\n%s", diff)
	}
}

// A process that was killed a moment ago may still be there when it is started again: its port stays its port.
func TestAPortThatIsAboutToBeLeft(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	left := time.AfterFunc(300*time.Millisecond, func() { listener.Close() })
	t.Cleanup(func() { left.Stop(); listener.Close() })
	chosen, err := choose([]string{"a"}, ports{"a": port}, never)
	if err != nil {
		t.Fatal(err)
	}
	if chosen["a"] != port {
		t.Errorf("port %d in place of %d", chosen["a"], port)
	}
}

func TestATakenPort(t *testing.T) {
	t.Parallel()
	taken := takePort(t)
	cases := map[string]struct {
		inUseByOwner func(string) bool
		kept         bool
	}{
		"by its owner":       {always, true},
		"by another program": {never, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			chosen, err := choose([]string{"a"}, ports{"a": taken}, c.inUseByOwner)
			if err != nil {
				t.Fatal(err)
			}
			if kept := chosen["a"] == taken; kept != c.kept {
				t.Errorf("port %d -> %d", taken, chosen["a"])
			}
		})
	}
}

func TestChooseAPIPort(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		flag, variable string
		want           int
		fails          bool
	}{
		"default":        {"", "", defaultAPIPort, false},
		"variable":       {"", "9090", 9090, false},
		"flag wins":      {"9091", "9090", 9091, false},
		"any":            {"0", "", 0, false},
		"no number":      {"", "http", 0, true},
		"out of range":   {"65536", "", 0, true},
		"negative":       {"-1", "", 0, true},
		"flag is broken": {"x", "9090", 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := chooseAPIPort(c.flag, c.variable)
			if got != c.want || (err != nil) != c.fails {
				t.Errorf("chooseAPIPort(%q, %q) = %d, %v", c.flag, c.variable, got, err)
			}
		})
	}
}
