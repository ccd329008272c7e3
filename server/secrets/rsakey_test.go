package secrets_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/secrets"
)

func TestRSAKeyIsReadAsItWasMade(t *testing.T) {
	t.Parallel()
	text, err := secrets.NewRSAKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	read, err := secrets.ParseRSAKey(text)
	if err != nil || read.N.BitLen() != 2048 {
		t.Fatalf("it is read as %v, %v", read, err)
	}
	other, err := secrets.NewRSAKey(rand.Reader)
	if err != nil || other == text {
		t.Errorf("another key is the same (%v)", err)
	}
}

func TestWhatIsNoRSAKey(t *testing.T) {
	t.Parallel()
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := secrets.NewRSAKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing": "", "no PEM": "secret-text", "cut": whole[:len(whole)/2], "another type": strings.ReplaceAll(whole, "PRIVATE", "PUBLIC"),
		"another algorithm": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})),
		"no key":            string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("secret-text")})),
	} {
		_, err := secrets.ParseRSAKey(text)
		if err == nil || !strings.Contains(err.Error(), "openssl genpkey") || strings.Contains(err.Error(), "secret-text") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
