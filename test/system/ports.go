package system

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// chosenPorts are those that this process has chosen, so that it chooses none again: one that is chosen looks free until somebody listens
// on it.
var chosenPorts sync.Map

// freePort finds a port that nobody listens on and that it has not found before. It is below the range from which the system takes the
// ports
// of outgoing connections, so that none of these has it when a process that was stopped wants it back, and below that of hack/localcluster,
// which chooses its ports some seconds before it takes the last of them: tests of both run at one time.
func freePort() (int, error) {
	for range 100 {
		port := 10_000 + rand.IntN(10_000)
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("choosing a port: %w", err)
		}
		if _, again := chosenPorts.LoadOrStore(port, true); !again {
			return port, nil
		}
	}
	return 0, errors.New("choosing a port: none of 100 was free")
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
