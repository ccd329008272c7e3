package operatorapi

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/egress"
)

// CallbackRules are the allowed hosts of a sandbox's callbacks. The holder of an API key chooses the URL of a callback.
// With these rules, that person cannot make Cauri send requests to internal hosts (SSRF).
type CallbackRules struct {
	Hosts       []string // patterns such as *.shop.example; * allows every host; nil: the two below, and public hosts
	WebhookHost string   // host with a port, such as shop.example:8443, that is allowed by default; may be empty
	Namespace   string   // namespace whose Services are allowed by default
}

// Allow reports whether callbacks may go to a URL. If publicOnly is true, the host of the URL must have a public
// address. Allow does not check that address: the sender does.
func (r CallbackRules) Allow(target string) (allowed, publicOnly bool) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || egress.HostOf(u) == "" {
		return false, false
	}
	host := egress.HostOf(u)
	if r.Hosts != nil {
		return slices.ContainsFunc(r.Hosts, func(pattern string) bool { return matches(pattern, host) }), false
	}
	if r.isWebhook(u) {
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

// isWebhook reports whether a URL has the host of the webhook, and its port or that of http or https: the team named these,
// and no other program of that host.
func (r CallbackRules) isWebhook(u *url.URL) bool {
	at := strings.ToLower(r.WebhookHost)
	host, _, err := net.SplitHostPort(at)
	port := cmp.Or(u.Port(), "443") // a URL without a port has the one of its scheme
	return err == nil && host == egress.HostOf(u) && (port == "80" || port == "443" || egress.HostPortOf(u) == at)
}

// matches reports whether a host matches a pattern. An IP address matches only the same address or the pattern *.
func matches(pattern, host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		listed, err := netip.ParseAddr(pattern)
		return pattern == "*" || err == nil && listed == address
	}
	matched, err := path.Match(strings.ToLower(pattern), host)
	return err == nil && matched
}
