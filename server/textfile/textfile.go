// Package textfile reads texts that a person wrote, whatever program wrote the file: UTF-8 with or without a byte order
// mark, and UTF-16 with one, as Windows PowerShell writes it.
package textfile

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Read returns the text of a file in UTF-8, without a byte order mark.
func Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(Reader(bytes.NewReader(text)))
}

// Reader returns a reader of the text in UTF-8, without a byte order mark. What has no mark stays as it is, byte for byte.
func Reader(of io.Reader) io.Reader {
	return transform.NewReader(of, unicode.BOMOverride(transform.Nop))
}
