package postgres

import (
	"net"
	"time"
)

// A host that is gone sends nothing, not even that it is gone. Its connections end after this time: idle ones since
// nobody answers keepalives, busy ones since nobody acknowledges what was sent (TCP_USER_TIMEOUT, RFC 5482).
const (
	keepAliveIdle     = 5 * time.Second
	keepAliveInterval = 2 * time.Second
	keepAliveCount    = 3
	userTimeout       = 10 * time.Second
)

// dialer makes connections to the database.
func dialer() *net.Dialer {
	return &net.Dialer{
		Timeout: connectTimeout, Control: control,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount},
	}
}
