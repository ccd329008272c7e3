package native

import (
	"net/url"
	"path"
	"strings"
)

// CallbackRules say where the callbacks of a sandbox may go. Who has an API key chooses the URL, and must not choose by it where Cauri
// sends requests.
type CallbackRules struct {
	Hosts       []string // patterns such as *.shop.example, and * for every host; nil: the defaults
	WebhookHost string   // is allowed by default; empty: none
	Namespace   string   // whose Services are allowed by default
}

// Allow reports whether callbacks may go to a URL, and if so, whether only at a public address.
func (r CallbackRules) Allow(target string) (allowed, publicOnly bool) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return false, false
	}
	host := canonicalHost(u.Hostname())
	if r.Hosts != nil {
		for _, pattern := range r.Hosts {
			if matched, err := path.Match(strings.ToLower(pattern), host); err == nil && matched {
				return true, false
			}
		}
		return false, false
	}
	if r.WebhookHost != "" && canonicalHost(r.WebhookHost) == host {
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

func canonicalHost(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }
