package sandboxes_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestHostsBelowADomain(t *testing.T) {
	t.Parallel()
	const id = "org_0SGFHP2T6CKSRTNMP79EP8AFX4"
	for base, want := range map[string]string{
		"https://pay.example.com": "https://mtn-nmp79ep8afx4.operators.example.com",
		"http://127.0.0.1:30080":  "http://mtn-nmp79ep8afx4.operators.example.com:30080",
	} {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		domain, err := sandboxes.NewOperatorDomain("Operators.Example.com.", u)
		if err != nil {
			t.Fatal(err)
		}
		if got := domain.URL(payments.MTN, sandboxes.HostCode(id)); got != want {
			t.Errorf("below %s MTN's API is at %s, want %s", base, got, want)
		}
		at, err := url.Parse(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{at.Host, strings.ToUpper(at.Host), at.Hostname() + ".", at.Hostname() + ".:81"} {
			if operator, code, is := domain.Read(host); !is || operator != payments.MTN || code != "nmp79ep8afx4" {
				t.Errorf("%s is read as %s of %s", host, operator, code)
			}
		}
		for _, host := range []string{"", "operators.example.com", "mtn-nmp79ep8afx.operators.example.com", "a.mtn-nmp79ep8afx4.operators.example.com",
			"mtn-nmp79ep8afx4.example.com", "mtnnmp79ep8afx4.operators.example.com", "mtn-nmp79ep8afx4.operators.example.com.evil.example"} {
			if _, _, is := domain.Read(host); is {
				t.Errorf("%s is read as a host of an operator", host)
			}
		}
	}
}

func TestDomainsThatAreRefused(t *testing.T) {
	t.Parallel()
	base := &url.URL{Scheme: "https", Host: "pay.example.com"}
	for _, domain := range []string{"", "*.example.com", "https://example.com", "example.com:8080", "example..com", "-example.com", "10.0.0.1", "::1",
		strings.Repeat("a.", 100) + "com", "exämple.com"} {
		if _, err := sandboxes.NewOperatorDomain(domain, base); err == nil || !strings.Contains(err.Error(), "operators.example.com") {
			t.Errorf("%q: %v", domain, err)
		}
	}
	if _, err := sandboxes.NewOperatorDomain("example.com", nil); err == nil {
		t.Error("a domain needs no base URL")
	}
}
