package sandboxes

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// OperatorDomain is a domain below which each operator's own API of each sandbox has a host. The host is one label below
// the domain, {operator}-{code}, so that one wildcard name and one certificate serve all of them.
type OperatorDomain struct {
	domain string   // in lower case, without a dot at its end
	base   *url.URL // base URL of the API: the hosts have its scheme and its port
}

// hostCodeLength is the number of characters of [HostCode]. They have 58 random bits.
const hostCodeLength = 12

// longestDomain is the maximum length of a domain, so that a label below it makes a name of at most 253 characters.
const longestDomain = 253 - 64

var (
	domainForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	hostLabel  = regexp.MustCompile(`^([a-z]+)-([0-9a-z]{12})$`)
)

// NewOperatorDomain returns a domain, for an API with a base URL. It returns an error that says what to write instead.
func NewOperatorDomain(domain string, base *url.URL) (*OperatorDomain, error) {
	if base == nil {
		return nil, errors.New("it needs the base URL of the API, whose scheme and port its hosts have")
	}
	name := strings.ToLower(strings.TrimSuffix(domain, "."))
	if _, err := netip.ParseAddr(name); err == nil || !domainForm.MatchString(name) || len(name) > longestDomain {
		return nil, fmt.Errorf("%q is no domain: write a name such as operators.example.com, without *., scheme and port", domain)
	}
	return &OperatorDomain{name, base}, nil
}

// HostCode returns the code of an organization in the names of its hosts: the last 12 characters of its id, in lower
// case. The characters before them are mostly a time, which others can guess.
func HostCode(organizationID string) string {
	return strings.ToLower(organizationID[max(0, len(organizationID)-hostCodeLength):])
}

// URL returns the URL of an operator's own API of an organization. The code may also be a placeholder.
func (d *OperatorDomain) URL(operator payments.Operator, code string) string {
	host := string(operator) + "-" + code + "." + d.domain
	if port := d.base.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	return d.base.Scheme + "://" + host
}

// Read returns the operator and the code in the host of a request. is is false if the host has not the form of [URL].
// The operator and the code may be unknown.
func (d *OperatorDomain) Read(host string) (operator payments.Operator, code string, is bool) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	label, below := strings.CutSuffix(strings.ToLower(strings.TrimSuffix(host, ".")), "."+d.domain)
	if !below {
		return "", "", false
	}
	found := hostLabel.FindStringSubmatch(label)
	if found == nil {
		return "", "", false
	}
	return payments.Operator(found[1]), found[2], true
}
