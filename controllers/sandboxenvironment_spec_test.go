package controllers_test

import (
	"testing"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// What no environment uses is told, and refuses nothing.
func TestWhatNothingUsesIsTold(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.OpeningFloat = append(s.Spec.OpeningFloat, v1alpha1.Money{Currency: "XOF", Amount: 5})
		s.Spec.Stores = []v1alpha1.Store{{Slug: "shop", OperatorCredentials: []v1alpha1.OperatorCredentials{
			{Operator: "mtn", Country: "RW", SecretRef: v1alpha1.LocalSecretReference{Name: "mtn"}},
			{Operator: "airtel", Country: "RW", SecretRef: v1alpha1.LocalSecretReference{Name: "airtel"}},
		}}}
	})
	c.create(sandbox)
	ready := []string{"SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady True Ready", "Ready True Ready"}
	c.sandboxConditions(sandbox, append(ready, "OperatorCredentialsReady False OperatorSecretNotFound")...)
	const told = " Not used: spec.openingFloat[1] (no environment has the currency XOF), " +
		"spec.stores[0].operatorCredentials[1] (there is no environment airtel in RW)."
	for kind, want := range map[string]string{
		"SpecAccepted": "The spec is valid and can be applied." + told, "Ready": "Everything in the spec is applied." + told,
	} {
		if got := message(sandbox.Status.Conditions, kind); got != want {
			t.Errorf("%s says %q, want %q", kind, got, want)
		}
	}
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Environments = append(
			s.Spec.Environments, v1alpha1.Environment{Operator: "airtel", Country: "RW"}, v1alpha1.Environment{Operator: "moov", Country: "BJ"},
		)
	})
	c.sandboxConditions(sandbox, append(ready, "OperatorCredentialsReady False OperatorSecretNotFound")...)
	if got := message(sandbox.Status.Conditions, "Ready"); got != "Everything in the spec is applied." {
		t.Errorf("Ready says %q when all is used", got)
	}
}
