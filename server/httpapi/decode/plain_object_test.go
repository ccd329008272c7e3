package decode

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestPlainObjects(t *testing.T) {
	for text, plain := range map[string]bool{
		`{}`: true, " {\n} ": true, `{"a":1,"b":"é","c":true,"d":false,"e":null,"f":""}`: true, `{"a":1,"a":null}`: true,
		"{ \"a\" :\t123456789012345678\r\n, \"b\" : \" \" }": true,
		``: false, `{`: false, `{}}`: false, `{"a"}`: false, `{"a":}`: false, `{"a":1,}`: false, `{,}`: false, `{"a":1 "b":2}`: false,
		`{a:1}`:    false,
		`{"a":01}`: false, `{"a":-1}`: false, `{"a":1.0}`: false, `{"a":1e2}`: false, `{"a":1234567890123456789}`: false,
		`{"a":nul}`: false, `{"a":nulls}`: false, `{"a":"\n"}`: false, "{\"a\":\"\n\"}": false, `{"a":"`: false, `{"a":[]}`: false,
		`{"a":{}}`: false, `[]`: false,
	} {
		if _, ok := parsePlainObject([]byte(text)); ok != plain {
			t.Errorf("%q is read: %t, want %t", text, ok, plain)
		}
	}
}

func FuzzPlainObject(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":"é","c":true,"d":false,"e":null}`, `{"a":1,"a":2}`, " {\n} ", `{"a":01}`, `{"a":1}x`,
		"{\"\u2028\":\"\x7f\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := parsePlainObject(text)
		if !ok || !utf8.Valid(text) {
			return
		}
		want, err := parseAnyObject(text)
		if err != nil {
			t.Fatalf("%q is read as %v, and is %v", text, got, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-encoding/json +plain):\n%s", text, diff)
		}
	})
}
