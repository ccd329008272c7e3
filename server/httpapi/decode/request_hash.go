package decode

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/cauri-dev/cauri/server/payments"
)

// Hash returns the fingerprint of a request. Two requests have the same hash if their type, parent and known fields are
// equal as sent, before missing fields are detected. The hashed text is the JSON of encoding/json for a map of the
// fields. Hashes are stored: if an upgrade changed the hash of a request, a retry after the upgrade would be answered
// 409.
func (d *Decoder[T]) Hash(kind payments.Type, parent string, body *T) []byte {
	text := make([]byte, 0, 512)
	text = append(append(append(append(text, kind...), '\n'), parent...), '\n')
	object := append(text, '{')
	from := reflect.ValueOf(body).Elem()
	for _, f := range d.fields {
		value := from.Field(f.index)
		if value.IsZero() {
			continue
		}
		if object[len(object)-1] != '{' {
			object = append(object, ',')
		}
		object = append(append(append(object, '"'), f.name...), '"', ':')
		object = appendHashed(object, reflect.Indirect(value))
	}
	hash := sha256.Sum256(append(object, '}'))
	return hash[:]
}

func appendHashed(b []byte, value reflect.Value) []byte {
	switch value.Kind() {
	case reflect.Int64:
		return strconv.AppendInt(b, value.Int(), 10)
	case reflect.Bool:
		return strconv.AppendBool(b, value.Bool())
	}
	text := value.String()
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			encoded, _ := json.Marshal(text) // encoding a string does not fail
			return append(b, encoded...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
