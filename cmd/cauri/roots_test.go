package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rootsChainVariable names the file with the chain that a process of its own is to verify: a process reads the system's
// certificate authorities once.
const rootsChainVariable = "CAURI_TEST_ROOTS_CHAIN"

// chainsAt is when the chains of these tests are valid.
var chainsAt = time.Date(2023, time.March, 1, 12, 0, 0, 0, time.UTC)

func TestRoots(t *testing.T) {
	if path := os.Getenv(rootsChainVariable); path != "" {
		fmt.Println("the chain is", verdict(t, path))
		os.Exit(0) // at once, without what other tests of this package clean up
	}
	wellKnown := filepath.Join("testdata", "well-known-chain.pem")
	ownRoot, ownChain := makeAuthority(t)
	missing, empty := filepath.Join(t.TempDir(), "none.pem"), t.TempDir()
	for name, c := range map[string]struct{ certFile, certDir, chain, want string }{
		"a well-known authority, in an image without files": {missing, empty, wellKnown, "trusted"},
		"an own authority, unknown":                         {missing, empty, ownChain, "of an unknown authority"},
		"an own authority, by SSL_CERT_FILE":                {ownRoot, empty, ownChain, "trusted"},
		"an own authority, by SSL_CERT_DIR":                 {missing, filepath.Dir(ownRoot), ownChain, "trusted"},
		"the system's authorities stand alone":              {ownRoot, empty, wellKnown, "of an unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRoots$")
			child.Env = append(os.Environ(), rootsChainVariable+"="+c.chain, "SSL_CERT_FILE="+c.certFile, "SSL_CERT_DIR="+c.certDir)
			out, err := child.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got, _, _ := strings.Cut(string(out), "\n"); got != "the chain is "+c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// verdict verifies the first certificate of a file by the others and by what this process trusts.
func verdict(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var chain []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, certificate)
	}
	intermediates := x509.NewCertPool()
	for _, certificate := range chain[1:] {
		intermediates.AddCert(certificate)
	}
	_, err = chain[0].Verify(x509.VerifyOptions{Intermediates: intermediates, CurrentTime: chainsAt})
	var unknown x509.UnknownAuthorityError
	switch {
	case err == nil:
		return "trusted"
	case errors.As(err, &unknown):
		return "of an unknown authority"
	}
	return err.Error()
}

// makeAuthority makes an authority and a server's certificate by it, each in a file; the root's folder holds nothing else.
func makeAuthority(t *testing.T) (root, chain string) {
	t.Helper()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Own CA"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: chainsAt.Add(-time.Hour), NotAfter: chainsAt.Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "hooks"}, DNSNames: []string{"hooks.example"},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	authorityKey, serverKey := newKey(t), newKey(t)
	root, chain = filepath.Join(t.TempDir(), "root.pem"), filepath.Join(t.TempDir(), "chain.pem")
	sign(t, root, authority, authority, &authorityKey.PublicKey, authorityKey)
	sign(t, chain, server, authority, &serverKey.PublicKey, authorityKey)
	return root, chain
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, path string, certificate, parent *x509.Certificate, of *ecdsa.PublicKey, by *ecdsa.PrivateKey) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, certificate, parent, of, by)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
