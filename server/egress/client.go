package egress

import (
	"net"
	"net/http"
	"time"
)

// maxHeader bounds the header of a response, in bytes.
const maxHeader = 64 << 10

// ClientOptions are the settings of an HTTP client.
type ClientOptions struct {
	Timeout     time.Duration // of a request in all: name, connection, response
	Idle        int           // connections that are kept for the next requests
	IdlePerHost int           // of these, to one host
}

// Client makes an HTTP client that connects only where the guard allows it. It uses no proxy, which would connect past the guard, and
// follows no redirect: a redirect is a response like any other.
func (g Guard) Client(o ClientOptions) *http.Client {
	dialer := &net.Dialer{Timeout: o.Timeout, Control: g.control, Resolver: g.Resolver}
	return &http.Client{
		Timeout: o.Timeout,
		Transport: withoutLocation{&http.Transport{
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			MaxIdleConns:           o.Idle,
			MaxIdleConnsPerHost:    o.IdlePerHost,
			IdleConnTimeout:        30 * time.Second,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeader,
		}},
	}
}

// withoutLocation removes the target of a redirect, so that the client neither follows it nor fails where it is no URL.
type withoutLocation struct{ *http.Transport }

func (t withoutLocation) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.Transport.RoundTrip(request)
	if err == nil {
		response.Header.Del("Location")
	}
	return response, err
}
