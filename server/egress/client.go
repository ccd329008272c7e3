package egress

import (
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// maxHeader bounds the header of a response, in bytes.
const maxHeader = 64 << 10

const (
	// maxReceived is the maximum number of unread bytes in the responses of one HTTP/2 connection. A server may send
	// that many unasked. Go's default is 1 GiB, and 4 MiB for each response.
	maxReceived = 1 << 20
	// maxError is the maximum length of an error's text in bytes, because some errors repeat data of the server.
	maxError = 500
)

// ClientOptions are the settings of an HTTP client.
type ClientOptions struct {
	Timeout     time.Duration // of the whole request: name resolution, connection, response
	Idle        int           // connections that are kept for the next requests
	IdlePerHost int           // maximum of these to one host
	OwnConn     bool          // requests at the same time never share a connection, as they do by HTTP/2
}

// Client makes an HTTP client that connects only where the guard allows it. It uses no proxy, which would bypass the
// guard, and follows no redirect: a redirect is a response like any other.
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
			ForceAttemptHTTP2:      !o.OwnConn,
			MaxResponseHeaderBytes: maxHeader,
			HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerConnection: maxReceived, MaxReceiveBufferPerStream: maxHeader},
		}},
	}
}

// withoutLocation removes the target of a redirect, so that the client neither follows it nor fails if it is no URL. It
// refuses a request if [HostOf] returns no host for it, and shortens errors.
type withoutLocation struct{ *http.Transport }

func (t withoutLocation) RoundTrip(request *http.Request) (*http.Response, error) {
	if HostOf(request.URL) == "" {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, ErrHost
	}
	response, err := t.Transport.RoundTrip(request)
	if err == nil {
		response.Header.Del("Location")
	} else {
		err = presentable{err}
	}
	return response, err
}

// presentable is an error for those who chose the URL. Its text has neither the address of the cluster's server of names, nor
// the one that the connection was made from, and is cut after maxError bytes.
type presentable struct{ error }

var (
	nameServer = regexp.MustCompile(`(lookup [^ ]+) on [^ ]+:[0-9]+: `)                             // by [net.DNSError]
	toServer   = regexp.MustCompile(`(lookup [^ ]+: )(?:dial|read|write) (?:udp|tcp)[46]? [^ ]+: `) // what it wraps
	madeFrom   = regexp.MustCompile(`(\[[0-9A-Fa-f:.%a-z]+\]|[0-9.]+):[0-9]+->`)                    // by [net.OpError]
)

func (e presentable) Error() string {
	text := nameServer.ReplaceAllString(e.error.Error(), "$1: ")
	text = madeFrom.ReplaceAllString(toServer.ReplaceAllString(text, "$1"), "")
	if len(text) > maxError {
		return strings.ToValidUTF8(text[:maxError], "") + "..."
	}
	return text
}

func (e presentable) Unwrap() error { return e.error }
