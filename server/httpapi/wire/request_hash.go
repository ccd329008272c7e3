package wire

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/cauri-dev/cauri/server/payments"
)

// Hash tells whether two requests are the same: of one type, for the same parent if they have one, with the same known fields as they
// were sent, before anything was detected or filled in. It is that of the fields as encoding/json writes a map. Hashes are stored and
// outlive the program: another one for the same request turns a retry across an upgrade into a 409.
func (d *Decoder[T]) Hash(kind payments.Type, parent string, body *T) []byte {
	text := make([]byte, 0, 512)
	text = append(append(append(append(text, kind...), '\n'), parent...), '\n')
	object := jsonObject(append(text, '{'))
	from := reflect.ValueOf(body).Elem()
	for _, f := range d.fields {
		value := from.Field(f.index)
		if value.IsZero() {
			continue
		}
		object.name(f.name)
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
			encoded, _ := json.Marshal(text) // a text can always be encoded
			return append(b, encoded...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
