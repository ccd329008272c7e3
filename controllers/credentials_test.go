package controllers

import (
	"bytes"
	"strings"
	"testing"
)

// repeat is a source of "randomness" that shows where a value came from.
func repeat(b byte) *bytes.Reader { return bytes.NewReader(bytes.Repeat([]byte{b}, 1024)) }

func TestNewAPIKey(t *testing.T) {
	// 255 and 248 are not fair and are thrown away; 61 and 247 both stand for the last character.
	random := bytes.NewReader(append([]byte{255, 248, 61, 247}, make([]byte, 64)...))
	key, err := newAPIKey(random)
	if want := "cauri_sk_test_zz" + strings.Repeat("0", 30); err != nil || key != want {
		t.Errorf("the key is %q (%v), want %q", key, err, want)
	}
	if _, err := newAPIKey(bytes.NewReader(nil)); err == nil {
		t.Error("a key was made without randomness")
	}
}

func TestChooseCredentials(t *testing.T) {
	var (
		key       = apiKeyPrefix + strings.Repeat("k", apiKeyLength)
		newKey    = apiKeyPrefix + strings.Repeat("1", apiKeyLength)
		generated = func(b byte) string { s, _ := newSigningSecret(repeat(b)); return s }
		held      = generated(7)
		stored    = generated(8)
		fresh     = generated(1)
	)
	for name, test := range map[string]struct {
		held            map[string][]byte
		brought, stored string
		taken           string
		want            credentials
		issued          bool
	}{
		"a new sandbox":                        {want: credentials{newKey, fresh}, issued: true},
		"nothing changed":                      {held: secretOf(key, stored), stored: stored, want: credentials{key, stored}},
		"a lost Secret":                        {stored: stored, want: credentials{newKey, stored}, issued: true},
		"a crash before the database had it":   {held: secretOf(key, held), want: credentials{key, held}},
		"a slip of the hand":                   {held: secretOf(key, "oops"), stored: stored, want: credentials{key, stored}},
		"no key":                               {held: secretOf("", stored), stored: stored, want: credentials{newKey, stored}, issued: true},
		"no valid key":                         {held: secretOf(key+"x", stored), stored: stored, want: credentials{newKey, stored}, issued: true},
		"a key of another sandbox":             {held: secretOf(key, stored), stored: stored, taken: key, want: credentials{newKey, stored}, issued: true},
		"another key than the taken one":       {held: secretOf(key, stored), stored: stored, taken: newKey, want: credentials{key, stored}},
		"a live key":                           {held: secretOf("cauri_sk_live_"+key[len(apiKeyPrefix):], stored), stored: stored, want: credentials{newKey, stored}, issued: true},
		"a signing secret is brought":          {held: secretOf(key, stored), stored: stored, brought: "mine", want: credentials{key, "mine"}},
		"none is brought any more":             {held: secretOf(key, "mine"), stored: "mine", want: credentials{key, fresh}},
		"and the database has not followed it": {held: secretOf(key, held), stored: "mine", want: credentials{key, held}},
	} {
		t.Run(name, func(t *testing.T) {
			got, issued, err := chooseCredentials(test.held, test.brought, test.stored, test.taken, repeat(1))
			if err != nil || got != test.want || issued != test.issued {
				t.Errorf("chosen %+v, issued %t (%v), want %+v, issued %t", got, issued, err, test.want, test.issued)
			}
		})
	}
}

func secretOf(key, signing string) map[string][]byte {
	return map[string][]byte{secretKeyAPIKey: []byte(key), secretKeySigningSecret: []byte(signing)}
}

func TestCheckSigningSecret(t *testing.T) {
	for name, test := range map[string]struct {
		secret string
		want   string // empty: accepted
	}{
		"shortest":              {secret: strings.Repeat("x", 16)},
		"longest":               {secret: strings.Repeat("x", 256)},
		"blanks":                {secret: "correct horse battery staple"},
		"characters, not bytes": {secret: strings.Repeat("é", 256)},
		"empty":                 {want: "has 0 characters"},
		"too short":             {secret: strings.Repeat("x", 15), want: "has 15 characters"},
		"too long":              {secret: strings.Repeat("x", 257), want: "has 257 characters"},
		"a control character":   {secret: "0123456789\x00abcdef", want: "has a character that cannot be printed"},
		"not UTF-8":             {secret: "0123456789\xffabcdef", want: "is not text"},
		"a line break": {
			secret: "0123456789abcdef\n",
			want:   "ends with a line break, as files do: store it without one, for example with kubectl create secret generic --from-literal",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := checkSigningSecret([]byte(test.secret)); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("the complaint is %q, want %q", got, test.want)
			}
		})
	}
}
