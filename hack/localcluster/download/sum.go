package download

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
)

// WrongSum is the error for a complete file with a wrong sum.
type WrongSum struct {
	URL, Got, Want string
	// continued is whether the beginning of the file comes from an earlier attempt.
	continued bool
}

func (w WrongSum) Error() string {
	return fmt.Sprintf(`%s is not the published file: its sum is
  %s
and the pinned sum is
  %s
The file is removed, and nothing of it ran. A proxy or a mirror may have replaced it: try another network or %s,
or build from source: %s=off`, w.URL, w.Got, w.Want, MirrorVariable, SwitchVariable)
}

// newHash returns the hash algorithm for a hexadecimal sum of this length; nil for none.
func newHash(sum string) hash.Hash {
	decoded, err := hex.DecodeString(sum)
	switch {
	case err != nil:
		return nil
	case len(decoded) == sha256.Size:
		return sha256.New()
	case len(decoded) == sha512.Size:
		return sha512.New()
	}
	return nil
}

// sumOf returns the sum of a file, with the algorithm of the sum like.
func sumOf(path, like string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := newHash(like)
	if _, err := io.Copy(h, file); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
