package postgres

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// A host that is gone is noticed by what the kernel is told, for connections that send as for idle ones.
func TestDialerNoticesAHostThatIsGone(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	conn, err := dialer().DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	socket, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for name, option := range map[string]struct{ level, number, want int }{
		"TCP_USER_TIMEOUT in ms": {unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 10_000},
		"SO_KEEPALIVE":           {unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		"TCP_KEEPIDLE":           {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 5},
		"TCP_KEEPINTVL":          {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 2},
		"TCP_KEEPCNT":            {unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
	} {
		var got int
		var failure error
		err := socket.Control(func(fd uintptr) { got, failure = unix.GetsockoptInt(int(fd), option.level, option.number) })
		if err != nil || failure != nil || got != option.want {
			t.Errorf("%s is %d, want %d (%v, %v)", name, got, option.want, err, failure)
		}
	}
}
