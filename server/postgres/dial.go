package postgres

import (
	"net"
	"time"
)

// A host that has disappeared does not close its connections. Keepalives end its idle connections, and TCP_USER_TIMEOUT
// (RFC 5482) ends connections whose sent data is not acknowledged.
const (
	keepAliveIdle     = 5 * time.Second
	keepAliveInterval = 2 * time.Second
	keepAliveCount    = 3
	userTimeout       = 10 * time.Second
)

func dialer() *net.Dialer {
	return &net.Dialer{
		Timeout: connectTimeout, Control: control,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount},
	}
}
