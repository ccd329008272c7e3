package e2e

import (
	"path/filepath"
	"testing"
)

// sampleFolders apply the samples for users other than the one that tries Cauri out, each with its own `kubectl apply -k`, wait for
// what they have, and delete it.
func sampleFolders(s *system) {
	for folder, ready := range map[string][]string{
		"ci":                 {"--namespace=default", "sandboxenvironment/run", "testclient/payer", "testclient/silent", "testclient/person"},
		"platform/team-shop": {"--namespace=team-shop", "sandboxenvironment/payments", "testclient/alice"},
	} {
		s.step(folder, func(*testing.T) {
			path := filepath.Join(s.root, "config", "samples", filepath.FromSlash(folder))
			s.kube("apply", "-k", path)
			s.kube(append([]string{"wait", "--for=condition=Ready", kubectlTimeout}, ready...)...)
			s.kube(append([]string{"delete", kubectlTimeout}, ready...)...)
		})
	}
}
