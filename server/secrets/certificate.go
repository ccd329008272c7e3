package secrets

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// CredentialKey is the key with which clients of operators' own APIs encrypt passwords. They take the public key from the
// certificate.
type CredentialKey struct {
	*rsa.PrivateKey
	Certificate string // in PEM
}

// ParseCredentialKey parses a key of [NewRSAKey]. Its errors never show the key.
func ParseCredentialKey(text string) (*CredentialKey, error) {
	key, err := ParseRSAKey(text)
	if err != nil {
		return nil, err
	}
	certificate, err := certificateOf(key)
	if err != nil {
		return nil, err
	}
	return &CredentialKey{key, certificate}, nil
}

// certificateOf returns a self-signed certificate in PEM. It follows from the key: signatures of PKCS #1 v1.5 are
// deterministic, and the other parts are fixed. So all processes with the key have the same certificate, and only the
// key is stored.
func certificateOf(key *rsa.PrivateKey) (string, error) {
	number := sha256.Sum256(x509.MarshalPKCS1PublicKey(&key.PublicKey))
	certificate := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(number[:16]),
		Subject:      pkix.Name{CommonName: "Cauri sandbox, simulated credentials only"},
		NotBefore:    time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC), // also for clients whose clock is wrong
		NotAfter:     time.Date(2099, time.December, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage:     x509.KeyUsageKeyEncipherment, SignatureAlgorithm: x509.SHA256WithRSA,
	}
	encoded, err := x509.CreateCertificate(rand.Reader, certificate, certificate, &key.PublicKey, key)
	if err != nil {
		return "", fmt.Errorf("making a certificate: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: encoded})), nil
}
