package syntax_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/cauri-dev/cauri/server/syntax"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	deep := `{"a": ` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}"
	for text, want := range map[string]string{
		`{}`:                       "",
		" {\"a\": [1, null]}\n":    "",
		``:                         "it is empty",
		" \n":                      "it is empty",
		"\xef\xbb\xbf{}":           "it begins with a byte order mark (its first bytes are ef bb bf 7b): send it without",
		"\x1f\x8b\x08\x00\x00":     "it is compressed with gzip (its first bytes are 1f 8b 08 00): send it uncompressed",
		"\xff\xfe{\x00}\x00":       "it is UTF-16 (its first bytes are ff fe 7b 00): send it as UTF-8",
		"\xfe\xff\x00{\x00}":       "it is UTF-16 (its first bytes are fe ff 00 7b): send it as UTF-8",
		"{\x00\"\x00a\x00":         "it is UTF-16 (its first bytes are 7b 00 22 00): send it as UTF-8",
		"{\"a\": \"caf\xe9\"}":     "it is not UTF-8: line 1, column 11 (byte 11) is e9, as in ISO-8859-1 or Windows-1252. Send it as UTF-8",
		`amount=1500&currency=RWF`: "it is a form (application/x-www-form-urlencoded), and no JSON",
		`<xml/>`:                   "it is XML or HTML, and no JSON",
		`[{"a": 1}]`:               "it is a list",
		`"{\"a\": 1}"`:             "it is a text with an object in it, so it was encoded twice",
		`"a"`:                      "it is a text",
		`null`:                     "it is only a number, true, false or null",
		`12`:                       "it is only a number, true, false or null",
		`{'a': 1}`:                 `line 1, column 2 (byte 2) has a single quote: JSON quotes with " only`,
		"{“a”: 1}":                 `line 1, column 2 (byte 2) has '\u201c': a typographic quote, and JSON quotes with " only`,
		"{\n  \"é\": 1,\n}":        "line 3, column 1 (byte 14) has '}': the comma before it is one too many",
		`{"a": [1, ]}`:             "line 1, column 11 (byte 11) has ']': the comma before it is one too many",
		`{"a": 1`:                  "it ends too early, at line 1, column 8 (byte 8): it was probably cut off",
		`{"a": "b`:                 "it ends too early, at line 1, column 9 (byte 9): it was probably cut off",
		`{"a": 1} {"b": 2}`:        "line 1, column 10 (byte 10) has '{': there is more text after the object",
		`{a: 1}`:                   `line 1, column 2 (byte 2) has 'a': names are quoted with "`,
		`{"a": b}`:                 `line 1, column 7 (byte 7) has 'b': texts are quoted with "`,
		`{"a": None}`:              "line 1, column 7 (byte 7) has None: write null",
		`{"a": True}`:              "line 1, column 7 (byte 7) has True: write true",
		`{"a": NaN}`:               "line 1, column 7 (byte 7) has NaN: JSON has no such number",
		`{"a": -Infinity}`:         "line 1, column 8 (byte 8) has Infinity: JSON has no such number",
		`{"a": undefined}`:         "line 1, column 7 (byte 7) has undefined: leave the field out",
		`{"a": 1 "b": 2}`:          `line 1, column 9 (byte 9) has '"': a comma is missing before it`,
		`{"a": 1, // one`:          "line 1, column 10 (byte 10) has '/': JSON has no comments",
		"{\"a\": \"b\nc\"}":        `line 1, column 9 (byte 9) has '\n': inside of a text it is written with a backslash`,
		`{"a": "\x"}`:              `line 1, column 9 (byte 9) has 'x': a backslash has one of "\/bfnrtu behind it`,
		`{"a"= 1}`:                 "line 1, column 5 (byte 5) has '=': a colon stands between name and value",
		`{"a": , "b": 1}`:          "line 1, column 7 (byte 7) has ',': a value is missing before it",
		`{"a": 007}`:               "line 1, column 8 (byte 8) has '0': a number has no zeros before it",
		`{"a": +1}`:                "line 1, column 7 (byte 7) has '+': no value of JSON begins so",
		deep:                       "line 1, column 10006 (byte 10006) has '[': lists and objects are nested too deep",
		`?`:                        "line 1, column 1 (byte 1) has '?': no value of JSON begins so",
	} {
		if told := syntax.JSON([]byte(text)); told != want {
			t.Errorf("%q: %q, want %q", text, told, want)
		}
	}
}

func TestEncoding(t *testing.T) {
	t.Parallel()
	const want = `its header Content-Encoding is "gzip": send it uncompressed, and leave the header out`
	if told := syntax.Encoding([]byte("{}"), "gzip"); told != want {
		t.Errorf("gzip: %q", told)
	}
	for _, coding := range []string{"", "identity", " Identity "} {
		if told := syntax.Encoding([]byte("{}"), coding); told != "" {
			t.Errorf("%q: %q", coding, told)
		}
	}
}

func TestXML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`<a><b/></a>`:        "",
		``:                   "it is empty",
		`a`:                  "it has no element",
		"<a>\n<b></a>":       "line 2, column 8 (byte 12) is not well-formed XML",
		`<a>`:                "line 1, column 4 (byte 4) is not well-formed XML",
		`<!DOCTYPE a><a/>`:   "line 1, column 13 (byte 13) is a document type, which is not read",
		"\xff\xfe<\x00a\x00": "it is UTF-16 (its first bytes are ff fe 3c 00): send it as UTF-8",
	} {
		if told := syntax.XML([]byte(text)); told != want {
			t.Errorf("%q: %q, want %q", text, told, want)
		}
	}
}

// A clause fits into a header, and repeats at most one character of a body. A body that is JSON has none.
func FuzzSyntax(f *testing.F) {
	for _, seed := range []string{`{"pin": 1234,}`, `{'key': 'geheim'}`, "<a>", "\x1f\x8b", `{"a": geheim}`, "\xef\xbb\xbf{}", `{"a": tgeheim}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, told := range []string{syntax.JSON(body), syntax.XML(body), syntax.Encoding(body, "")} {
			if strings.ContainsFunc(told, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' }) {
				t.Errorf("%q: %q", body, told)
			}
			if strings.Contains(told, "geheim") {
				t.Errorf("%q is repeated: %q", body, told)
			}
		}
	})
}
