package grade

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// rewrites reports whether the receiver parses the body, writes it again and verifies that. Such a receiver refuses events, and gets to
// know the same event if it has the form that its JSON library writes.
func (r *run) rewrites(ctx context.Context) (bool, error) {
	e, err := r.payment()
	if err != nil {
		return false, err
	}
	for _, form := range formsOf(e.body) {
		if err := r.goesOn(ctx); err != nil { // each form is a request
			return false, err
		}
		e.body = form
		if !r.differs(r.Send(ctx, r.sign(e, r.secret))) {
			continue
		}
		again, err := r.send(ctx, lineGenuine) // the receiver did not change in between
		return err == nil && again[0].Status == r.genuine.Status, err
	}
	return false, nil
}

// differs reports whether an answer is another one than that to the genuine event, not by chance.
func (r *run) differs(answer Answer) bool {
	switch answer.Status {
	case 0, r.genuine.Status, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}

// formsOf returns an event in the forms that JSON libraries write, each once. The names of fields are in the order of the alphabet,
// fields that are null are left out, and times have no zeros at their end: some libraries write them so, and the others as they read
// them.
func formsOf(event []byte) (forms [][]byte) {
	decoder := json.NewDecoder(bytes.NewReader(zeros.ReplaceAll(event, []byte(`${1}Z"`))))
	decoder.UseNumber()
	var value map[string]any
	if decoder.Decode(&value) != nil {
		return nil
	}
	maps.DeleteFunc(value, func(_ string, of any) bool { return of == nil })
	plain, err := encode(value)
	if err != nil {
		return nil
	}
	html, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	ascii := escaped(plain, `\u%04x`, "")
	for _, form := range [][]byte{
		plain,                               // JavaScript, Ruby, Java, Newtonsoft.Json
		escaped(plain, `\u%04x`, "/"),       // PHP
		spaced(ascii), spaced(plain), ascii, // Python
		html, // Go
		bytes.ReplaceAll(html, []byte("="), []byte(`\u003d`)), // Gson
		escaped(plain, `\u%04X`, "&'+<>`"),                    // System.Text.Json
	} {
		if !slices.ContainsFunc(forms, func(other []byte) bool { return bytes.Equal(other, form) }) {
			forms = append(forms, form)
		}
	}
	return forms
}

// escaped returns compact JSON with escapes for what is not ASCII, and for some more characters. PHP writes a backslash before a slash.
func escaped(text []byte, as, more string) []byte {
	var out bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r == '/' && more == "/":
			out.WriteString(`\/`)
		case r >= utf8.RuneSelf || strings.ContainsRune(more, r):
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&out, as, unit)
			}
		default:
			out.WriteRune(r)
		}
	}
	return out.Bytes()
}

// spaced returns compact JSON with a blank after each comma and colon.
func spaced(text []byte) []byte {
	return tokens.ReplaceAllFunc(text, func(token []byte) []byte {
		if token[0] == '"' {
			return token
		}
		return []byte{token[0], ' '}
	})
}

var (
	zeros  = regexp.MustCompile(`(T\d\d:\d\d:\d\d(?:\.\d*[1-9])?)\.?0*Z"`)
	tokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[,:]`)
)
