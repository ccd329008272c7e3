package postgres

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// control sets TCP_USER_TIMEOUT on a socket before it connects. The net package has no option for it.
func control(network, _ string, socket syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var set error
	err := socket.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout.Milliseconds()))
	})
	if err := errors.Join(err, set); err != nil {
		return fmt.Errorf("setting TCP_USER_TIMEOUT: %w", err)
	}
	return nil
}
