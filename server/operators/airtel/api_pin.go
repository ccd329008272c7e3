package airtel

import (
	"context"
	"crypto"
	_ "crypto/sha1" // some clients use it in a padding, which does not depend on resistance to collisions
	_ "crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// lengthOfPIN is the number of digits of a PIN (Documented).
const lengthOfPIN = 4

// documentedKey is the length of the fixed key in Airtel's documents, in bits.
const documentedKey = 1024

// oaep has the variants of OAEP that clients use: that of v2 and v3 of the API (Documented), Java's
// OAEPWithSHA-256AndMGF1Padding (ThirdParty), and that of PHP's openssl_public_encrypt (ThirdParty).
var oaep = []struct{ label, mask crypto.Hash }{
	{crypto.SHA256, crypto.SHA256}, {crypto.SHA256, crypto.SHA1}, {crypto.SHA1, crypto.SHA1},
}

// paddings is the text of the header X-Cauri-Reason for every failure that only the private key can detect.
const paddings = "the 4 digits of airtel-pin, encrypted with the key of encryption-keys: with OAEP (SHA-256, with MGF1 by SHA-256 or " +
	"SHA-1), OAEP (SHA-1) or PKCS#1 v1.5"

const pinField = "pin"

// checkPIN returns an error if the encrypted PIN of a request is not the sandbox's. A wrong PIN, a wrong padding and
// another key get the same answer after the same time, because only the private key can tell them apart.
func checkPIN(ctx context.Context, s operatorapi.Sandbox, encrypted string) error {
	key := s.PINKey()
	switch {
	case encrypted == "":
		return operatorapi.Refuse(operatorapi.Invalid).Expect(pinField, "the encrypted PIN, in Base64")
	case key == nil:
		return operatorapi.Because(operatorapi.Unavailable, "no_encryption_key")
	}
	text, err := base64.StdEncoding.DecodeString(encrypted)
	if err != nil {
		return operatorapi.Refuse(unreadablePIN).Expect(pinField, "the encrypted PIN, in Base64, and this is no Base64")
	}
	if len(text) != key.Size() {
		form := fmt.Sprintf("%d bits, which the key of encryption-keys has, and got %d", key.N.BitLen(), 8*len(text))
		if len(text) == documentedKey/8 {
			form += ", as from the fixed key in Airtel's documents"
		}
		return operatorapi.Refuse(unreadablePIN).Expect(pinField, form)
	}
	padded, err := s.OpenPIN(ctx, text)
	if err != nil {
		return err
	}
	if !isPIN(s, padded) {
		return operatorapi.Refuse(wrongPIN).Expect(pinField, paddings)
	}
	return nil
}

// isPIN reports whether the padded text has the sandbox's PIN, in any padding that clients use. Its time does not
// depend on the text: it always tries all paddings, and compares the digits of each.
func isPIN(s operatorapi.Sandbox, padded []byte) bool {
	pin, ok := unpadded15(padded)
	right := ok & check(s, pin)
	for _, hash := range oaep {
		pin, ok := unpaddedOAEP(padded, hash.label, hash.mask)
		right |= ok & check(s, pin)
	}
	return right == 1
}

func check(s operatorapi.Sandbox, pin []byte) int {
	if s.Checks(pinCheck, string(pin)) {
		return 1
	}
	return 0
}

// unpadded15 removes the padding of PKCS#1 v1.5: 0, 2, at least eight bytes that are not 0, and 0 (RFC 8017, 7.2). The
// PIN has a fixed length, so its place does not depend on the text. ok is 1 if the padding is right, otherwise 0.
func unpadded15(padded []byte) (pin []byte, ok int) {
	end := len(padded) - lengthOfPIN
	ok = subtle.ConstantTimeByteEq(padded[0], 0) & subtle.ConstantTimeByteEq(padded[1], 2) & subtle.ConstantTimeByteEq(padded[end-1], 0)
	for _, b := range padded[2 : end-1] {
		ok &= 1 ^ subtle.ConstantTimeByteEq(b, 0)
	}
	return padded[end:], ok
}

// unpaddedOAEP is like unpadded15, for OAEP with an empty label (RFC 8017, 7.1.2). The parameter label is the hash
// function of that label. The parameter mask is the hash function of MGF1.
func unpaddedOAEP(padded []byte, label, mask crypto.Hash) (pin []byte, ok int) {
	size := label.Size()
	seed, block := append([]byte{}, padded[1:1+size]...), append([]byte{}, padded[1+size:]...)
	unmask(seed, block, mask)
	unmask(block, seed, mask)
	end := len(block) - lengthOfPIN
	ok = subtle.ConstantTimeByteEq(padded[0], 0) & subtle.ConstantTimeCompare(block[:size], label.New().Sum(nil)) &
		subtle.ConstantTimeByteEq(block[end-1], 1)
	for _, b := range block[size : end-1] {
		ok &= subtle.ConstantTimeByteEq(b, 0)
	}
	return block[end:], ok
}

// unmask removes a mask from the bytes of the parameter to. The mask is MGF1 of the parameter from (RFC 8017, B.2.1).
func unmask(to, from []byte, hash crypto.Hash) {
	h := hash.New()
	var counter [4]byte
	for done, i := 0, uint32(0); done < len(to); i++ {
		binary.BigEndian.PutUint32(counter[:], i)
		h.Reset()
		h.Write(from)
		h.Write(counter[:])
		done += subtle.XORBytes(to[done:], to[done:], h.Sum(nil))
	}
}
