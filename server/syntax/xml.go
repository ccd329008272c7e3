package syntax

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

// XML returns why a body is not well-formed XML; "" if it is. It ignores the encoding that the body declares.
func XML(body []byte) string {
	if len(bytes.TrimSpace(body)) == 0 {
		return "it is empty"
	}
	if wrong := Encoding(body, ""); wrong != "" {
		return wrong
	}
	in := xml.NewDecoder(bytes.NewReader(body))
	in.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for elements := 0; ; {
		token, err := in.Token()
		switch {
		case errors.Is(err, io.EOF) && elements > 0:
			return ""
		case errors.Is(err, io.EOF):
			return "it has no element"
		case err != nil:
			at := min(int(in.InputOffset()), len(body))
			return fmt.Sprintf("%s is not well-formed XML", positionOf(body, at))
		}
		switch token.(type) {
		case xml.StartElement:
			elements++
		case xml.Directive:
			return fmt.Sprintf("%s is a document type, which is not read", positionOf(body, int(in.InputOffset())))
		}
	}
}
