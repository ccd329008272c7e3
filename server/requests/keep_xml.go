package requests

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/cauri-dev/cauri/server/syntax"
)

// maxXMLDepth is the maximum depth of the elements that are read. A document is not read further than its first deeper
// element.
const maxXMLDepth = 10

// isXML reports whether a body begins as XML does.
func isXML(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, "\ufeff \t\r\n"), []byte("<"))
}

// elements returns the elements without children whose local names are in allowed, as a JSON object of texts (nil for
// none), and the names of the others. It reads no document type, and so no entities but those of XML itself.
func (k *Redactor) elements(text []byte, allowed Fields) (kept json.RawMessage, notKept names) {
	in := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	in.CharsetReader = syntax.Charset
	values := map[string]string{}
	var content strings.Builder
	depth, childless := 0, false
	token, err := in.Token()
	for ; err == nil && depth <= maxXMLDepth; token, err = in.Token() {
		switch t := token.(type) {
		case xml.Directive:
			notKept.append(string(RestOfBody))
			return encodedTexts(values), notKept
		case xml.StartElement:
			depth, childless = depth+1, true
			content.Reset()
		case xml.CharData:
			content.Write(t)
		case xml.EndElement:
			name, value := t.Name.Local, strings.TrimSpace(content.String())
			if childless && allowed[name] {
				k.join(values, name, value)
			} else if childless && value != "" {
				notKept.add(k, name, "a field")
			}
			depth, childless = depth-1, false
		}
	}
	if !errors.Is(err, io.EOF) {
		notKept.append(string(RestOfBody))
	}
	return encodedTexts(values), notKept
}

// join adds a value to those with its name. A repeated name has all of its values.
func (k *Redactor) join(values map[string]string, name, value string) {
	if former, repeated := values[name]; repeated {
		value = former + ", " + value
	}
	values[name] = k.Text(value)
}

// encodedTexts returns texts as a JSON object; nil for none.
func encodedTexts(values map[string]string) json.RawMessage {
	if len(values) == 0 {
		return nil
	}
	return encoded(values)
}
