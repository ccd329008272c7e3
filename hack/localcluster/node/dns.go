package node

import (
	"context"
	"fmt"
	"net"
	"time"
)

// resolves looks up a name at the Service address of the cluster's DNS server. An answer shows that pods, the proxy's
// rules and the DNS server work.
func resolves(ctx context.Context, name string) error {
	resolver := net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", net.JoinHostPort(dnsServiceIP, "53"))
		},
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := resolver.LookupHost(ctx, name+"."); err != nil {
		return fmt.Errorf("asking the cluster's DNS server: %w", err)
	}
	return nil
}
