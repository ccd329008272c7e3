package webhooks

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Trial is what is known of a delivery whose receiver computed another signature. It has secrets, so it never leaves the machine of who
// asks.
type Trial struct {
	ID         string // of the event
	Timestamps []string
	Body       []byte            // as it was sent
	Secret     string            // that signed; empty: not known
	Others     map[string]string // further secrets that the receiver may have taken by mistake, by their names
}

// MistakeKind says what a receiver did otherwise.
type MistakeKind string

// The kinds.
const (
	MistakeBody        MistakeKind = "body"         // it signed another body
	MistakeRewritten   MistakeKind = "rewritten"    // it signed the body that it parsed and wrote again
	MistakeOtherSecret MistakeKind = "other_secret" // with another secret
	MistakeEmptySecret MistakeKind = "empty_secret"
	MistakeKeyForm     MistakeKind = "key_form" // with another key of the right secret
	MistakeNoKey       MistakeKind = "no_key"   // without a key
	MistakeText        MistakeKind = "text"     // with another text around the body
	MistakeForm        MistakeKind = "form"     // it writes the right value otherwise
	MistakeNoHMAC      MistakeKind = "no_hmac"  // the value is no HMAC-SHA256
)

// Mistake is what a receiver did otherwise.
type Mistake struct {
	Kind MistakeKind
	How  string      // in words; it has no secret
	Body *Difference // of MistakeBody
	Size int         // of MistakeBody: bytes
}

// bodyForm is a body that a receiver may have signed.
type bodyForm struct {
	how       string // empty: as it was sent
	body      []byte
	rewritten bool
}

// keyForm is a key that a receiver may have used.
type keyForm struct {
	kind     MistakeKind
	how      string
	key      []byte
	service  bool // it is the right one for X-Service-Signature
	standard bool // it is the right one for webhook-signature
}

// textForm is what a receiver may have signed beside the body.
type textForm struct {
	how      string
	before   string
	after    string
	standard bool // it is the right one for webhook-signature
}

// Try finds out how a receiver computed a value: it signs the event again as usual mistakes do, until one gives the value. It returns an
// empty list if the value is one that was sent, and false if no mistake gives it.
func (t *Trial) Try(value string) (mistakes []Mistake, fits bool) {
	value = strings.TrimSpace(value)
	sum, ok := digestIn(value)
	if !ok {
		if sum, ok = upperHex(value); !ok {
			return []Mistake{{Kind: MistakeNoHMAC}}, true
		}
	}
	keys, texts := t.keys(), t.texts()
	for _, b := range t.bodies() {
		for _, text := range texts {
			message := slices.Concat([]byte(text.before), b.body, []byte(text.after))
			if plain := sha256.Sum256(message); bytes.Equal(plain[:], sum) {
				return t.mistakes(&b, &keyForm{kind: MistakeNoKey, how: "the SHA-256 of " + cmp.Or(text.how, "the body")}, &text, value), true
			}
			for i := range keys {
				if hmac.Equal(mac(keys[i].key, message), sum) {
					return t.mistakes(&b, &keys[i], &text, value), true
				}
			}
		}
	}
	return t.tryCut(sum, keys, texts)
}

// upperHex returns the 32 bytes of hexadecimal digits with a prefix in capitals.
func upperHex(value string) ([]byte, bool) { return digestIn(strings.ToLower(value)) }

// mistakes names what differs from what was sent.
func (t *Trial) mistakes(b *bodyForm, key *keyForm, text *textForm, value string) (all []Mistake) {
	if b.how != "" {
		kind := MistakeBody
		if b.rewritten {
			kind = MistakeRewritten
		}
		all = append(all, Mistake{kind, b.how, Differ(t.Body, b.body), len(b.body)})
	}
	right := key.service && text.how == "" || key.standard && text.standard
	switch {
	case right:
	case key.kind == MistakeKeyForm || key.kind == "": // the right secret
		if text.how != "" && !text.standard {
			all = append(all, Mistake{Kind: MistakeText, How: text.how})
			break
		}
		how := key.how
		if how == "" && key.standard {
			how = "what follows whsec_, decoded from base64, which is the key of webhook-signature"
		}
		if how == "" {
			how = "its whole text, which is the key of X-Service-Signature"
		}
		all = append(all, Mistake{Kind: MistakeKeyForm, How: how})
	default:
		all = append(all, Mistake{Kind: key.kind, How: key.how})
	}
	if len(all) > 0 {
		return all
	}
	if how := formOf(value, text.standard); how != "" {
		all = append(all, Mistake{Kind: MistakeForm, How: how})
	}
	return all
}

// formOf says how a right value is written otherwise than its header; empty: it is not.
func formOf(value string, standard bool) string {
	service, isService := strings.CutPrefix(value, "sha256=")
	versioned, isStandard := strings.CutPrefix(value, "v1,")
	switch {
	case isService && standard:
		return "it is the value of webhook-signature, behind sha256="
	case isStandard && !standard:
		return "it is the value of X-Service-Signature, behind v1,"
	case !isService && !isStandard && standard:
		return "without v1, before it"
	case !isService && !isStandard && len(value) != 2*sha256.Size:
		return "in base64, and without sha256= before it"
	case !isService && !isStandard:
		return "without sha256= before it"
	case isService && len(service) != 2*sha256.Size:
		return "in base64 instead of hexadecimal digits"
	case isService && service != strings.ToLower(service):
		return "in capital hexadecimal digits"
	case isStandard && len(versioned) != base64.StdEncoding.EncodedLen(sha256.Size):
		return "in hexadecimal digits or in another base64"
	}
	return ""
}

// bodies are the bodies that receivers sign by mistake, the right one first.
func (t *Trial) bodies() []bodyForm {
	all := []bodyForm{{body: t.Body}}
	for _, r := range Rewrites(t.Body) {
		all = append(all, bodyForm{r.String(), r.Body, true})
	}
	add := func(how string, body []byte) {
		if !slices.ContainsFunc(all, func(known bodyForm) bool { return bytes.Equal(known.body, body) }) {
			all = append(all, bodyForm{how: how, body: body})
		}
	}
	add("with a line break at its end", append(slices.Clone(t.Body), '\n'))
	add("with a line break at its end", append(slices.Clone(t.Body), "\r\n"...))
	add("empty", nil)
	add("with a byte order mark", append([]byte("\uFEFF"), t.Body...))
	for i, write := range charsets {
		add(charsetNames[i], write(t.Body))
	}
	if quoted, err := json.Marshal(string(t.Body)); err == nil {
		add("in quotes", quoted)
	}
	add("in base64", []byte(base64.StdEncoding.EncodeToString(t.Body)))
	add("in hexadecimal digits", []byte(hex.EncodeToString(t.Body)))
	digest := sha256.Sum256(t.Body)
	add("its SHA-256", digest[:])
	add("its SHA-256 in hexadecimal digits", []byte(hex.EncodeToString(digest[:])))
	add("the text of an object in JavaScript, [object Object]", []byte("[object Object]"))
	for _, rewritten := range []string{"undefined", "null", "{}", "[]", `""`} { // of a body that was not parsed, or was parsed before
		add("of nothing, "+rewritten, []byte(rewritten))
	}
	return all
}

// charsetNames are in the order of [charsets].
var charsetNames = []string{
	"as ISO 8859-1", "UTF-8 that was read as ISO 8859-1", "as ASCII", "with U+FFFD for what is not ASCII", "as UTF-16", "as UTF-16",
}

// keys are the keys that receivers use by mistake, the right ones first.
func (t *Trial) keys() (all []keyForm) {
	if t.Secret != "" {
		all = append(all, keyForm{key: []byte(t.Secret), service: true, standard: bytes.Equal(standardKey(t.Secret), []byte(t.Secret))})
		all = append(all, keyForm{key: standardKey(t.Secret), standard: true})
		all = append(all, formsOfKey(t.Secret, MistakeKeyForm, "")...)
	}
	for _, empty := range emptyKeys {
		all = append(all, keyForm{kind: MistakeEmptySecret, how: empty, key: []byte(empty)})
	}
	for _, name := range slices.Sorted(maps.Keys(t.Others)) {
		if other := t.Others[name]; other != "" && other != t.Secret {
			all = append(all, keyForm{kind: MistakeOtherSecret, how: "the value of " + name, key: []byte(other)})
			all = append(all, formsOfKey(other, MistakeOtherSecret, "the value of "+name+", ")...)
		}
	}
	return all
}

// formsOfKey returns the keys that code makes of a secret.
func formsOfKey(secret string, kind MistakeKind, before string) (all []keyForm) {
	add := func(how string, key []byte) {
		if len(key) > 0 {
			all = append(all, keyForm{kind: kind, how: before + how, key: key})
		}
	}
	without := strings.TrimPrefix(secret, SecretPrefix)
	add("its text without "+SecretPrefix, []byte(without))
	for _, decode := range []func(string) ([]byte, error){base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString,
		base64.URLEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
		if key, err := decode(without); err == nil {
			add("what follows "+SecretPrefix+", decoded from base64", key)
			add("what follows "+SecretPrefix+", decoded from base64 as a text", bytes.ToValidUTF8(key, []byte("\uFFFD")))
			add("what follows "+SecretPrefix+" as hexadecimal digits", []byte(hex.EncodeToString(key)))
		}
	}
	if key, err := hex.DecodeString(without); err == nil {
		add("decoded from hexadecimal digits", key)
	}
	add("with "+SecretPrefix+" before it once more", []byte(SecretPrefix+secret))
	add("with a line break at its end", []byte(secret+"\n"))
	add("with a line break at its end", []byte(secret+"\r\n"))
	add("with a blank before or behind it", []byte(secret+" "))
	add("with a blank before or behind it", []byte(" "+secret))
	add("in quotes", []byte(`"`+secret+`"`))
	add("in quotes", []byte("'"+secret+"'"))
	add("in base64", []byte(base64.StdEncoding.EncodeToString([]byte(secret))))
	add("in hexadecimal digits", []byte(hex.EncodeToString([]byte(secret))))
	digest := sha256.Sum256([]byte(secret))
	add("its SHA-256", digest[:])
	add("its SHA-256 in hexadecimal digits", []byte(hex.EncodeToString(digest[:])))
	return all
}

// texts are what receivers sign with the body by mistake, the right ones first.
func (t *Trial) texts() []textForm {
	all := []textForm{{}}
	for _, at := range t.Timestamps {
		all = append(all,
			textForm{how: "the id, the timestamp and the body", before: t.ID + "." + at + ".", standard: true},
			textForm{how: "the timestamp, a point and the body", before: at + "."},
			textForm{how: "the timestamp and the body without a point", before: at},
			textForm{how: "the id, the timestamp and the body without points", before: t.ID + at},
			textForm{how: "the timestamp, the id and the body", before: at + "." + t.ID + "."},
			textForm{how: "the body, a point and the timestamp", after: "." + at},
			textForm{how: "the body and the timestamp without a point", after: at},
		)
	}
	all = append(all, textForm{how: "the id, a point and the body, without the timestamp", before: t.ID + "."})
	if t.Secret != "" { // of code that knows no HMAC
		all = append(all, textForm{how: "the secret and the body", before: t.Secret}, textForm{how: "the body and the secret", after: t.Secret})
	}
	return all
}

// tryCut tries the beginnings of the body, and what other hash functions give is not tried.
func (t *Trial) tryCut(sum []byte, keys []keyForm, texts []textForm) ([]Mistake, bool) {
	for i := range keys {
		for _, text := range texts {
			right := keys[i].service && text.how == "" || keys[i].standard && text.standard
			if !right {
				continue
			}
			var h hash.Hash = hmac.New(sha256.New, keys[i].key)
			h.Write([]byte(text.before))
			for n := range t.Body {
				if hmac.Equal(h.Sum(nil), sum) {
					return []Mistake{{MistakeBody, "cut", Differ(t.Body, t.Body[:n]), n}}, true
				}
				h.Write(t.Body[n : n+1])
			}
		}
	}
	return nil, false
}

// likeSignature matches a SHA-256 in hexadecimal digits or base64, with the prefix of a header or without.
var likeSignature = regexp.MustCompile(`(?:sha256=|v1,)?(?:\b[0-9a-fA-F]{64}\b|[A-Za-z0-9+/_-]{43}=|\b[A-Za-z0-9+/_-]{43}\b)`)

// Signatures returns the texts in an answer that look like a signature: 64 hexadecimal digits, or 44 characters of base64, with the
// prefix of a header or without.
func Signatures(answer string) (all []string) {
	if !utf8.ValidString(answer) {
		answer = strings.ToValidUTF8(answer, " ")
	}
	for _, found := range likeSignature.FindAllString(answer, -1) {
		if !slices.Contains(all, found) {
			all = append(all, found)
		}
	}
	return all
}
