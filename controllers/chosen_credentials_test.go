package controllers_test

import (
	"strings"
	"testing"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/controllers/sandboxenvironment"
)

// A signing secret for all sandboxes is as one that each of them names, and one that a sandbox names comes first.
func TestSigningSecretOfAllSandboxes(t *testing.T) {
	c := newCluster(t)
	const ofAll, own = "a secret for all sandboxes", "a secret of its own"
	c.start(func(o *controllers.Options) { o.SigningSecret = ofAll })
	c.create(c.newSecret("own", map[string]string{"whsec": own}))
	checkout := c.newSandbox()
	other := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		s.Name = "other"
		s.Spec.Webhook = &v1alpha1.Webhook{URL: "http://shop/", SigningSecretRef: &v1alpha1.SecretKeyReference{Name: "own", Key: "whsec"}}
	})
	for sandbox, want := range map[*v1alpha1.SandboxEnvironment]string{checkout: ofAll, other: own} {
		c.create(sandbox)
		c.sandboxReady(sandbox)
		if got := string(c.secret(sandbox.CredentialsSecretName()).Data["webhook-signing-secret"]); got != want {
			t.Errorf("the signing secret of %s is %q, want %q", sandbox.Name, got, want)
		}
	}
}

func TestCheckedCredentials(t *testing.T) {
	for text, valid := range map[string]bool{
		"cauri_sk_test_" + strings.Repeat("a", 32): true,
		"cauri_sk_test_" + strings.Repeat("a", 64): true,
		"cauri_sk_test_" + strings.Repeat("a", 31): false,
		"cauri_sk_test_" + strings.Repeat("-", 32): false,
		"cauri_sk_live_" + strings.Repeat("a", 32): false,
	} {
		if err := sandboxenvironment.CheckAPIKey(text); (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := sandboxenvironment.CheckSigningSecret("sixteen letters!"); err != nil {
		t.Error(err)
	}
	if err := sandboxenvironment.CheckSigningSecret("too short"); err == nil || strings.Contains(err.Error(), "too short") {
		t.Errorf("a short one: %v", err)
	}
}
