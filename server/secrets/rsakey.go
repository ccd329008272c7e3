package secrets

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
)

// rsaKeyBits is the size of the keys that the operators publish for their own APIs.
const rsaKeyBits = 2048

// rsaKeyType is the type of the PEM block of an RSA key, in PKCS #8.
const rsaKeyType = "PRIVATE KEY"

// NewRSAKey returns a new RSA key in PEM. Clients of operators' own APIs encrypt PINs or passwords with its public part.
func NewRSAKey(random io.Reader) (string, error) {
	key, err := rsa.GenerateKey(random, rsaKeyBits)
	if err != nil {
		return "", fmt.Errorf("making an RSA key: %w", err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("encoding an RSA key: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: rsaKeyType, Bytes: encoded})), nil
}

var errRSAKey = errors.New("it is no RSA key of at least 2048 bits in PEM (PKCS #8); " +
	"make one with: openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048")

// ParseRSAKey parses a key of [NewRSAKey]. Its errors never show the key.
func ParseRSAKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != rsaKeyType {
		return nil, errRSAKey
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errRSAKey
	}
	private, isRSA := key.(*rsa.PrivateKey)
	if !isRSA || private.N.BitLen() < rsaKeyBits {
		return nil, errRSAKey
	}
	return private, nil
}
