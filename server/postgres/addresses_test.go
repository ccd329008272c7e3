package postgres_test

import (
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"testing"

	"github.com/cauri-dev/cauri/server/ledgertest"
)

func TestAddressesOfTheDatabase(t *testing.T) {
	database := ledgertest.URL(t)
	s := ledgertest.Open(t, database)
	if got := s.Addresses(); len(got) != 0 {
		t.Errorf("before it connects, a store names %v", got)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Addresses(); !slices.ContainsFunc(
		got,
		func(at netip.AddrPort) bool { return at.Addr().IsLoopback() && u.Port() == portText(at) },
	) {
		t.Errorf("connected to %s, a store names %v", u.Host, got)
	}
}

// Behind a Service, or whatever passes connections on, the database is known under both addresses.
func TestAddressesOfTheDatabaseBehindAnother(t *testing.T) {
	database := ledgertest.URL(t)
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	behind := u.Host
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = front.Close() })
	go func() {
		for {
			client, err := front.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", behind)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
			go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
		}
	}()
	u.Host = front.Addr().String()
	s := ledgertest.Open(t, u.String())
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(behind)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{front.Addr().(*net.TCPAddr).AddrPort().String(), "127.0.0.1:" + port} {
		if got := s.Addresses(); !slices.Contains(got, netip.MustParseAddrPort(want)) {
			t.Errorf("it names %v, and not %s", got, want)
		}
	}
}

func portText(at netip.AddrPort) string {
	u := url.URL{Host: at.String()}
	return u.Port()
}
