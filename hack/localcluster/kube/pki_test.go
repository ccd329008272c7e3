package kube

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/process/processtest"
)

// filesOf returns the content of every file of a folder.
func filesOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(content)
	}
	return files
}

func TestCertificatesAreKeptUntilTheyRunOut(t *testing.T) {
	t.Parallel()
	p := PKI{State: processtest.State(t)}
	folder := p.State.File("pki")
	begun := time.Now()
	if err := p.Ensure(begun); err != nil {
		t.Fatal(err)
	}
	first := filesOf(t, folder)
	if err := p.Ensure(begun.Add(certificateLife - renewBefore - 2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(first, filesOf(t, folder)) {
		t.Error("certificates with enough life left were replaced")
	}
	if err := p.Ensure(begun.Add(certificateLife - renewBefore + time.Hour)); err != nil {
		t.Fatal(err)
	}
	second := filesOf(t, folder)
	for name, before := range first {
		isServiceAccountKey := bytes.HasPrefix([]byte(name), []byte("service-accounts"))
		if same := second[name] == before; same != isServiceAccountKey {
			t.Errorf("%s: same after renewal: %t", name, same)
		}
	}
}

func TestALostCertificateIsReplaced(t *testing.T) {
	t.Parallel()
	p := PKI{State: processtest.State(t)}
	now := time.Now()
	if err := p.Ensure(now); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(p.Certificate("apiserver")); err != nil {
		t.Fatal(err)
	}
	if p.Complete(now) {
		t.Error("a set without the certificate of the API server counts as complete")
	}
	if err := p.Ensure(now); err != nil || !p.Complete(now) {
		t.Errorf("not fixed: %v", err)
	}
}

func TestTheStoreTrustsNoUserOfTheAPIServer(t *testing.T) {
	t.Parallel()
	p := PKI{State: processtest.State(t)}
	if err := p.Ensure(time.Now()); err != nil {
		t.Fatal(err)
	}
	store, err := p.pool("etcd-ca")
	if err != nil {
		t.Fatal(err)
	}
	for name, trusted := range map[string]bool{"apiserver-etcd-client": true, "admin": false, "controller-manager": false} {
		pair, err := tls.LoadX509KeyPair(p.Certificate(name), p.Key(name))
		if err != nil {
			t.Fatal(err)
		}
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: store, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		if (err == nil) != trusted {
			t.Errorf("etcd trusts %s: %t, want %t (%v)", name, err == nil, trusted, err)
		}
	}
}
