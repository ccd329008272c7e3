package requests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/payments"
)

const (
	// MaxBody is the maximum number of bytes of a body that are read, and that are kept.
	MaxBody = 4 << 10
	// maxText is the maximum number of kept characters of a text.
	maxText = 500
	// maxNames is the maximum number of names in a list of omitted fields or parameters.
	maxNames = 20
)

// Placeholders for values that are not kept.
const (
	hiddenPart       = "{...}"        // of a path
	hiddenCredential = "[credential]" // in a text
)

// Fields are the names of the fields or parameters whose values may be kept. No other part of a body or query is kept.
type Fields map[string]bool

// Redactor extracts the parts of one request that may be kept: the method, words and identifiers of the path, and named
// fields and parameters. It replaces credentials that are in these parts by mistake. It recognizes Cauri's credentials
// by their forms, and the credentials of the request itself in any form, all of them also percent-encoded or in base64.
type Redactor struct {
	presented []string         // parts of the credentials of the request
	forms     []*regexp.Regexp // of further credentials
	isForm    bool             // whether the body of the request is a form
}

// minPresented is the shortest part of a credential that is searched for in texts. A shorter part may be in a text by
// chance.
const minPresented = 6

// schemes are words before a credential.
var schemes = regexp.MustCompile(`(?i)^(bearer|basic|digest)$`)

// NewRedactor returns the keeper of a request with this header. presented are credentials of the request that are not in
// its header.
func NewRedactor(header http.Header, presented ...string) *Redactor {
	k := &Redactor{isForm: strings.HasPrefix(strings.ToLower(header.Get("Content-Type")), "application/x-www-form-urlencoded")}
	for _, name := range []string{"Authorization", "Proxy-Authorization"} {
		presented = append(presented, header.Values(name)...)
	}
	for _, value := range presented {
		for _, part := range strings.Fields(value) {
			if len(part) >= minPresented && !schemes.MatchString(part) {
				k.presented = append(k.presented, part)
			}
		}
	}
	return k
}

// HideForm makes the keeper replace texts of this form like credentials.
func (k *Redactor) HideForm(form *regexp.Regexp) { k.forms = append(k.forms, form) }

// links matches URLs. Only their host is kept, since the rest often has tokens.
var links = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)(?:[^/?#\s"]*@)?([^/?#\s"@]*)([/?#@][^\s"]*)?`)

// Text returns a text with its credentials replaced, cut to maxText characters.
func (k *Redactor) Text(text string) string {
	text = k.hidePlain(k.hideEncoded(text, mostEncodings))
	text = links.ReplaceAllStringFunc(text, func(link string) string {
		parts := links.FindStringSubmatch(link)
		if rest := parts[3]; rest == "" || rest == "/" {
			return parts[1] + parts[2] + rest
		}
		return parts[1] + parts[2] + "/" + hiddenPart
	})
	if characters := []rune(text); len(characters) > maxText {
		text = string(characters[:maxText])
	}
	return text
}

// clean reports whether a text has no credential.
func (k *Redactor) clean(text string) bool { return k.Text(text) == text }

// Method returns the method of a request if it is a common HTTP method, else "other".
func (k *Redactor) Method(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

var (
	// word matches a name that somebody chose: it has only letters, unlike most credentials.
	word = regexp.MustCompile(`^[A-Za-z]+([_.-][A-Za-z]+)*$`)
	// version and identifier match other parts of paths that are kept.
	version    = regexp.MustCompile(`^((v|oauth)[0-9]{1,2}(_[0-9]{1,2})?|[bc]2(b|c|cvalidate|pochi))$`) // M-Pesa's products too
	identifier = regexp.MustCompile(`^[A-Za-z]{2,3}_[0-9A-HJKMNP-TV-Z]{26}$`)
)

// maxWord is the length of the longest word that is kept.
const maxWord = 40

func (k *Redactor) word(text string) bool {
	return len(text) <= maxWord && word.MatchString(text) && k.clean(text)
}

// Path returns a path with its words, versions, phone numbers, and identifiers of Cauri. Every other part is replaced
// by {...}.
func (k *Redactor) Path(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) > maxNames {
		parts = append(parts[:maxNames], hiddenPart)
	}
	for i, part := range parts {
		if part != "" && !k.word(part) && !version.MatchString(part) && !identifier.MatchString(part) && !payments.ValidMSISDN(part) {
			parts[i] = hiddenPart
		}
	}
	return strings.Join(parts, "/")
}

// RequestID returns the id of a request, empty if it has a credential.
func (k *Redactor) RequestID(id string) string {
	if !k.clean(id) {
		return ""
	}
	return id
}

// names has the names of parts that are not kept.
type names []string

// add adds the name of a field or parameter. If the name itself may not be kept, add adds the argument what.
func (n *names) add(k *Redactor, name, what string) {
	if !k.word(name) {
		name = what
	}
	n.append(name)
}

func (n *names) append(name string) {
	if len(*n) < maxNames && !slices.Contains(*n, name) {
		*n = append(*n, name)
	}
}

// Query returns the parameters whose names are in allowed, as a JSON object (nil for none), and the other names. A
// repeated parameter has all of its values.
func (k *Redactor) Query(raw string, allowed Fields) (kept json.RawMessage, notKept []string) {
	return k.pairs(raw, allowed, "a parameter", "the rest of the query")
}

// pairs is Query. In the names of what is not kept, the argument what replaces a name that may not be kept, and rest what
// follows after MaxBody.
func (k *Redactor) pairs(raw string, allowed Fields, what, rest string) (kept json.RawMessage, notKept []string) {
	values, left := map[string]string{}, names{}
	if len(raw) >= MaxBody { // without the pair that is cut, since a part of a credential is not recognized
		left.append(rest)
		raw = raw[:strings.LastIndexByte(raw[:MaxBody], '&')+1]
	}
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		switch {
		case pair == "":
		case nameErr != nil || valueErr != nil || !allowed[name]:
			left.add(k, name, what)
		default:
			k.join(values, name, value)
		}
	}
	return encodedTexts(values), left
}

// Request returns the fields of a request's body whose names are in allowed, and the names of the other fields. If nested
// is true, a field with an object, or with a list of objects, has their fields whose names are in allowed. Otherwise
// objects and lists are not kept. text is the beginning of the body: a JSON object, XML, or a form. kept is nil for anything else, and
// for a body without such fields.
func (k *Redactor) Request(text []byte, allowed Fields, nested bool) (kept json.RawMessage, notKept []string) {
	switch {
	case len(text) == 0:
		return nil, nil
	case isXML(text):
		return k.elements(text, allowed)
	case k.isForm:
		return k.pairs(string(text), allowed, "a field", string(RestOfBody))
	}
	c := newCopier(k, text, allowed)
	c.left, c.flat = &names{}, !nested
	if !c.document() {
		return nil, []string{string(WholeBody)}
	}
	return c.out, *c.left
}

// IsUnread reports whether a name of what is not kept says that a body was not read to its end.
func IsUnread(name string) bool { return name == string(RestOfBody) || name == string(WholeBody) }

// maxOutline is the maximum number of characters of an outline, and longestOutlined of the bytes that it is made from.
const (
	maxOutline      = 200
	longestOutlined = 400
)

var (
	// words matches what an outline hides: everything but spaces, and the punctuation of JSON, XML and forms.
	words = regexp.MustCompile("[^\\x00-\\x20{}\\[\\]<>:,'\"`=&“”‘’«»]+")
	// hidden matches hidden words that only spaces separate.
	hidden = regexp.MustCompile(`\*( \*)+`)
)

// inWords are the words that an outline has as they are: values of programs that are no JSON, and those of JSON.
var inWords = []string{"true", "false", "null", "None", "True", "False", "NaN", "undefined", "nil"}

// Outline returns the beginning of a body that cannot be read, without what may be a secret: of all names, values and
// other words it has only the names in allowed and those of constants; every other one is an asterisk. A body in another
// encoding than UTF-8 is told by its first bytes, in hexadecimal digits.
func (k *Redactor) Outline(text []byte, allowed Fields) string {
	text, bom := bytes.CutPrefix(text, []byte("\ufeff"))
	text = text[:min(len(text), longestOutlined)]
	for i := 0; i < utf8.UTFMax && !utf8.Valid(text) && len(text) == longestOutlined-i; i++ {
		text = text[:len(text)-1] // a character that is cut
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return fmt.Sprintf("% x ...", text[:min(len(text), 4)])
	}
	outline := words.ReplaceAllStringFunc(string(text), func(word string) string {
		if allowed[word] || slices.Contains(inWords, word) {
			return word
		}
		return "*"
	})
	outline = hidden.ReplaceAllString(strings.Join(strings.Fields(outline), " "), "*")
	if characters := []rune(outline); len(characters) > maxOutline {
		outline = string(characters[:maxOutline]) + " ..."
	}
	if bom {
		outline = "ef bb bf " + outline
	}
	return k.Text(outline)
}

// Answer returns the fields of an answer's body whose names are in allowed, at every level. text is the beginning of
// the body: a JSON object or XML. The result is nil for anything else.
func (k *Redactor) Answer(text []byte, allowed Fields) json.RawMessage {
	if isXML(text) {
		kept, _ := k.elements(text, allowed)
		return kept
	}
	c := newCopier(k, text, allowed)
	if !c.document() {
		return nil
	}
	return c.out
}

// copier copies the parts of a JSON object that may be kept. Its output is valid JSON, also if its input is cut off.
type copier struct {
	*Redactor
	in      *json.Decoder
	out     []byte
	allowed Fields
	left    *names // names of fields that are not kept; nil: they are not needed
	flat    bool   // whether only fields of the first level are kept
}

func newCopier(k *Redactor, text []byte, allowed Fields) *copier {
	c := &copier{Redactor: k, in: json.NewDecoder(bytes.NewReader(text)), allowed: allowed}
	c.in.UseNumber()
	return c
}

// document copies an object and reports whether there is one.
func (c *copier) document() bool {
	if first, err := c.in.Token(); err != nil || first != json.Delim('{') {
		return false
	}
	if !c.list('{', '}', c.member) && c.left != nil {
		c.left.append(string(RestOfBody))
	}
	return true
}

// list copies the elements between two brackets, of which the first was read. It reports whether it reached the second.
func (c *copier) list(opening, closing byte, element func() (kept, whole bool)) bool {
	c.out = append(c.out, opening)
	whole, empty := true, true
	for whole && c.in.More() {
		before := len(c.out)
		if !empty {
			c.out = append(c.out, ',')
		}
		var kept bool
		if kept, whole = element(); kept && len(c.out) < MaxBody {
			empty = false
			continue
		}
		whole = whole && len(c.out) < MaxBody
		c.out = c.out[:before]
	}
	c.out = append(c.out, closing)
	if whole {
		_, err := c.in.Token()
		whole = err == nil
	}
	return whole
}

// member copies a field with its value, if it may be kept.
func (c *copier) member() (kept, whole bool) {
	token, err := c.in.Token()
	name, ok := token.(string)
	if err != nil || !ok {
		return false, false
	}
	if !c.allowed[name] {
		if c.left != nil {
			c.left.add(c.Redactor, name, "a field")
		}
		return false, c.skip()
	}
	c.out = append(append(c.out, encoded(name)...), ':')
	if kept, whole = c.value(); !kept && whole && c.left != nil {
		c.left.add(c.Redactor, name, "a field")
	}
	return kept, whole
}

// item copies an element of a list. Of a request, it copies no texts and numbers: no API has lists of them.
func (c *copier) item() (kept, whole bool) {
	before := len(c.out)
	if kept, whole = c.value(); kept && c.left != nil && c.out[before] != '{' && c.out[before] != '[' {
		return false, whole
	}
	return kept, whole
}

// value copies a value, if it may be kept. Of an object, it copies the fields that may be kept.
func (c *copier) value() (kept, whole bool) {
	token, err := c.in.Token()
	if err != nil {
		return false, false
	}
	switch v := token.(type) {
	case json.Delim:
		switch {
		case c.flat:
			return false, c.skipTo(1)
		case v == '{':
			return true, c.list('{', '}', c.member)
		}
		return true, c.list('[', ']', c.item)
	case string:
		c.out = append(c.out, encoded(c.Text(v))...)
	case json.Number:
		if c.clean(v.String()) {
			c.out = append(c.out, v...)
		} else {
			c.out = append(c.out, encoded(c.Text(v.String()))...)
		}
	default:
		c.out = append(c.out, encoded(v)...)
	}
	return true, true
}

// skip skips a value.
func (c *copier) skip() (whole bool) {
	token, err := c.in.Token()
	if _, opens := token.(json.Delim); opens && err == nil {
		return c.skipTo(1)
	}
	return err == nil
}

// skipTo skips the rest of depth nested lists and objects.
func (c *copier) skipTo(depth int) (whole bool) {
	for depth > 0 {
		switch token, err := c.in.Token(); {
		case err != nil:
			return false
		case token == json.Delim('{') || token == json.Delim('['):
			depth++
		case token == json.Delim('}') || token == json.Delim(']'):
			depth--
		}
	}
	return true
}

// encoded returns a value as JSON, without escapes that are only for HTML.
func encoded(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return []byte("null") // no such value is given
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}
