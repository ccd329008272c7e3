package host

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// Ports are taken from below those that the system gives to outgoing connections (32768 and up on Linux): one of these may
// be in use for a moment just when its owner starts, and no check beforehand would have told.
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

// BecomesFree waits for a port that somebody may be about to leave, as a process does that was killed a moment ago: an address that
// stays the same is worth two seconds.
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

// Loopback is the only kind of address that anything here listens on.
func Loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
