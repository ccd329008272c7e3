// Package ports chooses ports for the processes that tests start.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// chosen are the ports that this process has chosen. A chosen port looks free until somebody listens on it.
var chosen sync.Map

// Free finds a port of the loopback interface that nobody listens on and that it has not chosen before. It is below the range of
// outgoing connections: one of them could take a port of that range before its owner listens, and a stopped process could not get its
// port back. It is also below the range of hack/localcluster, which chooses ports some seconds before it uses them and may run at the
// same time. The error says that none was free.
func Free() (int, error) {
	for range 100 {
		port := 10_000 + rand.IntN(10_000)
		listener, err := net.Listen("tcp", Loopback(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("choosing a port: %w", err)
		}
		if _, again := chosen.LoadOrStore(port, true); !again {
			return port, nil
		}
	}
	return 0, errors.New("choosing a port: none of 100 ports was free")
}

// ForTest is a free port; the test fails without one.
func ForTest(t testing.TB) string {
	t.Helper()
	port, err := Free()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

// Loopback is the address of a port of the loopback interface.
func Loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
