package postgres

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// addresses remembers the addresses of the connections to the database.
type addresses struct {
	mu   sync.Mutex
	seen []netip.AddrPort
}

// dialed returns a dial function that also remembers the address of each connection.
func (a *addresses) dialed(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
			a.add(netip.AddrPortFrom(tcp.AddrPort().Addr().Unmap().WithZone(""), tcp.AddrPort().Port()))
		}
		return conn, nil
	}
}

// serverAddress asks Postgres for its own address. Behind a Service or a pooler, this address differs from the dialed
// one.
const serverAddress = "-- name: ServerAddress\nselect host(inet_server_addr()), inet_server_port()"

// asked remembers the server's own address of a new connection. Some poolers return no address.
func (a *addresses) asked(ctx context.Context, conn *pgx.Conn) error {
	var address *string
	var port *int32
	if err := conn.QueryRow(ctx, serverAddress, pgx.QueryExecModeSimpleProtocol).Scan(&address, &port); err != nil {
		return err
	}
	if address == nil || port == nil {
		return nil // the connection is a Unix socket
	}
	if at, err := netip.ParseAddr(*address); err == nil { // an address that cannot be parsed is left out
		a.add(netip.AddrPortFrom(at.Unmap().WithZone(""), uint16(*port)))
	}
	return nil
}

// add copies the slice, since the callers of [addresses.all] may still read the old slice.
func (a *addresses) add(at netip.AddrPort) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.seen, at) {
		a.seen = append(slices.Clip(a.seen), at)
	}
}

// all returns the remembered addresses. The caller must not change the slice.
func (a *addresses) all() []netip.AddrPort {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}
