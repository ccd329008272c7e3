package native

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"testing"
)

// decryptUnpadded reverses the public operation for every number, even for a text above the modulus.
func TestDecryptUnpadded(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	size := key.Size()
	for _, plain := range []*big.Int{
		new(big.Int), big.NewInt(1), big.NewInt(65537), key.Primes[0], key.Primes[1], new(big.Int).Sub(key.N, big.NewInt(1)),
	} {
		text := new(big.Int).Exp(plain, big.NewInt(int64(key.E)), key.N)
		for _, sent := range []*big.Int{text, new(big.Int).Add(text, key.N)} {
			if sent.BitLen() > 8*size {
				continue
			}
			got, err := decryptUnpadded(key, sent.FillBytes(make([]byte, size)))
			if err != nil || !bytes.Equal(got, plain.FillBytes(make([]byte, size))) {
				t.Errorf("%x is decrypted to %x: %v", plain, got, err)
			}
		}
	}
	if _, err := decryptUnpadded(&rsa.PrivateKey{PublicKey: key.PublicKey, Primes: key.Primes}, nil); err == nil {
		t.Error("a key without its parts decrypts")
	}
}

func BenchmarkDecryptUnpadded(b *testing.B) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	text := make([]byte, key.Size())
	for b.Loop() {
		if _, err := decryptUnpadded(key, text); err != nil {
			b.Fatal(err)
		}
	}
}
