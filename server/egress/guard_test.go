package egress_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/egress"
)

// rules reads deny rules.
func rules(t testing.TB, texts ...string) []egress.DenyRule {
	t.Helper()
	all, err := egress.ParseDenyRules(texts)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What servers are talked into calling, after the lists of OWASP and of other senders of egress.
func TestGuard(t *testing.T) {
	t.Parallel()
	plain, development := egress.Guard{}, egress.Guard{AllowLoopback: true}
	platform := egress.Guard{AllowLoopback: true, Deny: rules(t, "10.96.0.0/12", "10.0.0.7", "10.0.0.1:5432", "fd00:1::/32",
		"[fd00:2::1]:443")}
	mapped := egress.Guard{Deny: rules(t, "::ffff:10.0.0.7", "[::ffff:10.0.0.1]:5432", "::ffff:10.96.0.0/108")}
	own := egress.Guard{AllowLoopback: true, Own: func() []netip.AddrPort {
		return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:5432"), netip.MustParseAddrPort("10.96.0.1:443")}
	}}
	everything := egress.Guard{AllowLoopback: true, Deny: rules(t, "0.0.0.0/0", "::/0")}
	cases := map[string]struct {
		guard   egress.Guard
		address string
		allowed bool
	}{
		"public":            {plain, "93.184.216.34:443", true},
		"public v6":         {plain, "[2606:2800:220:1::1]:443", true},
		"private 10":        {plain, "10.1.2.3:80", true}, // Services are there
		"private 172.16":    {plain, "172.16.0.1:80", true},
		"private 192.168":   {plain, "192.168.1.1:80", true},
		"carrier-grade NAT": {plain, "100.64.0.1:80", true},
		"unique local v6":   {plain, "[fd12:3456::1]:80", true},

		"loopback":                        {plain, "127.0.0.1:80", false},
		"loopback, not .1":                {plain, "127.255.255.254:80", false},
		"loopback v6":                     {plain, "[::1]:80", false},
		"loopback mapped":                 {plain, "[::ffff:127.0.0.1]:80", false},
		"loopback compatible":             {plain, "[::127.0.0.1]:80", false},
		"loopback by NAT64":               {plain, "[64:ff9b::127.0.0.1]:80", false},
		"loopback by local NAT64":         {plain, "[64:ff9b:1::127.0.0.1]:80", false},
		"loopback by 6to4":                {plain, "[2002:7f00:1::]:80", false},
		"loopback translated":             {plain, "[::ffff:0:127.0.0.1]:80", false},
		"loopback by local NAT64, /48":    {plain, "[64:ff9b:1:7f00:0:100::]:80", false},
		"loopback by local NAT64, /56":    {plain, "[64:ff9b:1:7f:0:1::]:80", false},
		"loopback by local NAT64, /64":    {plain, "[64:ff9b:1:0:7f:0:100:0]:80", false},
		"loopback by ISATAP":              {plain, "[2606:2800::5efe:127.0.0.1]:80", false},
		"loopback by ISATAP, universal":   {plain, "[2606:2800::200:5efe:127.0.0.1]:80", false},
		"loopback by Teredo":              {plain, "[2001:0:5db8:d822:0:0:80ff:fffe]:80", false},
		"a Teredo server on loopback":     {plain, "[2001:0:7f00:1:0:0:a247:27dd]:80", false},
		"metadata translated":             {plain, "[::ffff:0:169.254.169.254]:80", false},
		"metadata by local NAT64, /48":    {plain, "[64:ff9b:1:a9fe:a9:fe00::]:80", false},
		"metadata by ISATAP":              {plain, "[2606:2800::5efe:169.254.169.254]:80", false},
		"metadata by Teredo":              {plain, "[2001:0:5db8:d822:0:0:5601:5601]:80", false},
		"metadata of Azure by Teredo":     {plain, "[2001:0:5db8:d822:0:0:57c0:7eef]:80", false},
		"a public address translated":     {plain, "[::ffff:0:93.184.216.34]:80", true},
		"a public address by local NAT64": {plain, "[64:ff9b:1::93.184.216.34]:80", true},
		"a public address by ISATAP":      {plain, "[2606:2800::5efe:93.184.216.34]:80", true},
		"a public address by Teredo":      {plain, "[2001:0:5db8:d822:0:0:a247:27dd]:80", true},
		"beside Teredo":                   {plain, "[2001:1::1]:80", true},
		"the database translated":         {own, "[::ffff:0:127.0.0.1]:5432", false},
		"the Kubernetes API by ISATAP":    {own, "[2606:2800::5efe:10.96.0.1]:443", false},
		"denied address translated":       {platform, "[::ffff:0:10.0.0.7]:80", false},
		"denied address by Teredo":        {platform, "[2001:0:5db8:d822:0:0:f5ff:fff8]:80", false},
		"loopback allowed":                {development, "127.0.0.1:80", true},
		"loopback v6 allowed":             {development, "[::1]:80", true},
		"loopback mapped allowed":         {development, "[::ffff:127.0.0.1]:80", true},
		"metadata is not loopback":        {development, "169.254.169.254:80", false},
		"unspecified is not loopback":     {development, "0.0.0.0:80", false},
		"unspecified v6 is not loopback":  {development, "[::]:80", false},
		"unspecified":                     {plain, "0.0.0.0:80", false},
		"unspecified v6":                  {plain, "[::]:80", false},
		"unspecified mapped":              {plain, "[::ffff:0.0.0.0]:80", false},
		"this network":                    {plain, "0.1.2.3:80", false},
		"metadata":                        {plain, "169.254.169.254:80", false},
		"metadata mapped":                 {plain, "[::ffff:169.254.169.254]:80", false},
		"metadata by NAT64":               {plain, "[64:ff9b::169.254.169.254]:80", false},
		"metadata by local NAT64":         {plain, "[64:ff9b:1::169.254.169.254]:80", false},
		"metadata by 6to4":                {plain, "[2002:a9fe:a9fe::1]:80", false},
		"metadata of ECS":                 {plain, "169.254.170.2:80", false},
		"link-local v6":                   {plain, "[fe80::1]:80", false},
		"link-local v6 with its zone":     {plain, "[fe80::1%eth0]:80", false},
		"mapped with a zone":              {plain, "[::ffff:127.0.0.1%eth0]:80", false},
		"loopback v6 with a zone":         {plain, "[::1%lo]:80", false},
		"multicast":                       {plain, "224.0.0.1:80", false},
		"multicast, administratively":     {plain, "239.255.255.250:1900", false},
		"multicast v6":                    {plain, "[ff02::1]:80", false},
		"multicast v6, global":            {plain, "[ff0e::1]:80", false},
		"broadcast":                       {plain, "255.255.255.255:80", false},
		"a public address by NAT64":       {plain, "[64:ff9b::93.184.216.34]:443", true},
		"a public address by 6to4":        {plain, "[2002:5db8:d822::1]:443", true},
		"the platform's database":         {own, "127.0.0.1:5432", false},
		"the platform's database, mapped": {own, "[::ffff:127.0.0.1]:5432", false},
		"beside the platform's database":  {own, "127.0.0.1:5433", true},
		"the Kubernetes API":              {own, "10.96.0.1:443", false},
		"the Kubernetes API by NAT64":     {own, "[64:ff9b::10.96.0.1]:443", false},
		"denied network":                  {platform, "10.96.0.1:443", false},
		"last address of denied network":  {platform, "10.111.255.255:1", false},
		"beside the denied network":       {platform, "10.112.0.0:443", true},
		"denied address":                  {platform, "10.0.0.7:80", false},
		"denied address, another port":    {platform, "10.0.0.7:8080", false},
		"beside the denied address":       {platform, "10.0.0.8:80", true},
		"denied port":                     {platform, "10.0.0.1:5432", false},
		"another port than the denied":    {platform, "10.0.0.1:80", true},
		"denied port of another address":  {platform, "10.0.0.2:5432", true},
		"denied address mapped":           {platform, "[::ffff:10.0.0.7]:80", false},
		"denied port mapped":              {platform, "[::ffff:10.0.0.1]:5432", false},
		"other port than denied, mapped":  {platform, "[::ffff:10.0.0.1]:80", true},
		"denied network mapped":           {platform, "[::ffff:10.96.0.1]:80", false},
		"denied address by NAT64":         {platform, "[64:ff9b::10.0.0.7]:80", false},
		"denied address by 6to4":          {platform, "[2002:a00:7::]:80", false},
		"denied v6 network":               {platform, "[fd00:1:2::3]:80", false},
		"beside the denied v6 network":    {platform, "[fd00:3::1]:80", true},
		"denied v6 port":                  {platform, "[fd00:2::1]:443", false},
		"denied v6 port with a zone":      {platform, "[fd00:2::1%eth0]:443", false},
		"another v6 port than the denied": {platform, "[fd00:2::1]:80", true},
		"address denied in mapped form":   {mapped, "10.0.0.7:80", false},
		"port denied in mapped form":      {mapped, "10.0.0.1:5432", false},
		"network denied in mapped form":   {mapped, "10.96.0.1:80", false},
		"beside what is denied mapped":    {mapped, "10.112.0.1:80", true},
		"everything denied":               {everything, "93.184.216.34:443", false},
		"everything denied, v6":           {everything, "[2606:2800:220:1::1]:443", false},
		"everything denied, loopback":     {everything, "127.0.0.1:80", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := c.guard.Check(netip.MustParseAddrPort(c.address))
			var forbidden egress.ErrForbidden
			if errors.As(err, &forbidden) == c.allowed {
				t.Errorf("%s: got %v, want allowed %t", c.address, err, c.allowed)
			}
		})
	}
}

func TestParseDenyRule(t *testing.T) {
	t.Parallel()
	network := func(text string, port uint16) *egress.DenyRule {
		return &egress.DenyRule{Network: netip.MustParsePrefix(text), Port: port}
	}
	cases := map[string]*egress.DenyRule{
		"10.0.0.0/8":           network("10.0.0.0/8", 0),
		"10.1.2.3/8":           network("10.0.0.0/8", 0),
		"0.0.0.0/0":            network("0.0.0.0/0", 0),
		"10.0.0.1":             network("10.0.0.1/32", 0),
		"10.0.0.1:5432":        network("10.0.0.1/32", 5432),
		"fd00::/8":             network("fd00::/8", 0),
		"fd00::1":              network("fd00::1/128", 0),
		"[fd00::1]:443":        network("fd00::1/128", 443),
		"::ffff:10.0.0.1":      network("10.0.0.1/32", 0),
		"[::ffff:10.0.0.1]:53": network("10.0.0.1/32", 53),
		"::ffff:10.0.0.0/104":  network("10.0.0.0/8", 0),
		"::ffff:0.0.0.0/96":    network("0.0.0.0/0", 0),
		"fe80::1%eth0":         network("fe80::1/128", 0),

		"":                  nil,
		"postgres":          nil,
		"postgres:5432":     nil,
		"10.0.0.0/33":       nil,
		"10.0.0":            nil,
		"010.0.0.1":         nil,
		"10.0.0.1:70000":    nil,
		"10.0.0.1:0":        nil, // would deny every port, which nobody means who writes one
		"10.0.0.0/8:5432":   nil,
		"[fd00::1]":         nil,
		" 10.0.0.1":         nil,
		"http://10.0.0.1":   nil,
		"10.0.0.1,10.0.0.2": nil,
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			got, err := egress.ParseDenyRule(text)
			switch {
			case want == nil && err == nil:
				t.Errorf("%q was read as %v", text, got)
			case want != nil && (err != nil || got != *want):
				t.Errorf("got %v, %v, want %v", got, err, *want)
			}
		})
	}
}

// FuzzParseDenyRule shows that a rule that is accepted denies something.
func FuzzParseDenyRule(f *testing.F) {
	for _, text := range []string{"10.0.0.0/8", "10.0.0.1", "10.0.0.1:5432", "[fd00::1]:443", "::ffff:10.0.0.0/104", "::/0", "fe80::1%eth0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := egress.ParseDenyRule(text)
		if err != nil {
			return
		}
		guard := egress.Guard{AllowLoopback: true, Deny: []egress.DenyRule{rule}}
		port := rule.Port
		if port == 0 {
			port = 443
		}
		if guard.Check(netip.AddrPortFrom(rule.Network.Addr(), port)) == nil {
			t.Errorf("%q denies nothing: %v", text, rule)
		}
	})
}

// FuzzGuard checks that an address which is written as another one, or carries an IPv4 address, is judged as what it reaches.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{"10.0.0.1", "127.0.0.1", "169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::", "::ffff:127.0.0.1",
		"fe80::1%eth0", "::1", "fd00:ec2::254"} {
		f.Add(seed, uint16(443))
	}
	f.Fuzz(func(t *testing.T, text string, port uint16) {
		address, err := netip.ParseAddr(text)
		if err != nil {
			return
		}
		guard := egress.Guard{Deny: []egress.DenyRule{{Network: netip.MustParsePrefix("10.0.0.0/8")}}}
		got := guard.Check(netip.AddrPortFrom(address, port))
		if plain := guard.Check(netip.AddrPortFrom(address.Unmap().WithZone(""), port)); (got == nil) != (plain == nil) {
			t.Errorf("%s: %v, and written in another way: %v", address, got, plain)
		}
		if mapped := netip.AddrFrom16(address.As16()); address.Is4() && (guard.Check(netip.AddrPortFrom(mapped, port)) == nil) != (got == nil) {
			t.Errorf("%s: %v, and as %s otherwise", address, got, mapped)
		}
		if got == nil && (address.IsLoopback() || address.IsLinkLocalUnicast() || address.IsMulticast() || address.IsUnspecified()) {
			t.Errorf("%s is let through", address)
		}
		if loopback := (egress.Guard{AllowLoopback: true}); !address.IsLoopback() && loopback.Check(netip.AddrPortFrom(address, port)) == nil &&
			got != nil &&
			!strings.Contains(got.Error(), "deny list") && !strings.Contains(got.Error(), "machine itself") {
			t.Errorf("%s is refused (%v), and let through where loopback is", address, got)
		}
	})
}

// The special-purpose registries of IANA (RFC 6890), the first and the last address of each block. No receiver on the Internet has one,
// also where the registry says that a block is globally reachable: those are anycast addresses of services.
func TestPublicOnlyRefusesSpecialPurposes(t *testing.T) {
	t.Parallel()
	guard := egress.Guard{AllowLoopback: true, PublicOnly: true}
	for _, block := range []string{
		"0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24",
		"192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"240.0.0.0/4", "255.255.255.255/32",
		"::1/128", "::/128", "::ffff:0:0/96", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32", "2001:1::1/128", "2001:1::2/128",
		"2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32",
		"2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
		"224.0.0.0/4", "ff00::/8", "fec0::/10", "4000::/3", // beside the registries: multicast, former site-local, not given out
	} {
		network := netip.MustParsePrefix(block)
		last := network.Addr().AsSlice()
		for bit := network.Bits(); bit < len(last)*8; bit++ {
			last[bit/8] |= 0x80 >> (bit % 8)
		}
		end, _ := netip.AddrFromSlice(last)
		for _, address := range []netip.Addr{network.Addr(), end} {
			if guard.Check(netip.AddrPortFrom(address, 443)) == nil {
				t.Errorf("%s of %s is allowed", address, block)
			}
		}
	}
	for _, address := range []string{
		"1.0.0.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "192.0.1.1", "192.31.195.1", "192.88.98.1", "223.255.255.255",
		"2001:200::1", "2001:4860:4860::8888", "2003::1", "2620:4f:8001::1", "3ffe:ffff::1", "2606:2800::5efe:93.184.216.34",
		"64:ff9b::93.184.216.34", "64:ff9b:1::93.184.216.34", // what a NAT64 makes of an address that is public
	} {
		if err := guard.Check(netip.AddrPortFrom(netip.MustParseAddr(address), 443)); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Callbacks to hosts that nobody named go to the public Internet only.
func TestPublicOnlyRefusesPrivateNetworks(t *testing.T) {
	guard := egress.Guard{AllowLoopback: true, PublicOnly: true}
	for address, allowed := range map[string]bool{
		"93.184.215.14": true, "2606:2800:21f:cb07:6820:80da:af6b:8b2c": true,
		"10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "127.0.0.1": false, "::1": false, "100.64.1.1": false,
		"fd12::1": false, "::ffff:10.0.0.1": false, "64:ff9b::a00:1": false, "169.254.169.254": false, "0.0.0.0": false, "198.51.100.7": false,
	} {
		if err := guard.Check(netip.AddrPortFrom(netip.MustParseAddr(address), 443)); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
}
