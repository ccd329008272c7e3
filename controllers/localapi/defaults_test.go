package localapi

import "testing"

func TestDefaults(t *testing.T) {
	read, err := Parse("shop.yaml", []byte(`
{apiVersion: cauri.dev/v1alpha1, kind: SandboxEnvironment, metadata: {name: plain}, spec: {stores: [{slug: shop}]}}
---
{apiVersion: cauri.dev/v1alpha1, kind: SandboxEnvironment, metadata: {name: own}, spec: {webhook: null, stores: [{slug: shop}]}}
---
{apiVersion: cauri.dev/v1alpha1, kind: TestClient, metadata: {name: alice}, spec: {msisdn: "+250788000001"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	read.SetDefaults(map[string]any{"webhook": map[string]any{"url": "http://x"}})
	for _, r := range read.resources {
		spec := r.object.Object["spec"].(map[string]any)
		if webhook, _ := spec["webhook"].(map[string]any); (webhook["url"] == "http://x") != (r.object.GetName() == "plain") {
			t.Errorf("%s has the webhook %v", r, spec["webhook"])
		}
	}
	if _, err := Parse("shop.yaml", []byte("{apiVersion: cauri.dev/v1alpha1, kind: Nothing}")); err == nil {
		t.Error("an unknown kind was read")
	}
}
