package e2e

import (
	"path/filepath"
	"testing"
)

// sampleFolders apply the samples for users other than the one that tries Cauri out, each with its own `kubectl apply -k`, wait for
// what they have, and delete it.
func sampleFolders(t *testing.T, s *system) {
	whole := s.t
	defer func() { s.t = whole }()
	for folder, ready := range map[string][]string{
		"ci":                 {"--namespace=default", "sandboxenvironment/run", "testclient/payer", "testclient/silent", "testclient/person"},
		"platform/team-shop": {"--namespace=team-shop", "sandboxenvironment/payments", "testclient/alice"},
	} {
		t.Run(folder, func(t *testing.T) {
			s.t = t
			path := filepath.Join(s.root, "config", "samples", filepath.FromSlash(folder))
			s.kube("apply", "-k", path)
			s.kube(append([]string{"wait", "--for=condition=Ready", "--timeout=30s"}, ready...)...)
			s.kube(append([]string{"delete", "--timeout=60s"}, ready...)...)
		})
	}
}
