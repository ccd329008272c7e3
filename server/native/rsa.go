package native

import (
	"crypto/rsa"
	"errors"
	"math/big"

	"filippo.io/bigmod"
)

var errRSA = errors.New("the RSA key cannot be used")

// decryptUnpadded decrypts a text by RSA, and returns it with its padding. The result has as many bytes as the key. It
// returns an error only if the key cannot be used. Like crypto/rsa, it makes one private operation, whose time depends
// neither on the text nor on the result. The caller must check the padding in constant time.
func decryptUnpadded(key *rsa.PrivateKey, text []byte) ([]byte, error) {
	if len(key.Primes) != 2 || key.Precomputed.Qinv == nil {
		return nil, errRSA
	}
	n, err := bigmod.NewModulus(key.N.Bytes())
	p, errP := bigmod.NewModulus(key.Primes[0].Bytes())
	q, errQ := bigmod.NewModulus(key.Primes[1].Bytes())
	if err = errors.Join(err, errP, errQ); err != nil {
		return nil, errRSA
	}
	// The text is public, so the time of the remainder may depend on it.
	c, err := bigmod.NewNat().SetBytes(new(big.Int).Mod(new(big.Int).SetBytes(text), key.N).FillBytes(make([]byte, key.Size())), n)
	qInv, errInv := bigmod.NewNat().SetBytes(key.Precomputed.Qinv.FillBytes(make([]byte, p.Size())), p)
	if errors.Join(err, errInv) != nil {
		return nil, errRSA
	}
	// By the Chinese remainder theorem: m = m2 + q * ((m1 - m2) / q mod p), with m1 = c^d mod p and m2 = c^d mod q.
	reduced := bigmod.NewNat()
	m1 := bigmod.NewNat().Exp(reduced.Mod(c, p), key.Precomputed.Dp.FillBytes(make([]byte, p.Size())), p)
	m2 := bigmod.NewNat().Exp(reduced.Mod(c, q), key.Precomputed.Dq.FillBytes(make([]byte, q.Size())), q)
	m1.Sub(reduced.Mod(m2, p), p).Mul(qInv, p).ExpandFor(n)
	m := m1.Mul(q.Nat().ExpandFor(n), n).Add(m2.ExpandFor(n), n)
	return m.Bytes(n), nil
}
