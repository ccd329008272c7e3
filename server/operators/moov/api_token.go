package moov

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"regexp"
	"strings"
)

// encryptionKey is the key that all clients share (ThirdParty). It is the default of the SDK of Benin, and scripts of
// Togo use it. So a token proves the user name and the password, not the key.
const encryptionKey = "tlc12345tlc12345tlc12345tlc12345"

// exampleToken is a token for the description.
const exampleToken = "EHq2wGn0p5Mba0OJmA2zJ1J5oJ0mT3rV1fYqk0m0JcE8d3m0b7Yk1wq9bKpYw2d3"

var counterForm = regexp.MustCompile(`^[0-9]{1,18}$`)

// newToken returns a token. It encrypts counter, user name and password by AES-256-CBC, with the initialization vector
// zero (ThirdParty).
func newToken(counter, user, password string) string {
	text := []byte(counter + ":" + user + ":" + password)
	padding := aes.BlockSize - len(text)%aes.BlockSize
	text = append(text, bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(sharedCipher(), make([]byte, aes.BlockSize)).CryptBlocks(text, text)
	return base64.StdEncoding.EncodeToString(text)
}

// readToken returns the user name and the password in a token; ok is false if the token cannot be decrypted. Some
// clients put an initialization vector before the text: base64(vector):base64(text) (ThirdParty).
func readToken(token string) (user, password string, ok bool) {
	vector, sealed := make([]byte, aes.BlockSize), token
	if first, second, found := strings.Cut(token, ":"); found {
		var err error
		if vector, err = base64.StdEncoding.DecodeString(first); err != nil || len(vector) != aes.BlockSize {
			return "", "", false
		}
		sealed = second
	}
	text, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil || len(text) == 0 || len(text)%aes.BlockSize != 0 {
		return "", "", false
	}
	cipher.NewCBCDecrypter(sharedCipher(), vector).CryptBlocks(text, text)
	padding := int(text[len(text)-1])
	if padding < 1 || padding > aes.BlockSize {
		return "", "", false
	}
	parts := strings.SplitN(string(text[:len(text)-padding]), ":", 3)
	if len(parts) != 3 || !counterForm.MatchString(parts[0]) || parts[1] == "" || parts[2] == "" {
		return "", "", false
	}
	return parts[1], parts[2], true
}

func sharedCipher() cipher.Block {
	block, err := aes.NewCipher([]byte(encryptionKey))
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	return block
}
