package operatorapi

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/egress"
)

// CallbackRules say where the callbacks of a sandbox may go. Who has an API key chooses the URL, and must not choose by
// it where Cauri sends requests.
type CallbackRules struct {
	Hosts       []string // patterns such as *.shop.example, and * for every host; nil: the defaults
	WebhookHost string   // is allowed by default; empty: none
	Namespace   string   // whose Services are allowed by default
}

// Allow reports whether callbacks may go to a URL, and if so, whether only at a public address.
func (r CallbackRules) Allow(target string) (allowed, publicOnly bool) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || egress.HostOf(u) == "" {
		return false, false
	}
	host := egress.HostOf(u)
	if r.Hosts != nil {
		return slices.ContainsFunc(r.Hosts, func(pattern string) bool { return matches(pattern, host) }), false
	}
	if strings.EqualFold(r.WebhookHost, host) {
		return true, false
	}
	for _, domain := range []string{".svc", ".svc.cluster.local"} {
		service, found := strings.CutSuffix(host, "."+r.Namespace+domain)
		if found && service != "" {
			return true, false
		}
	}
	return true, true
}

// matches reports whether a host is a name that matches a pattern, or the address that stands in its place. The pattern
// * is every host.
func matches(pattern, host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		listed, err := netip.ParseAddr(pattern)
		return pattern == "*" || err == nil && listed == address
	}
	matched, err := path.Match(strings.ToLower(pattern), host)
	return err == nil && matched
}
