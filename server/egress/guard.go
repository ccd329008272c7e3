// Package egress decides to which addresses webhooks and requests to operators' APIs may go, since users choose these
// addresses. It makes HTTP clients that connect to no other address.
package egress

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// Guard decides which addresses requests may go to. Everybody who may apply a sandbox's resource chooses its URLs. So
// these URLs must not give access to addresses that only the worker can reach.
type Guard struct {
	AllowLoopback bool // for development on one machine
	PublicOnly    bool // only addresses of the public Internet: no private network, and no loopback even with AllowLoopback
	Deny          []DenyRule
	Own           func() []netip.AddrPort // current addresses and ports of the platform itself: database, Kubernetes API; may be nil
	Resolver      *net.Resolver           // looks names up; nil: the resolver of the machine
}

// DenyRule forbids a network, or one port of it.
type DenyRule struct {
	Network netip.Prefix
	Port    uint16 // 0: every port
}

// ParseDenyRule reads "10.0.0.0/8", "10.0.0.1", "10.0.0.1:5432" or "[fd00::1]:443".
func ParseDenyRule(text string) (DenyRule, error) {
	if network, err := netip.ParsePrefix(text); err == nil {
		return DenyRule{Network: unmapped(network).Masked()}, nil
	}
	if address, err := netip.ParseAddr(text); err == nil {
		return DenyRule{Network: netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen())}, nil
	}
	if at, err := netip.ParseAddrPort(text); err == nil && at.Port() != 0 {
		address := at.Addr().Unmap()
		return DenyRule{Network: netip.PrefixFrom(address, address.BitLen()), Port: at.Port()}, nil
	}
	return DenyRule{}, fmt.Errorf("%q is neither a network (10.0.0.0/8) nor an address with or without a port (10.0.0.1:5432)", text)
}

// unmapped returns the IPv4 network of an IPv4-mapped IPv6 network, since only unmapped addresses are checked.
func unmapped(network netip.Prefix) netip.Prefix {
	if network.Addr().Is4In6() && network.Bits() >= 96 {
		return netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96)
	}
	return network
}

// ParseDenyRules reads each text as [ParseDenyRule] does, and returns the first error.
func ParseDenyRules(texts []string) ([]DenyRule, error) {
	var rules []DenyRule
	for _, text := range texts {
		rule, err := ParseDenyRule(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// ErrForbidden is the error of a request to an address that the guard does not allow.
type ErrForbidden struct {
	Address string // or the name that is refused without looking it up
	Reason  string
}

func (e ErrForbidden) Error() string {
	return fmt.Sprintf("requests to %s are not allowed: %s", e.Address, e.Reason)
}

// Check returns [ErrForbidden] for an address that requests may not go to. If an IPv6 address contains an IPv4 address,
// by mapping or translation, this IPv4 address is checked too.
func (g Guard) Check(at netip.AddrPort) error {
	for _, address := range reached(at.Addr()) {
		if reason := g.forbidden(address); reason != "" {
			return ErrForbidden{at.Addr().String(), reason}
		}
		for _, rule := range g.Deny {
			if rule.Network.Contains(address) && (rule.Port == 0 || rule.Port == at.Port()) {
				return ErrForbidden{at.Addr().String(), "the platform's deny list names it"}
			}
		}
		if g.Own != nil && slices.Contains(g.Own(), netip.AddrPortFrom(address, at.Port())) {
			return ErrForbidden{at.Addr().String(), platform}
		}
	}
	return nil
}

// CheckURL returns [ErrForbidden] or [ErrHost] for a URL that is refused whatever the names in it resolve to: its host is an
// address that [Guard.Check] refuses, a name of such an address, or a name of the Kubernetes API, or [HostOf] returns no host.
func (g Guard) CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return ErrHost
	}
	host := HostOf(u)
	switch {
	case host == "":
		return ErrHost
	case slices.Contains(kubernetesAPI, host):
		return ErrForbidden{host, platform}
	case strings.HasSuffix(host, ".localhost"): // RFC 6761
		host = "localhost"
	}
	host = cmp.Or(knownNames[host], host)
	if at, err := netip.ParseAddrPort(net.JoinHostPort(host, portOf(u))); err == nil {
		return g.Check(at)
	}
	return nil // a name
}

// kubernetesAPI are the names of the Kubernetes API in a pod.
var kubernetesAPI = []string{"kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}

// knownNames are names whose addresses need no looking up: those of this machine in the file /etc/hosts of Linux
// distributions, and those of metadata services.
var knownNames = map[string]string{
	"localhost": "127.0.0.1", "localhost.localdomain": "127.0.0.1", "localhost4": "127.0.0.1", "localhost4.localdomain4": "127.0.0.1",
	"localhost6": "::1", "localhost6.localdomain6": "::1", "ip6-localhost": "::1", "ip6-loopback": "::1",
	"metadata.google.internal": "169.254.169.254", "metadata.goog": "169.254.169.254", "instance-data.ec2.internal": "169.254.169.254",
}

// platform is why a guard refuses an address of the platform.
const platform = "it is a part of the platform itself"

// Loopback is why a guard refuses a loopback address.
const Loopback = "it is this machine itself"

// NotPublic is why a guard with PublicOnly refuses an address that it would allow without.
const NotPublic = "it is not an address of the public Internet"

func (g Guard) forbidden(address netip.Addr) (reason string) {
	switch {
	case address.IsLoopback() && !g.AllowLoopback:
		return Loopback
	case address.IsLoopback() && g.PublicOnly:
		return NotPublic
	case address.IsLoopback():
		return ""
	case address.IsUnspecified() || thisNetwork.Contains(address):
		return "it is no address of a receiver"
	case address.IsLinkLocalUnicast():
		return "it is link-local, where metadata services are"
	case metadata[address]:
		return "it is a cloud's metadata service"
	case address.IsMulticast() || address == broadcast:
		return "it is not the address of one receiver"
	case g.PublicOnly && !isPublic(address):
		return NotPublic
	}
	return ""
}

// isPublic reports whether an address is one of the public Internet. It returns true for an address of NAT64, whose
// IPv4 address is checked too.
func isPublic(address netip.Addr) bool {
	if nat64.Contains(address) || nat64Local.Contains(address) {
		return true
	}
	special := slices.ContainsFunc(specialPurpose, func(n netip.Prefix) bool { return n.Contains(address) })
	return !special && !address.IsPrivate() && (address.Is4() || globalUnicast.Contains(address))
}

// globalUnicast are the IPv6 addresses that IANA assigns.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// specialPurpose are the blocks of IANA's special-purpose registries (RFC 6890), without private blocks, without those
// that forbidden refuses anyway, and without IPv6 blocks outside of globalUnicast. It includes globally reachable
// blocks: they are for infrastructure, and no receiver has such an address.
var specialPurpose = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"),     // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),      // protocols
	netip.MustParsePrefix("192.0.2.0/24"),      // documentation
	netip.MustParsePrefix("192.31.196.0/24"),   // AS112
	netip.MustParsePrefix("192.52.193.0/24"),   // AMT
	netip.MustParsePrefix("192.88.99.0/24"),    // relays of 6to4
	netip.MustParsePrefix("192.175.48.0/24"),   // AS112
	netip.MustParsePrefix("198.18.0.0/15"),     // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"),   // documentation
	netip.MustParsePrefix("203.0.113.0/24"),    // documentation
	netip.MustParsePrefix("240.0.0.0/4"),       // reserved, and broadcast
	netip.MustParsePrefix("2001::/23"),         // protocols: Teredo, PCP, TURN, benchmarks, AMT, AS112, ORCHID, DRIP
	netip.MustParsePrefix("2001:db8::/32"),     // documentation
	netip.MustParsePrefix("2002::/16"),         // 6to4
	netip.MustParsePrefix("2620:4f:8000::/48"), // AS112
	netip.MustParsePrefix("3fff::/20"),         // documentation
}

var (
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8")
	broadcast   = netip.MustParseAddr("255.255.255.255")
	// metadata are the metadata services that are not link-local: of AWS, Google Cloud, Alibaba Cloud, Oracle Cloud and Azure.
	metadata = map[netip.Addr]bool{
		netip.MustParseAddr("fd00:ec2::254"):   true,
		netip.MustParseAddr("fd20:ce::254"):    true,
		netip.MustParseAddr("100.100.100.200"): true,
		netip.MustParseAddr("192.0.0.192"):     true,
		netip.MustParseAddr("168.63.129.16"):   true,
	}
	nat64      = netip.MustParsePrefix("64:ff9b::/96")             // RFC 6052: IPv4 in the last four bytes
	sixToFour  = netip.MustParsePrefix("2002::/16")                // RFC 3056: IPv4 in bytes 2 to 5
	compatible = netip.MustParsePrefix("::/96")                    // RFC 4291, deprecated: IPv4 in the last four bytes
	translated = netip.MustParsePrefix("::ffff:0:0:0/96")          // RFC 2765: IPv4 in the last four bytes
	teredo     = netip.MustParsePrefix("2001::/32")                // RFC 4380: server in bytes 4 to 7, inverted client in the last four
	nat64Local = netip.MustParsePrefix("64:ff9b:1::/48")           // RFC 8215: local translation, see localTranslations
	isatap     = [2]string{"\x00\x00\x5e\xfe", "\x02\x00\x5e\xfe"} // RFC 5214: bytes 8 to 11, before the IPv4
)

// reached returns the addresses to which the network may deliver a packet for this address.
func reached(address netip.Addr) []netip.Addr {
	address = address.Unmap().WithZone("")
	if address.Is4() || address.IsLoopback() || address.IsUnspecified() {
		return []netip.Addr{address}
	}
	bytes := address.As16()
	last := netip.AddrFrom4([4]byte(bytes[12:16]))
	switch {
	case nat64.Contains(address), compatible.Contains(address), translated.Contains(address), slices.Contains(isatap[:], string(bytes[8:12])):
		return []netip.Addr{address, last}
	case nat64Local.Contains(address):
		return append(localTranslations(bytes), address, last)
	case sixToFour.Contains(address):
		return []netip.Addr{address, netip.AddrFrom4([4]byte(bytes[2:6]))}
	case teredo.Contains(address):
		client := [4]byte{^bytes[12], ^bytes[13], ^bytes[14], ^bytes[15]}
		return []netip.Addr{address, netip.AddrFrom4([4]byte(bytes[4:8])), netip.AddrFrom4(client)}
	}
	return []netip.Addr{address}
}

// localTranslations returns the IPv4 addresses that a local-use NAT64 address may contain, for prefixes of 48, 56 or 64
// bits (RFC 6052, section 2.2: byte 8 is skipped). It omits 0.0.0.0/8, in which no receiver has an address.
func localTranslations(b [16]byte) (found []netip.Addr) {
	for _, four := range [][4]byte{{b[6], b[7], b[9], b[10]}, {b[7], b[9], b[10], b[11]}, {b[9], b[10], b[11], b[12]}} {
		if address := netip.AddrFrom4(four); !thisNetwork.Contains(address) {
			found = append(found, address)
		}
	}
	return found
}

// control checks the address of a connection. The dialer calls it after name resolution, so that the checked address is
// the one to which it connects.
func (g Guard) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("reading the address that is connected to: %w", err)
	}
	return g.Check(at)
}
