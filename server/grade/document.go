package grade

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// document is a JSON object with its fields in order.
type document []member

type member struct {
	name  string
	value json.RawMessage
}

func parseDocument(text []byte) (d document, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("the event is no JSON object: %w", err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)} // a name follows, or an error
		if err := decoder.Decode(&m.value); err != nil {
			return nil, err
		}
		d = append(d, m)
	}
	return d, nil
}

// with returns the document with another value of a field, which is added at the end if it is not there.
func (d document) with(name string, value any) document {
	text, err := encode(value)
	if err != nil {
		panic(err) // the package sets only what can be encoded
	}
	changed := slices.Clone(d)
	at := slices.IndexFunc(changed, func(m member) bool { return m.name == name })
	if at < 0 {
		return append(changed, member{name, text})
	}
	changed[at].value = text
	return changed
}

// text returns the text of a field; empty for none.
func (d document) text(name string) (text string) {
	for _, m := range d {
		if m.name == name {
			_ = json.Unmarshal(m.value, &text) // of another type: empty
		}
	}
	return text
}

// asSent returns the document as Cauri writes events: with one blank, before raw.
func (d document) asSent() []byte {
	var out bytes.Buffer
	for i, m := range d {
		out.WriteByte("{,"[min(i, 1)])
		if i > 0 && m.name == "raw" {
			out.WriteByte(' ')
		}
		fmt.Fprintf(&out, "%q:%s", m.name, m.value)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// rewritten returns the document with its fields in the reverse order, and with other blanks.
func (d document) rewritten() []byte {
	back := slices.Clone(d)
	slices.Reverse(back)
	var out bytes.Buffer
	if err := json.Indent(&out, back.asSent(), "", "\t"); err != nil {
		panic(err) // it was parsed before
	}
	return out.Bytes()
}

func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
