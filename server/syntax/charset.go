package syntax

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// western are the labels of encodings that Windows-1252 can decode.
var western = map[string]bool{"iso-8859-1": true, "iso8859-1": true, "latin1": true, "windows-1252": true, "cp1252": true}

// Charset returns the content of an XML document in UTF-8, as [encoding/xml.Decoder.CharsetReader] does. The parameter
// label is the encoding that the document declares. Clients declare encodings that they do not use, so Charset decodes only
// what is not UTF-8. It returns an encoding that it does not know unchanged.
func Charset(label string, in io.Reader) (io.Reader, error) {
	content, err := io.ReadAll(in)
	if err != nil || utf8.Valid(content) || !western[strings.ToLower(label)] {
		return bytes.NewReader(content), err
	}
	return charmap.Windows1252.NewDecoder().Reader(bytes.NewReader(content)), nil
}
