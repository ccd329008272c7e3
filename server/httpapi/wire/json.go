package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// appender is an answer that writes itself, byte for byte as encoding/json would write it. Most answers do, since reflection costs
// several times as much.
type appender interface {
	appendJSON(b []byte) []byte
}

// Append writes an answer behind b, with a line break at its end.
func Append(b []byte, body any) ([]byte, error) {
	if body, ok := body.(appender); ok {
		return append(body.appendJSON(b), '\n'), nil
	}
	return appendEncoded(b, body)
}

// appendEncoded writes a value behind b by encoding/json, with a line break at its end.
func appendEncoded(b []byte, value any) ([]byte, error) {
	out := bytes.NewBuffer(b)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.Bytes(), err
}

// jsonObject is a JSON object that is being written: its fields follow one another in the order of the calls.
type jsonObject []byte

// name begins a field.
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

// texts writes a list of texts, and nothing for an empty one.
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

func (o *jsonObject) boolean(name string, value bool) {
	o.name(name)
	*o = strconv.AppendBool(*o, value)
}

func (o *jsonObject) null(name string) {
	o.name(name)
	*o = append(*o, "null"...)
}

// appendText writes a text. Those with more than plain ASCII are left to encoding/json, whose rules for them are many.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			b, _ = appendEncoded(b, text) // a text can always be encoded
			return b[:len(b)-1]
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
