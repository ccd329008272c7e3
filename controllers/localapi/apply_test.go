package localapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	checkout = `
apiVersion: cauri.dev/v1alpha1
kind: SandboxEnvironment
metadata: {name: checkout}
spec:
  environments: [{operator: mtn, country: RW}]
  openingFloat: [{currency: RWF, amount: 1000}]
`
	alice = `---
apiVersion: cauri.dev/v1alpha1
kind: TestClient
metadata: {name: alice}
spec: {sandboxRef: {name: checkout}, msisdn: "+250788123456", balance: 500}
`
)

func TestApply(t *testing.T) {
	p := start(t, Options{})
	said := p.apply(checkout + alice)
	if diff := cmp.Diff([]string{"sandboxenvironment.cauri.dev/checkout created", "testclient.cauri.dev/alice created"}, said); diff != "" {
		t.Error(diff)
	}
	if got := p.credentials()["uri"]; got != "http://127.0.0.1:8080/sandboxes/default/checkout" {
		t.Errorf("the URL is %q", got)
	}
}
