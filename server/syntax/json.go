package syntax

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// form matches the beginning of an HTML form.
var form = regexp.MustCompile(`^[A-Za-z0-9_.%+*\[\]-]+=`)

// JSON returns why a body in UTF-8 is not one JSON object; "" if it is.
func JSON(body []byte) string {
	if wrong := Encoding(body, ""); wrong != "" {
		return wrong
	}
	trimmed := bytes.TrimSpace(body)
	switch {
	case len(trimmed) == 0:
		return "it is empty"
	case form.Match(trimmed):
		return "it is a form (application/x-www-form-urlencoded), and no JSON"
	case trimmed[0] == '<':
		return "it is XML or HTML, and no JSON"
	}
	var value any
	err := json.Unmarshal(body, &value)
	var wrong *json.SyntaxError
	if errors.As(err, &wrong) {
		return syntaxError(body, wrong)
	}
	switch value := value.(type) {
	case map[string]any:
		return ""
	case []any:
		return "it is a list"
	case string:
		if strings.HasPrefix(strings.TrimSpace(value), "{") {
			return "it is a text with an object in it, so it was encoded twice"
		}
		return "it is a text"
	}
	return "it is only a number, true, false or null"
}

// literals are values of other languages, with what JSON has.
var literals = []struct{ literal, instead string }{
	{"None", "write null"}, {"True", "write true"}, {"False", "write false"}, {"undefined", "leave the field out"},
	{"NaN", "JSON has no such number"}, {"Infinity", "JSON has no such number"},
}

// syntaxError says where a text stops being JSON, what is there, and what to do about it.
func syntaxError(text []byte, wrong *json.SyntaxError) string {
	at := int(wrong.Offset) - 1
	if strings.Contains(wrong.Error(), "unexpected end") || at >= len(text) {
		return fmt.Sprintf("it ends too early, at %s: it was probably cut off", positionOf(text, len(text)))
	}
	if at < 0 {
		return wrong.Error()
	}
	before := lastOf(text[:at])
	for _, l := range literals {
		if isAt(text, at, l.literal) {
			return fmt.Sprintf("%s has %s: %s", positionOf(text, at), l.literal, l.instead)
		}
	}
	found, _ := utf8.DecodeRune(text[at:])
	return fmt.Sprintf("%s has %s: %s", positionOf(text, at), nameOf(found), adviceOn(found, before, wrong.Error()))
}

func isAt(text []byte, at int, word string) bool { return bytes.HasPrefix(text[at:], []byte(word)) }

// lastOf returns the last character that is no space; 0 for none.
func lastOf(text []byte) byte {
	if text = bytes.TrimRight(text, " \t\r\n"); len(text) > 0 {
		return text[len(text)-1]
	}
	return 0
}

// nameOf returns a character as people write it, in ASCII.
func nameOf(r rune) string {
	if r == '\'' {
		return "a single quote"
	}
	return strconv.QuoteRuneToASCII(r)
}

// adviceOn says what is wrong with a character. before is the last one before it, and reason that of the parser.
func adviceOn(found rune, before byte, reason string) string {
	isLetter := found == '_' || found == '$' || 'a' <= found|0x20 && found|0x20 <= 'z'
	switch {
	case found == '\'', found == '`':
		return `JSON quotes with " only`
	case found == '\u2018', found == '\u2019', found == '\u201c', found == '\u201d', found == '\u00ab', found == '\u00bb':
		return `a typographic quote, and JSON quotes with " only`
	case strings.Contains(reason, "in string literal"):
		return "inside of a text it is written with a backslash"
	case strings.Contains(reason, "in string escape code"):
		return `a backslash has one of "\/bfnrtu behind it`
	case strings.Contains(reason, "after top-level value"):
		return "there is more text after the object"
	case (found == '}' || found == ']') && before == ',':
		return "the comma before it is one too many"
	case found == '/' || found == '#':
		return "JSON has no comments"
	case isLetter && (before == '{' || before == ','):
		return `names are quoted with "`
	case isLetter && before == ':':
		return `texts are quoted with "`
	case found == ',':
		return "a value is missing before it"
	case before == '0' && '0' <= found && found <= '9':
		return "a number has no zeros before it"
	}
	for _, r := range reasons {
		if strings.Contains(reason, r.parser) {
			return r.advice
		}
	}
	return "this is no JSON"
}

// reasons are the reasons of the parser that no character explains. The first that fits is meant.
var reasons = []struct{ parser, advice string }{
	{"exceeded max depth", "lists and objects are nested too deep"},
	{"after object key:value pair", "a comma is missing before it"},
	{"after array element", "a comma is missing before it"},
	{"after object key", "a colon stands between name and value"},
	{"beginning of object key", `a name in " stands here`},
	{"beginning of value", "no value of JSON begins so"},
	{"in numeric literal", "no number of JSON is written so"},
	{"in literal", "the words of JSON are true, false and null"},
}
