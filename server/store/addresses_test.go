package store_test

import (
	"net/netip"
	"net/url"
	"slices"
	"testing"

	"github.com/cauri-dev/cauri/server/store/storetest"
)

func TestAddressesOfTheDatabase(t *testing.T) {
	database := storetest.URL(t)
	s := storetest.Open(t, database)
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
	if got := s.Addresses(); !slices.ContainsFunc(got, func(at netip.AddrPort) bool { return at.Addr().IsLoopback() && u.Port() == portText(at) }) {
		t.Errorf("connected to %s, a store names %v", u.Host, got)
	}
}

func portText(at netip.AddrPort) string {
	u := url.URL{Host: at.String()}
	return u.Port()
}
