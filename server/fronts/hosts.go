package fronts

import (
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// consolePath matches the paths of the consoles.
var consolePath = regexp.MustCompile(`^/sandboxes/[^/]+/[^/]+/console(/|$)`)

// apart returns a middleware that serves the consoles at the host of their URL only, and the APIs everywhere else. A
// port-forward serves both. All other requests get notFound.
func apart(consoles *url.URL, notFound http.Handler) func(http.Handler) http.Handler {
	own := withoutDefaultPort(consoles.Host, consoles.Scheme)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			isOwn, isConsole := withoutDefaultPort(r.Host, consoles.Scheme) == own, consolePath.MatchString(r.URL.Path)
			if isOwn == isConsole || isConsole && isPortForward(r) {
				next.ServeHTTP(w, r)
				return
			}
			notFound.ServeHTTP(w, r)
		})
	}
}

// withoutDefaultPort returns a host in lower case, without the default port of a scheme.
func withoutDefaultPort(host, scheme string) string {
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	return strings.ToLower(strings.TrimSuffix(host, port))
}

// isPortForward reports whether a request for an address of the machine itself was made on it, by no proxy. The host alone
// does not say so: anybody can write it.
func isPortForward(r *http.Request) bool {
	for name := range r.Header {
		if name == "Via" || name == "Forwarded" || strings.HasPrefix(name, "X-Forwarded-") {
			return false
		}
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return local != nil && isLoopback(local.String()) && isLoopback(r.RemoteAddr) && isLoopback(r.Host)
}

// isLoopback reports whether a host, with or without a port, is an address of the machine itself.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}
