package egress

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// ErrHost is the error of a request to a URL for which [HostOf] returns an empty host.
var ErrHost = errors.New("the host of the URL is neither a name in ASCII nor an address without a zone, " +
	"or what is special in its password is not encoded, or its port is not one of 1 to 65535")

var (
	names   = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	numbers = regexp.MustCompile(`(?i)(^|\.)(0x[0-9a-f]*|[0-9]+)$`) // the last label of 127.1, 0x7f.0x1 and the like
)

// Unclear reports whether a part of a URL behind its host may be of a password that is not encoded: there is an @ behind a
// user or a port. Of https://user:pa/ss@host, programs read a host and a port that are of the user and the password.
func Unclear(u *url.URL) bool {
	return (u.User != nil || u.Port() != "") && strings.Contains(u.EscapedPath()+u.RawQuery+u.EscapedFragment(), "@")
}

// Shown returns a text that should be a URL, in quotes; if it may have a password, only words for it.
func Shown(text string) string {
	if strings.Contains(text, "@") {
		return "what it is (not shown, since it may have a password)"
	}
	return strconv.Quote(text)
}

// proxyVariables are the environment variables with the URL of a proxy.
var proxyVariables = []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"}

// Proxies returns the names of the variables that name a proxy.
func Proxies(getenv func(string) string) (names []string) {
	for _, name := range proxyVariables {
		if getenv(name) != "" {
			names = append(names, name)
		}
	}
	return names
}

// CheckProxies returns an error if a variable with the URL of a proxy is none, or is unclear, since errors of requests would
// show parts of its password. It does not show the URL.
func CheckProxies(getenv func(string) string) error {
	for _, name := range Proxies(getenv) {
		text := getenv(name)
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		if u, err := url.Parse(text); err != nil || u.Host == "" || Unclear(u) {
			return fmt.Errorf("%s is no URL of a proxy: write http://user:password@host:3128, "+
				"and what is special in the password encoded (%%40 for @)", name)
		}
	}
	return nil
}

// HostPortOf returns the host of a URL, as [HostOf] does, with its port or that of its scheme; "" if there is no such host.
func HostPortOf(u *url.URL) string {
	host := HostOf(u)
	if host == "" {
		return ""
	}
	return net.JoinHostPort(host, portOf(u))
}

// portOf returns the port of a URL, or that of its scheme.
func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]) // the parser writes schemes in lower case
}

// HostOf returns the host of a URL in the form in which hosts are compared: a name in lower case without a dot at the
// end, or an address in its usual form. HostOf returns "" for a host that programs interpret differently: an address
// with a zone, a name with other characters than ASCII, or an IPv4 address that is not four decimal numbers. It also does so
// for a URL with a user that is [Unclear], and for one with a port that does not exist: only 1 to 65535 do.
func HostOf(u *url.URL) string {
	if u.User != nil && Unclear(u) {
		return ""
	}
	if port, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16); err != nil || port == 0 {
		return ""
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if address, err := netip.ParseAddr(host); err == nil {
		if address.Zone() != "" {
			return ""
		}
		return address.String()
	}
	if !names.MatchString(host) || numbers.MatchString(host) {
		return ""
	}
	return strings.ToLower(host)
}
