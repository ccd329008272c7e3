package postgres_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/postgres"
)

// A certificate that nobody trusts, or of another host, is told in the words of x509.
func TestUntrustedCertificateIsNamed(t *testing.T) {
	t.Parallel()
	certified := httptest.NewTLSServer(nil) // for its certificate, of example.com and 127.0.0.1
	defer certified.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				if _, err := io.ReadFull(conn, make([]byte, 8)); err == nil { // SSLRequest
					_, _ = conn.Write([]byte("S"))
					_ = tls.Server(conn, certified.TLS).Handshake()
				}
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, at := range []string{"127.0.0.1:" + port + "/cauri?sslmode=verify-full", "localhost:" + port + "/cauri?sslmode=verify-full",
		"127.0.0.1:" + port + "/cauri?sslmode=verify-ca"} {
		at = "postgres://u:hidden@" + at
		for what, err := range map[string]error{"a process": open(t, at).Ping(t.Context()), "a migration": postgres.Migrate(t.Context(), at)} {
			if !errors.Is(err, postgres.ErrUnavailable) || postgres.AbsenceOf(err) != postgres.Untrusted || !strings.Contains(err.Error(), "x509: ") ||
				strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s at %s: %d, %v", what, at, postgres.AbsenceOf(err), err)
			}
		}
	}
}
