package system

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// chosenPorts are the ports that this process has chosen. A chosen port looks free until somebody listens on it.
var chosenPorts sync.Map

// freePort finds a port that nobody listens on and that it has not chosen before. It is below the range of outgoing
// connections, so that a stopped process can get its port back. It is also below the range of hack/localcluster, which
// chooses ports some seconds before it uses them and may run at the same time.
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
	return 0, errors.New("choosing a port: none of 100 ports was free")
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
