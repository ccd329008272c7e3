package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	serversecrets "github.com/cauri-dev/cauri/server/secrets"
)

// jsonLiteral matches a text in JSON.
var jsonLiteral = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// secrets are the values that no message may have.
type secrets struct {
	mutex sync.Mutex
	names map[string]string // of each value
	order []string          // the values in all their forms, the longest first
}

func newSecrets() *secrets { return &secrets{names: map[string]string{}} }

// learn adds values, by the names of their variables. Those of a former key stay.
func (s *secrets) learn(values map[string]string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if _, known := s.names[value]; known || len(value) < serversecrets.Shortest {
			continue
		}
		for _, encoded := range serversecrets.Encodings(value) {
			for _, form := range formsOf(encoded) {
				s.names[form] = name
			}
		}
	}
	s.order = slices.SortedFunc(maps.Keys(s.names), func(a, b string) int { return len(b) - len(a) })
}

// formsOf returns a value as it is, and as it is within a text of JSON.
func formsOf(value string) []string {
	forms := []string{value}
	for _, html := range []bool{false, true} {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(html)
		if encoder.Encode(value) == nil {
			forms = append(forms, strings.Trim(strings.TrimSuffix(text.String(), "\n"), `"`))
		}
	}
	return forms
}

// hidden returns a text with the names of the secrets in their place.
func (s *secrets) hidden(text string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, value := range s.order {
		if strings.Contains(text, value) {
			text = strings.ReplaceAll(text, value, "["+s.names[value]+"]")
		}
	}
	return serversecrets.Form.ReplaceAllString(text, "[a secret]")
}

// has reports whether a text has a secret.
func (s *secrets) has(text string) bool { return s.hidden(text) != text }

// message returns a message of the protocol without secrets. If one would remain, it returns an error message instead.
func (s *secrets) message(line []byte) []byte {
	clean := jsonLiteral.ReplaceAllFunc(line, func(literal []byte) []byte {
		var text string
		if json.Unmarshal(literal, &text) != nil || !s.has(text) {
			return literal
		}
		encoded, err := json.Marshal(s.hidden(text))
		if err != nil {
			return []byte(`""`)
		}
		return encoded
	})
	if !s.remains(clean) {
		return clean
	}
	var request struct {
		ID json.RawMessage `json:"id,omitempty"`
	}
	_ = json.Unmarshal(line, &request) // without an id, the message is not an answer
	if request.ID == nil || s.has(string(request.ID)) {
		return nil
	}
	return []byte(`{"jsonrpc":"2.0","id":` + string(request.ID) +
		`,"error":{"code":-32603,"message":"The answer is withheld: it has a secret that could not be removed."}}`)
}

// remains reports whether a message that was cleaned still has a secret, or is not JSON any more.
func (s *secrets) remains(line []byte) bool {
	var decoded any
	if json.Unmarshal(line, &decoded) != nil {
		return true
	}
	plain, err := json.Marshal(decoded)
	return err != nil || s.has(string(line)) || s.has(string(plain))
}

// filter removes secrets from each line that is written.
type filter struct {
	secrets *secrets
	out     io.WriteCloser
	mutex   sync.Mutex
	begun   []byte // of a line without its end
}

// Write implements [io.Writer]. It writes whole lines only.
func (f *filter) Write(p []byte) (int, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.begun = append(f.begun, p...)
	for {
		line, rest, whole := bytes.Cut(f.begun, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if line = f.secrets.message(line); len(line) > 0 {
			if _, err := f.out.Write(append(slices.Clip(line), '\n')); err != nil {
				return 0, err
			}
		}
		f.begun = rest
	}
}

// Close implements [io.Closer].
func (f *filter) Close() error { return f.out.Close() }
