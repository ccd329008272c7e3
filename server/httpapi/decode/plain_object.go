package decode

// parsePlainObject is a fast decoder for the JSON objects of nearly every client. Their values are strings without
// escapes, integers of up to 18 digits, booleans and nulls. ok is false for any other text. Then the caller uses
// encoding/json, which takes several times as long. The text must be UTF-8.
func parsePlainObject(text []byte) (object map[string]any, ok bool) {
	r := plainReader{rest: text}
	if !r.next('{') {
		return nil, false
	}
	object = map[string]any{}
	if r.next('}') {
		return object, r.ended()
	}
	for {
		name, isText := r.text()
		if !isText || !r.next(':') {
			return nil, false
		}
		value, known := r.value()
		if !known {
			return nil, false
		}
		object[name] = value
		if r.next('}') {
			return object, r.ended()
		}
		if !r.next(',') {
			return nil, false
		}
	}
}

// plainReader parses a text. rest is the unread part.
type plainReader struct{ rest []byte }

func (r *plainReader) skipSpace() {
	for len(r.rest) > 0 && (r.rest[0] == ' ' || r.rest[0] == '\n' || r.rest[0] == '\t' || r.rest[0] == '\r') {
		r.rest = r.rest[1:]
	}
}

func (r *plainReader) ended() bool {
	r.skipSpace()
	return len(r.rest) == 0
}

// next reads the next character if it is c, and reports whether it is.
func (r *plainReader) next(c byte) bool {
	r.skipSpace()
	if len(r.rest) == 0 || r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

func (r *plainReader) value() (value any, ok bool) {
	r.skipSpace()
	switch {
	case len(r.rest) == 0:
		return nil, false
	case r.rest[0] == '"':
		return r.text()
	case r.word("true"):
		return true, true
	case r.word("false"):
		return false, true
	case r.word("null"):
		return nil, true
	}
	return r.integer()
}

func (r *plainReader) word(word string) bool {
	if len(r.rest) < len(word) || string(r.rest[:len(word)]) != word {
		return false
	}
	r.rest = r.rest[len(word):]
	return true
}

func (r *plainReader) text() (text string, ok bool) {
	if !r.next('"') {
		return "", false
	}
	for i, c := range r.rest {
		switch {
		case c == '"':
			text, r.rest = string(r.rest[:i]), r.rest[i+1:]
			return text, true
		case c == '\\' || c < ' ':
			return "", false
		}
	}
	return "", false
}

func (r *plainReader) integer() (n int64, ok bool) {
	const digits = 18 // always fit into int64
	i := 0
	for i < len(r.rest) && '0' <= r.rest[i] && r.rest[i] <= '9' {
		if i == digits {
			return 0, false
		}
		n = 10*n + int64(r.rest[i]-'0')
		i++
	}
	if i == 0 || i > 1 && r.rest[0] == '0' {
		return 0, false
	}
	r.rest = r.rest[i:] // the caller refuses a fraction or an exponent
	return n, true
}
