package secrets

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
)

// pinKeyBits is the size of the key that Airtel publishes for the newer versions of its API.
const pinKeyBits = 2048

// pinKeyType is the type of the PEM block of a PIN key, in PKCS #8.
const pinKeyType = "PRIVATE KEY"

// NewPINKey returns a new RSA key in PEM. Clients of operators' own APIs encrypt PINs with its public part. Nothing else
// is encrypted with it.
func NewPINKey(random io.Reader) (string, error) {
	key, err := rsa.GenerateKey(random, pinKeyBits)
	if err != nil {
		return "", fmt.Errorf("making a key for PINs: %w", err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("encoding a key for PINs: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: pinKeyType, Bytes: encoded})), nil
}

var errPINKey = errors.New("it is no RSA key of at least 2048 bits in PEM (PKCS #8); " +
	"make one with: openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048")

// ParsePINKey parses a key of [NewPINKey]. Its errors never show the key.
func ParsePINKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != pinKeyType {
		return nil, errPINKey
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errPINKey
	}
	private, isRSA := key.(*rsa.PrivateKey)
	if !isRSA || private.N.BitLen() < pinKeyBits {
		return nil, errPINKey
	}
	return private, nil
}
