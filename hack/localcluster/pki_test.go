package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"
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
	p := pki{state: newTestState(t)}
	folder := p.state.file("pki")
	begun := time.Now()
	if err := p.ensure(begun); err != nil {
		t.Fatal(err)
	}
	first := filesOf(t, folder)
	if err := p.ensure(begun.Add(certificateLife - renewBefore - 2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(first, filesOf(t, folder)) {
		t.Error("certificates with enough life left were replaced")
	}
	if err := p.ensure(begun.Add(certificateLife - renewBefore + time.Hour)); err != nil {
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
	p := pki{state: newTestState(t)}
	now := time.Now()
	if err := p.ensure(now); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(p.certificate("apiserver")); err != nil {
		t.Fatal(err)
	}
	if p.complete(now) {
		t.Error("a set without the certificate of the API server counts as complete")
	}
	if err := p.ensure(now); err != nil || !p.complete(now) {
		t.Errorf("not mended: %v", err)
	}
}

func TestTheStoreTrustsNoUserOfTheAPIServer(t *testing.T) {
	t.Parallel()
	p := pki{state: newTestState(t)}
	if err := p.ensure(time.Now()); err != nil {
		t.Fatal(err)
	}
	store, err := p.pool("etcd-ca")
	if err != nil {
		t.Fatal(err)
	}
	for name, trusted := range map[string]bool{"apiserver-etcd-client": true, "admin": false, "controller-manager": false} {
		pair, err := tls.LoadX509KeyPair(p.certificate(name), p.key(name))
		if err != nil {
			t.Fatal(err)
		}
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: store, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		if (err == nil) != trusted {
			t.Errorf("etcd trusts %s: %t, want %t (%v)", name, err == nil, trusted, err)
		}
	}
}
