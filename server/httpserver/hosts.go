package httpserver

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Hosts are the names under which a server on a developer's machine may be asked. A page of any site can ask such a
// server under a name of the site, by making the name lead to this machine (DNS rebinding), and read the answers. It
// cannot do so under an address, or under a name without a dot.
type Hosts struct{ patterns []string }

// localHosts are names that only this machine, its network, or a cluster gives out.
var localHosts = []string{"*.localhost", "*.internal", "*.local", "*.svc", "*.cluster.local"}

// hostPattern is the form of a name in which * stands for any part.
var hostPattern = regexp.MustCompile(`^[A-Za-z0-9*_-]+(\.[A-Za-z0-9*_-]+)*\.?$`)

// NewHosts returns the hosts with the names of localHosts and those that match a pattern, such as shop.test or *.ngrok.app.
func NewHosts(patterns ...string) (*Hosts, error) {
	h := &Hosts{slices.Clone(localHosts)}
	for _, pattern := range patterns {
		if !hostPattern.MatchString(pattern) {
			return nil, fmt.Errorf("%q is no name of a host: write a name such as shop.test or *.ngrok.app, without scheme and port", pattern)
		}
		h.patterns = append(h.patterns, nameOf(pattern))
	}
	return h, nil
}

// Refused returns the name for which a request is refused; "" for none. It is the name that the client asked for, or one
// that a proxy on this machine was asked for. A request without a host, as HTTP/1.0 allows, is not refused: browsers
// always send one.
func (h *Hosts) Refused(r *http.Request) (name string) {
	asked := []string{r.Host}
	for _, value := range r.Header.Values("X-Forwarded-Host") {
		asked = append(asked, strings.Split(value, ",")...)
	}
	for _, host := range asked {
		if name := nameOf(strings.TrimSpace(host)); !h.allows(name) {
			return name
		}
	}
	return ""
}

// Only returns a handler that answers 421 to requests that are refused, and calls next for the others.
func (h *Hosts) Only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := h.Refused(r); name != "" {
			http.Error(w, "ask for this under localhost or an address", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// endsInNumber matches the other forms of IPv4 addresses, such as 127.1 and 0x7f.1. No name has such an end (WHATWG URL).
var endsInNumber = regexp.MustCompile(`(^|\.)(0x[0-9a-f]*|[0-9]+)$`)

func (h *Hosts) allows(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil || !strings.Contains(name, ".") || endsInNumber.MatchString(name) {
		return true
	}
	return slices.ContainsFunc(h.patterns, func(pattern string) bool {
		matches, err := path.Match(pattern, name)
		return err == nil && matches
	})
}

// nameOf returns the host of a request without its port, in lower case and without dots at its end.
func nameOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimRight(host, "."))
}
