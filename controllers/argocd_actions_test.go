package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/test/argocd"
)

// TestArgoCDActions does each action on a real sandbox, as Argo CD does: by a patch from what stands there to what the script returns.
func TestArgoCDActions(t *testing.T) {
	customizations, err := argocd.Read("..")
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Spec.Webhook = &v1alpha1.Webhook{URL: "http://shop/"} })
	c.create(sandbox)
	c.sandboxReady(sandbox)
	live := func() *unstructured.Unstructured {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("SandboxEnvironment"))
		obj.SetNamespace(sandbox.Namespace)
		obj.SetName(sandbox.Name)
		c.refresh(obj)
		return obj
	}
	act := func(name string) {
		t.Helper()
		obj := live()
		enabled, err := customizations.Enabled(obj)
		if err != nil || !slices.Contains(enabled, name) {
			t.Fatalf("%s is not offered, only %q (%v)", name, enabled, err)
		}
		changed, err := customizations.Act(obj, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Patch(t.Context(), changed, client.MergeFrom(obj)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	offers := func(want ...string) {
		t.Helper()
		enabled, err := customizations.Enabled(live())
		if diff := cmp.Diff(want, enabled); diff != "" || err != nil {
			t.Errorf("the actions (%v): %s", err, diff)
		}
	}
	before := c.secret("checkout-credentials").Data

	offers("reset", "rotate-key", "rotate-webhook-secret", "suspend")
	act("suspend")
	c.until(func(context.Context) string {
		if health, err := customizations.Health(live()); err != nil || health.Status != "Suspended" {
			return fmt.Sprintf("%+v, %v", health, err)
		}
		return ""
	})
	offers("reset", "resume", "rotate-key", "rotate-webhook-secret")
	act("resume")
	act("reset")
	act("rotate-key")
	act("rotate-webhook-secret")
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		after := c.secret("checkout-credentials").Data
		health, err := customizations.Health(live())
		switch {
		case err != nil || health.Status != "Healthy":
			return fmt.Sprintf("%+v, %v", health, err)
		case sandbox.Status.ObservedReset == "" || sandbox.Status.ObservedReset != sandbox.Spec.Reset:
			return "the reset was not applied"
		case string(after["api-key"]) == string(before["api-key"]):
			return "the key is the same"
		case string(after["webhook-signing-secret"]) == string(before["webhook-signing-secret"]):
			return "the signing secret is the same"
		}
		return ""
	})

	// A secret of the user's own is rotated by its owner, and without a webhook there is none.
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Webhook.SigningSecretRef = &v1alpha1.SecretKeyReference{Name: "own", Key: "whsec"}
	})
	offers("reset", "rotate-key", "suspend")
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Webhook = nil })
	offers("reset", "rotate-key", "suspend")
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Credentials = &v1alpha1.Credentials{APIKeySecretRef: &v1alpha1.SecretKeyReference{Name: "own", Key: "key"}}
	})
	offers("reset", "suspend")
}
