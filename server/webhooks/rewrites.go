package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Rewrite is a body as a program writes it that has parsed it.
type Rewrite struct {
	Writers []string // languages, with their functions
	Body    []byte
}

// jsonWriter is a way in which JSON libraries write.
type jsonWriter struct {
	name   string
	sorted bool // the names of fields are in the order of the alphabet, also inside
	spaced bool // a blank follows each comma and colon
	indent string
	escape string // how a character is escaped
	ascii  bool   // characters that are not ASCII are escaped
	more   string // characters that are escaped too
	lists  bool   // an object without fields is written as a list
	python bool   // a text of Python, and no JSON
}

// String names the first writers.
func (r Rewrite) String() string {
	const most = 4
	if len(r.Writers) > most {
		return strings.Join(r.Writers[:most], ", ") + " and others"
	}
	return strings.Join(r.Writers, ", ")
}

const (
	small = `\u%04x`
	large = `\u%04X`
)

// jsonWriters are the libraries of the languages in which receivers are written. That of Go writes maps sorted, and structs in their own
// order.
var jsonWriters = []jsonWriter{
	{name: "JavaScript (JSON.stringify)"}, {name: "Ruby (JSON.generate)"}, {name: "Java (Jackson)"}, {name: "C# (Newtonsoft.Json)"},
	{name: "PHP (json_encode)", escape: small, ascii: true, more: "/"},
	{name: "PHP (json_encode of arrays)", escape: small, ascii: true, more: "/", lists: true},
	{name: "PHP (JSON_UNESCAPED_UNICODE)", more: "/"},
	{name: "PHP (JSON_UNESCAPED_SLASHES)", escape: small, ascii: true},
	{name: "Python (json.dumps)", spaced: true, escape: small, ascii: true},
	{name: "Python (json.dumps, ensure_ascii=False)", spaced: true},
	{name: "Python (json.dumps with separators)", escape: small, ascii: true},
	{name: "Go (json.Marshal of a map)", sorted: true, escape: small, more: "<>&\u2028\u2029"},
	{name: "Go (json.Marshal of a struct)", escape: small, more: "<>&\u2028\u2029"},
	{name: "Go (json.Encoder without SetEscapeHTML)", sorted: true},
	{name: "Python (json.dumps, sort_keys)", sorted: true, spaced: true, escape: small, ascii: true},
	{name: "Python (json.dumps, sort_keys, separators)", sorted: true, escape: small, ascii: true},
	{name: "Python (json.dumps, sort_keys, ensure_ascii=False, separators)", sorted: true}, {name: "Python (str of a dict)", python: true},
	{name: "Java (Gson)", escape: small, more: "<>&='\u2028\u2029"},
	{name: "C# (System.Text.Json)", escape: large, ascii: true, more: "&'+<>`\""},
	{name: "JavaScript (JSON.stringify, indented by 2)", indent: "  "}, {name: "Ruby (JSON.pretty_generate)", indent: "  "},
	{name: "Python (json.dumps, indent=2)", indent: "  ", escape: small, ascii: true},
	{name: "Python (json.dumps, indent=4)", indent: "    ", escape: small, ascii: true},
	{name: "PHP (JSON_PRETTY_PRINT)", indent: "    ", escape: small, ascii: true, more: "/"},
}

// Rewrites returns a body in the forms in which programs write it again, each once, without the body itself. It returns nil for a body
// that is no JSON object.
func Rewrites(body []byte) (all []Rewrite) {
	for i := range jsonWriters {
		w := &jsonWriters[i]
		for _, form := range w.write(body) {
			at := slices.IndexFunc(all, func(other Rewrite) bool { return bytes.Equal(other.Body, form) })
			switch {
			case bytes.Equal(form, body):
			case at >= 0:
				if !slices.Contains(all[at].Writers, w.name) {
					all[at].Writers = append(all[at].Writers, w.name)
				}
			default:
				all = append(all, Rewrite{[]string{w.name}, form})
			}
		}
	}
	return all
}

// write returns a body as the library writes it: with the zeros at the end of its times, and without them, since some libraries parse
// times; with its fields that are null, and without them.
func (w *jsonWriter) write(body []byte) (forms [][]byte) {
	for _, text := range [][]byte{body, zeros.ReplaceAll(body, []byte(`${1}Z"`)), nulls.ReplaceAll(body, nil)} {
		var plain bytes.Buffer
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) != nil || json.Compact(&plain, text) != nil {
			continue
		}
		compact := plain.Bytes()
		if w.sorted {
			compact = sortedJSON(compact)
		}
		written := w.texts(compact)
		if w.indent != "" {
			var out bytes.Buffer
			_ = json.Indent(&out, written, "", w.indent) // it is JSON
			written = out.Bytes()
		}
		forms = append(forms, written, append(slices.Clone(written), '\n'))
	}
	return forms
}

// sortedJSON returns compact JSON with the fields of its objects in order, and all characters as they are.
func sortedJSON(compact []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(compact))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return compact
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return compact
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// texts returns compact JSON with its texts, commas and colons as the library writes them.
func (w *jsonWriter) texts(compact []byte) []byte {
	return jsonTokens.ReplaceAllFunc(compact, func(token []byte) []byte {
		switch word := string(token); {
		case w.python && pythonWords[word] != "":
			return []byte(pythonWords[word])
		case w.lists && word == "{}":
			return []byte("[]")
		case (word == "," || word == ":") && (w.spaced || w.python):
			return append(slices.Clone(token), ' ')
		case token[0] != '"':
			return token
		}
		var text string
		if json.Unmarshal(token, &text) != nil {
			return token
		}
		if w.python {
			return []byte(pythonText(text))
		}
		return w.quoted(text)
	})
}

// pythonWords are the constants of JSON in Python.
var pythonWords = map[string]string{"true": "True", "false": "False", "null": "None"}

// pythonText returns a text as Python shows it: in single quotes, unless only the text has one.
func pythonText(text string) string {
	quote := "'"
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		quote = `"`
	}
	return quote + strings.NewReplacer(`\`, `\\`, quote, `\`+quote, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + quote
}

// quoted returns a text in quotes.
func (w *jsonWriter) quoted(text string) []byte {
	out := []byte{'"'}
	for _, r := range text {
		switch {
		case r == '/' && strings.ContainsRune(w.more, r):
			out = append(out, `\/`...)
		case strings.ContainsRune(w.more, r), w.ascii && r >= utf8.RuneSelf:
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, w.escape, unit)
			}
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r < ' ':
			out = append(out, control(r)...)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// control returns the escape of a control character.
func control(r rune) string {
	if at := strings.IndexRune("\b\t\n\f\r", r); at >= 0 {
		return `\` + string("btnfr"[at])
	}
	return fmt.Sprintf(small, r)
}

var (
	// zeros are those that some libraries leave out at the end of a time.
	zeros = regexp.MustCompile(`(T\d\d:\d\d:\d\d(?:\.\d*[1-9])?)\.?0*Z"`)
	// nulls are fields that some libraries leave out.
	nulls = regexp.MustCompile(`"\w+": ?null, ?|, ?"\w+": ?null`)
	// jsonTokens are the texts, commas, colons, constants and empty objects of JSON.
	jsonTokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[,:]|true|false|null|\{\}`)
)
