package faults

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// Draws are numbers that look random and are the same for the same seed, purpose and reference.
type Draws struct{ key string }

// DrawsOf returns the draws of a sandbox. Their key is its seed or, without a seed, its tenant number.
func DrawsOf(seed *int64, tenant int64) Draws {
	if seed != nil {
		return Draws{"seed " + strconv.FormatInt(*seed, 10)}
	}
	return Draws{"tenant " + strconv.FormatInt(tenant, 10)}
}

// Digest returns a keyed hash of the purpose and the reference of a draw.
func (d Draws) Digest(purpose, reference string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, []byte(d.key))
	mac.Write(binary.AppendUvarint(nil, uint64(len(purpose)))) // separates the purpose from the reference
	mac.Write([]byte(purpose))
	mac.Write([]byte(reference))
	return [sha256.Size]byte(mac.Sum(nil))
}

// Below draws a number from 0 to n-1. n must be positive.
func (d Draws) Below(purpose, reference string, n int64) int64 {
	digest := d.Digest(purpose, reference)
	return int64(binary.BigEndian.Uint64(digest[:]) % uint64(n)) // n is far too small for the modulus to favor a number
}

// Chance returns true with a probability of percent %.
func (d Draws) Chance(purpose, reference string, percent int) bool {
	return d.Below(purpose, reference, 100) < int64(percent)
}

// Float draws a number in [0, 1).
func (d Draws) Float(purpose, reference string) float64 {
	const steps = 1 << 53 // that a float64 can distinguish
	return float64(d.Below(purpose, reference, steps)) / steps
}
