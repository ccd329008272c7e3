package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// appender is an answer with its own encoder. The result has the same bytes as that of encoding/json, whose reflection
// takes several times as long.
type appender interface {
	appendJSON(b []byte) []byte
}

// Append appends an answer as JSON to b, with a line break at its end.
func Append(b []byte, body any) ([]byte, error) {
	if body, ok := body.(appender); ok {
		return append(body.appendJSON(b), '\n'), nil
	}
	return appendEncoded(b, body)
}

// appendEncoded appends a value to b, encoded by encoding/json, with a line break at its end.
func appendEncoded(b []byte, value any) ([]byte, error) {
	out := bytes.NewBuffer(b)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.Bytes(), err
}

// jsonObject builds the text of a JSON object. Each method appends a field.
type jsonObject []byte

// name appends the name of a field. The caller appends its value.
func (o *jsonObject) name(name string) {
	if (*o)[len(*o)-1] != '{' {
		*o = append(*o, ',')
	}
	*o = append(append(append(*o, '"'), name...), '"', ':')
}

func (o *jsonObject) text(name, value string) {
	o.name(name)
	*o = appendText(*o, value)
}

func (o *jsonObject) optionalText(name string, value *string) {
	if value == nil {
		o.null(name)
		return
	}
	o.text(name, *value)
}

// texts appends a field with a list of strings. It appends nothing for an empty list.
func (o *jsonObject) texts(name string, values []string) {
	if len(values) == 0 {
		return
	}
	o.name(name)
	for i, value := range values {
		*o = appendText(append(*o, "[,"[min(i, 1)]), value)
	}
	*o = append(*o, ']')
}

func (o *jsonObject) integer(name string, value int64) {
	o.name(name)
	*o = strconv.AppendInt(*o, value, 10)
}

// integerIfAny appends nothing for nil.
func (o *jsonObject) integerIfAny(name string, value *int64) {
	if value != nil {
		o.integer(name, *value)
	}
}

func (o *jsonObject) boolean(name string, value bool) {
	o.name(name)
	*o = strconv.AppendBool(*o, value)
}

func (o *jsonObject) null(name string) {
	o.name(name)
	*o = append(*o, "null"...)
}

// raw appends a field whose value is JSON without insignificant spaces; nil is null.
func (o *jsonObject) raw(name string, value json.RawMessage) {
	if value == nil {
		o.null(name)
		return
	}
	o.name(name)
	*o = append(*o, value...)
}

// appendText appends a JSON string to b. encoding/json encodes texts with characters that need escapes or are not
// ASCII.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			b, _ = appendEncoded(b, text) // encoding a string does not fail
			return b[:len(b)-1]
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
