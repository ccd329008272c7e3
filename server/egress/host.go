package egress

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// ErrHost is the error of a request to a URL for which [HostOf] returns an empty host.
var ErrHost = errors.New("the host of the URL is neither a name in ASCII nor an address without a zone")

var (
	names   = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	numbers = regexp.MustCompile(`(?i)(^|\.)(0x[0-9a-f]*|[0-9]+)$`) // the last label of 127.1, 0x7f.0x1 and the like
)

// HostOf returns the host of a URL in the form in which hosts are compared: a name in lower case without a dot at the
// end, or an address in its usual form. HostOf returns "" for a host that programs interpret differently: an address
// with a zone, a name with other characters than ASCII, or an IPv4 address that is not four decimal numbers.
func HostOf(u *url.URL) string {
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
