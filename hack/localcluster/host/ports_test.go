package host

import (
	"net"
	"testing"
)

// A server may start long after its port was chosen. Programs that start at the same time must not choose it too.
func TestAChosenPortIsKeptForItsServer(t *testing.T) {
	t.Parallel()
	port, err := FreePort(nil)
	if err != nil {
		t.Fatal(err)
	}
	if reserve(port, false) {
		t.Errorf("port %d is chosen twice", port)
	}
	listener, err := net.Listen("tcp", Loopback(port))
	if err != nil {
		t.Fatalf("its server cannot listen: %v", err)
	}
	defer listener.Close()
	if reserve(port, false) || reserve(port, true) || IsFree(port) {
		t.Errorf("port %d is free although its server listens", port)
	}
}
