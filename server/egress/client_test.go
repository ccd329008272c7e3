package egress_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
)

// refusal is the error of a request by a client whose names are looked up by a resolver.
func refusal(t *testing.T, resolver *net.Resolver, url string) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := egress.Guard{AllowLoopback: true, Resolver: resolver}.Client(egress.ClientOptions{Timeout: time.Minute})
	answer, err := client.Transport.RoundTrip(r)
	if err == nil {
		_ = answer.Body.Close()
		t.Fatal("it was answered")
	}
	return err
}

// An error says what went wrong, and not where the server of names of the cluster is, or from where the connection was made.
func TestErrorsNameNoAddressOfTheCluster(t *testing.T) {
	t.Parallel()
	at := func(err error) *net.Resolver {
		return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, err }}
	}
	for name, dial := range map[string]error{
		"refused": &net.OpError{Op: "dial", Net: "udp", Addr: &net.UDPAddr{IP: net.IP{10, 96, 0, 10}, Port: 53}, Err: syscall.ECONNREFUSED},
		"late": &net.OpError{Op: "read", Net: "udp", Source: &net.UDPAddr{IP: net.IP{10, 244, 0, 7}, Port: 40112},
			Addr: &net.UDPAddr{IP: net.ParseIP("fd00::a"), Port: 53}, Err: syscall.ETIMEDOUT},
	} {
		err := refusal(t, at(dial), "http://shop.example/")
		var lookup *net.DNSError
		if !errors.As(err, &lookup) {
			t.Fatalf("%s: the error is %v", name, err)
		}
		if text := err.Error(); !strings.Contains(text, "lookup shop.example: ") || strings.ContainsAny(strings.ReplaceAll(text, "shop.example: ", ""), "0123456789") {
			t.Errorf("%s: %q, of %q", name, text, lookup.Error())
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}()
	err = refusal(t, nil, "http://"+listener.Addr().String()+"/")
	text := err.Error()
	if strings.Contains(text, "->") || !strings.Contains(text, listener.Addr().String()) || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a reset: %q", text)
	}
}
