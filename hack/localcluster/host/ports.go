package host

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
	"time"
)

// The chosen ports are below the range for outgoing connections (32768 and up on Linux). An outgoing connection could
// take a port of that range between the check and the start of the server. Ports of Services (30000 and up) are left out.
const (
	lowestPort  = 20000
	highestPort = 29999
)

// FreePort returns a port that no socket is bound to, and keeps it for the servers that this program starts: until the
// program ends, another FreePort does not choose the port, however long the server needs to start.
func FreePort(taken map[int]bool) (int, error) {
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		if !taken[port] && reserve(port, false) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port found between %d and %d", lowestPort, highestPort)
}

// reserve binds a socket that never listens to the port, and reports whether it could. A server that sets SO_REUSEADDR
// can still listen there, as all servers here do. Shared also takes a port that a closed connection or another
// reservation holds.
func reserve(port int, shared bool) bool {
	syscall.ForkLock.RLock()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return false
	}
	reuse := func() error { return syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) }
	if shared {
		err = reuse()
	}
	if err == nil {
		err = syscall.Bind(socket, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil && !shared {
		err = reuse()
	}
	if err != nil {
		_ = syscall.Close(socket)
	}
	return err == nil
}

// BecomesFree reports whether a port is free, and reserves it. It waits up to two seconds for the end of its owner, such
// as a killed process, so that addresses stay the same.
func BecomesFree(port int) bool {
	for range 20 {
		if IsFree(port) {
			return reserve(port, true)
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
