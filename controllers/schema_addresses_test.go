package controllers_test

import (
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/egress"
)

// An address that no installation ever sends to is refused when the resource is applied. The schema and the guard of the
// workers agree on each of these hosts. A BaseURL of an operator is told by a condition: the rule is too costly there.
func TestAddressesThatNothingIsSentTo(t *testing.T) {
	const nothing = "nothing is ever sent to this address: it is link-local, of a metadata service, of no single receiver, or written in a form " +
		"that programs read differently; write the name of a host, or its address as four decimal numbers"
	fields := map[string]func(url string) string{
		"spec.webhook.url": func(url string) string {
			return "environments: [{operator: mtn, country: RW}]\nwebhook: {url: '" + url + "'}"
		},
		"spec.environments[0].callbackURL": func(url string) string {
			return "environments: [{operator: mtn, country: RW, callbackURL: '" + url + "'}]"
		},
	}
	cases := map[string]schemaCase{}
	for host, refused := range map[string]bool{
		"169.254.169.254": true, "169.254.0.1": true, "0.0.0.0": true, "0.1.2.3": true, "224.0.0.1": true, "239.255.255.250": true,
		"255.255.255.255": true, "100.100.100.200": true, "192.0.0.192": true, "168.63.129.16": true, "[::]": true, "[fe80::1]": true,
		"[FEBF::1]": true, "[ff02::1]": true, "[fd00:ec2::254]": true, "[fd20:ce::254]": true, "127.1": true, "2130706433": true,
		"0x7f.0.0.1": true, "256.1.1.1": true, "shop.1": true,
		"localhost": false, "127.0.0.1": false, "[::1]": false, "10.0.0.1": false, "93.184.216.34": false, "223.255.255.255": false,
		"100.100.100.201": false, "[fd12:3456::1]": false, "[2606:2800:220:1::1]": false, "169.254.example": false, "0.example": false,
		"2130706433.example": false, "shop.team.svc": false,
	} {
		url := "http://" + host + ":8080/events"
		if err := (egress.Guard{AllowLoopback: true}).CheckURL(url); (err != nil) != refused {
			t.Errorf("the guard of the workers says of %s: %v", url, err)
		}
		for field, spec := range fields {
			c := schemaCase{spec: spec(url)}
			if refused {
				c.refuse = []string{field + ": " + nothing}
			}
			cases[field+" at "+host] = c
		}
	}
	testSchema(t, "SandboxEnvironment", cases)
}

// An entry of spec.callbackHosts that the guard of the workers always refuses is refused too, and no other one.
func TestCallbackHostsThatNothingIsSentTo(t *testing.T) {
	const nothing = "nothing is ever sent to this host: it is link-local, of a metadata service, of the Kubernetes API, of no single receiver, or " +
		"written in a form that programs read differently; write the name of a host, or its address as four decimal numbers"
	cases := map[string]schemaCase{}
	for host, refused := range map[string]bool{
		"169.254.169.254": true, "0.0.0.0": true, "0.1.2.3": true, "224.0.0.1": true, "255.255.255.255": true, "100.100.100.200": true,
		"192.0.0.192": true, "168.63.129.16": true, "::": true, "fe80::1": true, "ff02::1": true, "fd00:ec2::254": true, "fd20:ce::254": true,
		"127.1": true, "2130706433": true, "0x7f.0.0.1": true, "256.1.1.1": true, "shop.1": true, "kubernetes.default": true,
		"kubernetes.default.svc": true, "kubernetes.default.svc.cluster.local": true, "metadata.google.internal": true, "metadata.goog": true,
		"instance-data.ec2.internal": true,
		"localhost":                  false, "127.0.0.1": false, "::1": false, "10.0.0.1": false, "223.255.255.255": false, "fd12:3456::1": false,
		"169.254.example": false, "0x.example": false, "shop.team.svc": false, "kubernetes.default.example": false, "metadata.example": false,
	} {
		if err := (egress.Guard{AllowLoopback: true}).CheckURL("http://" + bracketed(host) + ":8080"); (err != nil) != refused {
			t.Errorf("the guard of the workers says of %s: %v", host, err)
		}
		c := schemaCase{spec: "environments: [{operator: mtn, country: RW}]\ncallbackHosts: ['" + host + "']"}
		if refused {
			c.refuse = []string{"spec.callbackHosts[0]: " + nothing}
		}
		cases[host] = c
	}
	for _, pattern := range []string{"*", "*.shop.example", "10*.example", "*.internal"} {
		cases[pattern] = schemaCase{spec: "environments: [{operator: mtn, country: RW}]\ncallbackHosts: ['" + pattern + "']"}
	}
	testSchema(t, "SandboxEnvironment", cases)
}

// bracketed returns an address or a name as in a URL.
func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
