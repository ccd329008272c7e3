package mpesa

import (
	"context"
	"crypto/subtle"
	"encoding/base64"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// The names of the checked credentials of an initiator.
const (
	initiatorCheck         = "initiator"
	initiatorPasswordCheck = "initiator password"
)

const (
	// lengthOfCredential is the length of what an RSA key of 2048 bits encrypts, in bytes.
	lengthOfCredential = 256
	// lengthOfInitiatorPassword is the number of characters of an initiator's password.
	lengthOfInitiatorPassword = 30
)

const wantedCredential = "the Base64 of 256 bytes: mpesa-initiator-password of the credentials Secret, encrypted for the certificate of this API, " +
	"or a password encrypted for Safaricom's"

// isInitiator reports whether the name of an initiator is right, and the password in the credential, if it is encrypted
// for this installation. A credential for another certificate, such as Safaricom's, is accepted unread: decision 0112 says
// how the two are told apart. Everything is computed before anything is decided.
func isInitiator(ctx context.Context, s operatorapi.Sandbox, name, credential string) (bool, error) {
	text, err := base64.StdEncoding.DecodeString(credential)
	if err != nil || len(text) != lengthOfCredential {
		return false, refusedField("SecurityCredential", wantedCredential)
	}
	right := asInt(s.Checks(initiatorCheck, name))
	if key := s.CredentialKey(); key == nil || key.Size() != lengthOfCredential {
		return right == 1, nil
	}
	padded, err := s.OpenCredential(ctx, text)
	if err != nil {
		return false, err
	}
	password, isOurs, isLong := unpadded(padded)
	isPassword := isLong & asInt(s.Checks(initiatorPasswordCheck, string(password)))
	return right&(1^isOurs|isPassword) == 1, nil
}

func asInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// unpadded removes the padding of PKCS#1 v1.5: 0, 2, at least eight bytes that are not 0, and 0 (RFC 8017, 7.2). Its time
// does not depend on the text. isOurs is 1 if the padding is right and a text follows, which has no control characters but
// those that end a line or are tabs, otherwise 0.
// isLong is 1 if that text has as many characters as a sandbox's password. password has the last characters.
func unpadded(padded []byte) (password []byte, isOurs, isLong int) {
	const least = 2 + 8
	end, looking, zero, readable := len(padded), 1, 0, 1
	for i := 2; i < end; i++ {
		b := padded[i]
		isZero := subtle.ConstantTimeByteEq(b, 0)
		zero = subtle.ConstantTimeSelect(looking&isZero, i, zero)
		isReadable := subtle.ConstantTimeLessOrEq(' ', int(b)) | subtle.ConstantTimeByteEq(b, '\t') |
			subtle.ConstantTimeByteEq(b, '\n') | subtle.ConstantTimeByteEq(b, '\r')
		readable &= looking | isReadable
		looking &= 1 ^ isZero
	}
	length := end - 1 - zero
	isOurs = subtle.ConstantTimeByteEq(padded[0], 0) & subtle.ConstantTimeByteEq(padded[1], 2) & (1 ^ looking) &
		subtle.ConstantTimeLessOrEq(least, zero) & readable
	isLong = subtle.ConstantTimeEq(int32(length), lengthOfInitiatorPassword)
	return padded[end-lengthOfInitiatorPassword:], isOurs, isLong
}
