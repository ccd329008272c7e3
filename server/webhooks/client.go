package webhooks

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Client is an HTTP client that connects only where the guard lets it, for addresses that come from a sandbox's resource. It
// uses no proxy, which would connect past the guard, and follows no redirection.
func (g Guard) Client(timeout time.Duration) *http.Client {
	control := func(network, address string, conn syscall.RawConn) error {
		err := g.control(network, address, conn)
		if forbidden := new(ErrForbidden); errors.As(err, forbidden) {
			return fmt.Errorf("requests to %s are not allowed: %s", forbidden.Address, forbidden.Why)
		}
		return err
	}
	dialer := &net.Dialer{Timeout: timeout, Control: control}
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			MaxIdleConns:           256,
			MaxIdleConnsPerHost:    32,
			IdleConnTimeout:        30 * time.Second,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}
