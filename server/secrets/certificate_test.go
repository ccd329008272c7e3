package secrets_test

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/secrets"
)

// All processes with a key have the same certificate. It has the public key, and clients can check its signature.
func TestCertificateFollowsFromTheKey(t *testing.T) {
	t.Parallel()
	text, err := secrets.NewRSAKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := secrets.ParseCredentialKey(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := secrets.ParseCredentialKey(text); err != nil || again.Certificate != key.Certificate {
		t.Errorf("another process has another certificate (%v)", err)
	}
	block, rest := pem.Decode([]byte(key.Certificate))
	if block == nil || len(rest) > 0 {
		t.Fatalf("no single block: %q", key.Certificate)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if !key.PublicKey.Equal(certificate.PublicKey) || certificate.SerialNumber.Sign() <= 0 {
		t.Errorf("it has the number %v and the key %v", certificate.SerialNumber, certificate.PublicKey)
	}
	if err := certificate.CheckSignature(certificate.SignatureAlgorithm, certificate.RawTBSCertificate, certificate.Signature); err != nil {
		t.Error(err)
	}
	if _, err := secrets.ParseCredentialKey("secret-text"); err == nil || strings.Contains(err.Error(), "secret-text") {
		t.Errorf("no key: %v", err)
	}
}
