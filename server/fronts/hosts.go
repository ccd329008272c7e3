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

// apart returns a middleware that serves the consoles at the host of their URL only, and the APIs everywhere else. The
// addresses of the machine itself serve both, because a port-forward leads there. All other requests get notFound.
func apart(consoles *url.URL, notFound http.Handler) func(http.Handler) http.Handler {
	own := withoutDefaultPort(consoles.Host, consoles.Scheme)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			isOwn, isConsole := withoutDefaultPort(r.Host, consoles.Scheme) == own, consolePath.MatchString(r.URL.Path)
			if isOwn == isConsole || isConsole && isLoopback(r.Host) {
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

// isLoopback reports whether a host, with or without a port, is an address of the machine itself.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}
