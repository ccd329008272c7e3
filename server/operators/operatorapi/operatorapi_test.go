package operatorapi_test

import (
	"regexp"
	"testing"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

func TestCallbacksGoWhereTheSandboxAllows(t *testing.T) {
	byDefault := operatorapi.CallbackRules{WebhookHost: "Shop.elsewhere.svc:3000", Namespace: "team"}
	listed := operatorapi.CallbackRules{Hosts: []string{"*.shop.example", "127.0.0.1"}, WebhookHost: "hooks.example:443", Namespace: "team"}
	everything := operatorapi.CallbackRules{Hosts: []string{"*"}}
	addresses := operatorapi.CallbackRules{Hosts: []string{"10.*", "*.1", "*:*", "fd00:0::1"}}
	for _, c := range []struct {
		rules               operatorapi.CallbackRules
		url                 string
		allowed, publicOnly bool
	}{
		{byDefault, "http://shop.elsewhere.svc:3000/x", true, false},
		{byDefault, "http://shop.elsewhere.svc/x", true, false},
		{byDefault, "https://shop.elsewhere.svc/x", true, false},
		{byDefault, "https://shop.elsewhere.svc.:443/x", true, false},
		{byDefault, "http://shop.elsewhere.svc:6379/x", true, true},
		{byDefault, "https://shop.elsewhere.svc:3001/x", true, true},
		{operatorapi.CallbackRules{WebhookHost: "[fd00::1]:8080"}, "http://[FD00:0::1]:8080/x", true, false},
		{operatorapi.CallbackRules{WebhookHost: "[fd00::1]:8080"}, "http://[fd00::1]:8081/x", true, true},
		{operatorapi.CallbackRules{WebhookHost: "10.0.0.1:8080"}, "http://10.0.0.1:5432/x", true, true},
		{byDefault, "http://shop.team.svc/x", true, false},
		{byDefault, "http://shop.team.svc./x", true, false},
		{byDefault, "https://other.team.svc.cluster.local:8443/x", true, false},
		{byDefault, "http://shop.other.svc/x", true, true},
		{byDefault, "http://evil-team.svc/x", true, true},
		{byDefault, "http://team.svc/x", true, true},
		{byDefault, "http://10.0.0.1/x", true, true},
		{byDefault, "https://shop.example/x", true, true},
		{byDefault, "ftp://shop.example/x", false, false},
		{byDefault, "http://user@shop.team.svc/x", false, false},
		{byDefault, "http:///x", false, false},
		{byDefault, "/x", false, false},
		{byDefault, "http://[::1", false, false},
		{operatorapi.CallbackRules{Namespace: "team"}, "http://shop.example/x", true, true},
		{listed, "http://A.Shop.Example/x", true, false},
		{listed, "http://shop.example/x", false, false},
		{listed, "http://hooks.example/x", false, false},
		{listed, "http://shop.team.svc/x", false, false},
		{listed, "http://127.0.0.1:3000/x", true, false},
		{everything, "http://10.0.0.1/x", true, false},
		{operatorapi.CallbackRules{Hosts: []string{}}, "http://shop.example/x", false, false},
		{byDefault, "http://[::1%25x.team.svc]/x", false, false},
		{byDefault, "http://[fd00:10::5%25x.team.svc]/x", false, false},
		{byDefault, "http://[64:ff9b::10.0.0.5%25x.team.svc.cluster.local]/x", false, false},
		{byDefault, "http://[::1%25shop.elsewhere.svc]/x", false, false},
		{byDefault, "http://[fe80::1%25eth0]/x", false, false},
		{byDefault, "http://[2001:db8::1]/x", true, true},
		{byDefault, "http://shöp.team.svc/x", false, false},
		{byDefault, "http://127.1/x", false, false},
		{byDefault, "http://:80/x", false, false},
		{byDefault, "http://shop.team.svc:0/x", false, false},
		{byDefault, "http://shop.team.svc:65535/x", true, false},
		{byDefault, "http://shop.team.svc:65536/x", false, false},
		{byDefault, "http://shop.team.svc:99999999999999999999/x", false, false},
		{byDefault, "http://shop.team.svc:/x", true, false},
		{listed, "http://[::1%25x.shop.example]:18999/x", false, false},
		{listed, "http://a.shop.example.:3000/x", true, false},
		{everything, "http://[::1%25x]/x", false, false},
		{everything, "http://[::1]/x", true, false},
		{addresses, "http://10.0.0.1/x", false, false},
		{addresses, "http://[::1]/x", false, false},
		{addresses, "http://[FD00::1]/x", true, false},
		{addresses, "http://10.example/x", true, false},
	} {
		if allowed, publicOnly := c.rules.Allow(c.url); allowed != c.allowed || publicOnly != c.publicOnly {
			t.Errorf("%+v: %s is %t, %t", c.rules, c.url, allowed, publicOnly)
		}
	}
}

func TestDerivedCredentialsFollowFromTheKeyAndThePurpose(t *testing.T) {
	seen := map[string]bool{}
	for _, key := range []string{"cauri_sk_test_a", "cauri_sk_test_b"} {
		for _, purpose := range []string{"one", "two"} {
			text, id := operatorapi.Derived(key, purpose), operatorapi.DerivedUUID(key, purpose)
			if text != operatorapi.Derived(key, purpose) || id != operatorapi.DerivedUUID(key, purpose) || seen[text] || seen[id] {
				t.Errorf("%s, %s: %s %s", key, purpose, text, id)
			}
			if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) || len(text) != 32 {
				t.Errorf("%s, %s have the wrong form", text, id)
			}
			seen[text], seen[id] = true, true
		}
	}
}
