package sandboxenvironment

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/sandboxes"
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

// The database has the key "key", issued for keyRotation "1", and the signing secret "stored", made for secretRotation "1", where
// a case says nothing else.
func TestChooseCredentials(t *testing.T) {
	generated := func(b byte) string { s, _ := newSigningSecret(repeat(b)); return s }
	var (
		key     = apiKeyPrefix + strings.Repeat("k", apiKeyLength)
		other   = apiKeyPrefix + strings.Repeat("o", apiKeyLength)
		newKey  = apiKeyPrefix + strings.Repeat("1", apiKeyLength)
		older   = hexHash("an older key")
		stored  = generated(8)
		aside   = generated(7)
		fresh   = generated(1)
		present = credentials{key, "1", older, stored, "1"}
	)
	for name, test := range map[string]struct {
		current credentials
		want    func(*credentialInputs) // nil: nothing special

		next  credentials
		issue keyIssue
	}{
		"nothing changed":         {current: present, next: present},
		"the spec names no value": {current: present, want: rotations("", ""), next: present},
		"a new sandbox": {
			want: func(w *credentialInputs) { w.inDatabase = sandboxes.StoredCredentials{} },
			next: credentials{newKey, "1", "", fresh, "1"}, issue: issueFirst,
		},
		"a new sandbox, and the spec names no value": {
			want: func(w *credentialInputs) { *w = credentialInputs{} },
			next: credentials{newKey, "", "", fresh, ""}, issue: issueFirst,
		},
		"made before there were rotations": {
			current: credentials{key, "", "", stored, ""},
			want: func(w *credentialInputs) {
				*w = credentialInputs{inDatabase: w.inDatabase}
				w.inDatabase.KeyRotation, w.inDatabase.SecretRotation = "", ""
			},
			next: credentials{key, "", "", stored, ""},
		},

		"the key is rotated": {
			current: present, want: rotations("2", "1"),
			next: credentials{newKey, "2", hexHash(key), stored, "1"}, issue: issueRotated,
		},
		"the value is taken away and comes back": {current: present, want: rotations("1", ""), next: present},
		"the Secret is lost":                     {next: credentials{newKey, "1", "", stored, "1"}, issue: issueFirst},
		"lost, and no value any more":            {want: rotations("", ""), next: credentials{newKey, "1", "", stored, "1"}, issue: issueFirst},
		"lost while the key is rotated":          {want: rotations("2", "1"), next: credentials{newKey, "2", "", stored, "1"}, issue: issueFirst},
		"the database has not followed": {
			current: credentials{other, "2", hexHash(key), stored, "1"}, want: rotations("2", "1"),
			next: credentials{other, "2", hexHash(key), stored, "1"},
		},
		"nor before the next rotation": {
			current: credentials{other, "2", hexHash(key), stored, "1"}, want: rotations("3", "1"),
			next: credentials{other, "2", hexHash(key), stored, "1"},
		},
		"a key put there by hand": {
			current: credentials{other, "1", older, stored, "1"},
			next:    credentials{other, "1", older, stored, "1"},
		},
		"no key": {
			current: credentials{"", "1", older, stored, "1"},
			next:    credentials{newKey, "1", "", stored, "1"}, issue: issueFirst,
		},
		"a longer key that somebody chose": {
			current: credentials{key + "x", "1", older, stored, "1"},
			next:    credentials{key + "x", "1", older, stored, "1"},
		},
		"no valid key": {
			current: credentials{key[1:], "1", older, stored, "1"},
			next:    credentials{newKey, "1", "", stored, "1"}, issue: issueFirst,
		},
		"a live key": {
			current: credentials{"cauri_sk_live_" + key[len(apiKeyPrefix):], "1", "", stored, "1"},
			next:    credentials{newKey, "1", "", stored, "1"}, issue: issueFirst,
		},
		"a key of another sandbox": {
			current: present, want: func(w *credentialInputs) { w.rejectedKey = key },
			next: credentials{newKey, "1", "", stored, "1"}, issue: issueFirst,
		},
		"another key than the rejected one":    {current: present, want: func(w *credentialInputs) { w.rejectedKey = other }, next: present},
		"the key's annotation is put back":     {current: credentials{key, "9", older, stored, "1"}, next: present},
		"put back where no value is asked for": {current: credentials{key, "9", older, stored, "1"}, want: rotations("", "1"), next: present},
		"an annotation does not stop a rotation": {
			current: credentials{key, "2", older, stored, "1"}, want: rotations("2", "1"),
			next: credentials{newKey, "2", hexHash(key), stored, "1"}, issue: issueRotated,
		},

		"the signing secret is rotated":    {current: present, want: rotations("1", "2"), next: credentials{key, "1", older, fresh, "2"}},
		"rotated while the Secret is lost": {want: rotations("1", "2"), next: credentials{newKey, "1", "", fresh, "2"}, issue: issueFirst},
		"the database has not followed it": {
			current: credentials{key, "1", older, aside, "2"}, want: rotations("1", "2"),
			next: credentials{key, "1", older, aside, "2"},
		},
		"and the value is back":       {current: credentials{key, "1", older, aside, "2"}, next: present},
		"and the value is taken away": {current: credentials{key, "1", older, aside, "2"}, want: rotations("1", ""), next: present},
		"and the value is yet another": {
			current: credentials{key, "1", older, aside, "2"}, want: rotations("1", "3"),
			next: credentials{key, "1", older, fresh, "3"},
		},
		"its annotation is put back": {current: credentials{key, "1", older, stored, "9"}, next: present},
		"its annotation does not stop a rotation": {
			current: credentials{key, "1", older, stored, "2"}, want: rotations("1", "2"),
			next: credentials{key, "1", older, fresh, "2"},
		},
		"a slip of the hand":         {current: credentials{key, "1", older, "oops", "1"}, next: present},
		"a secret put there by hand": {current: credentials{key, "1", older, aside, "1"}, next: present},
		"a crash before the database had one": {
			current: credentials{key, "1", older, aside, "1"},
			want:    func(w *credentialInputs) { w.inDatabase.SigningSecret, w.inDatabase.SecretRotation = "", "" },
			next:    credentials{key, "1", older, aside, "1"},
		},

		"the user has a signing secret": {current: present, want: userSecret("mine", ""), next: credentials{key, "1", older, "mine", "1"}},
		"rotation of the user's own does nothing": {
			current: present, want: func(w *credentialInputs) { userSecret("mine", "mine")(w); w.secretRotation = "2" },
			next: credentials{key, "1", older, "mine", "2"},
		},
		"the user's own is gone": {
			current: credentials{key, "1", older, "mine", "1"}, want: userSecret("", "mine"),
			next: credentials{key, "1", older, fresh, "1"},
		},
		"and the database has not followed that": {
			current: credentials{key, "1", older, aside, "1"}, want: userSecret("", "mine"),
			next: credentials{key, "1", older, aside, "1"},
		},
		"the user's own of the generated form stays": {
			current: credentials{key, "1", older, aside, "1"}, want: userSecret("", aside),
			next: credentials{key, "1", older, aside, "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := credentialInputs{keyRotation: "1", secretRotation: "1", inDatabase: sandboxes.StoredCredentials{
				APIKeys: []sandboxes.KeyHash{sha256.Sum256([]byte(key))}, KeyRotation: "1", SigningSecret: stored, SecretRotation: "1",
			}}
			if test.want != nil {
				test.want(&w)
			}
			next, issue, err := w.nextCredentials(test.current, repeat(1))
			if err != nil || next != test.next || issue != test.issue {
				t.Errorf("next %+v, issue %d (%v), want %+v, issue %d", next, issue, err, test.next, test.issue)
			}
		})
	}
}

func rotations(key, secret string) func(*credentialInputs) {
	return func(w *credentialInputs) { w.keyRotation, w.secretRotation = key, secret }
}

// userSecret sets the user's own signing secret, and the one in the database unless it is empty.
func userSecret(own, stored string) func(*credentialInputs) {
	return func(w *credentialInputs) {
		w.userSigningSecret = own
		if stored != "" {
			w.inDatabase.SigningSecret = stored
		}
	}
}

func TestParseHash(t *testing.T) {
	if got := parseHash(hexHash("key")); got == nil || *got != sha256.Sum256([]byte("key")) {
		t.Errorf("got %v", got)
	}
	for _, text := range []string{"", "key", hexHash("key")[1:], hexHash("key") + "00", strings.Repeat("g", 64)} {
		if parseHash(text) != nil {
			t.Errorf("%q is taken for a hash", text)
		}
	}
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
