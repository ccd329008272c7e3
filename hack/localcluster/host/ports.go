package host

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// The chosen ports are below the range for outgoing connections (32768 and up on Linux). An outgoing connection could
// take a port of that range between the check and the start of the server.
const (
	lowestPort  = 20000
	highestPort = 32767
)

func FreePort(taken map[int]bool) (int, error) {
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		if !taken[port] && IsFree(port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port found between %d and %d", lowestPort, highestPort)
}

// BecomesFree reports whether a port is free. It waits up to two seconds for the end of its owner, such as a killed
// process, so that addresses stay the same.
func BecomesFree(port int) bool {
	for range 20 {
		if IsFree(port) {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func IsFree(port int) bool {
	listener, err := net.Listen("tcp", Loopback(port))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}

// Loopback returns the address of a port on the loopback interface. localcluster listens on no other interface.
func Loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
