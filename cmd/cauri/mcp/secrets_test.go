package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
)

type closing struct{ io.Writer }

func (closing) Close() error { return nil }

// No message has a secret: as it is, within JSON in a text, in a name of a field, or by its form alone.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	odd := `pass"word<&>é` + "\u2028"
	values := map[string]string{
		"CAURI_API_KEY": testKey, "CAURI_WEBHOOK_SECRET": odd, "CAURI_MTN_API_USER": "0c1d2e3f-0000-4000-8000-123456789abc", "CAURI_AIRTEL_PIN": "1234",
	}
	s := newSecrets()
	s.learn(values)
	inner, err := json.Marshal(map[string]string{odd: testKey, "plain": "+2250700001234"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"as it is": "the key " + testKey + ".", "twice": testKey + testKey, "JSON within a text": string(inner), "odd": odd,
		"another's key": "cauri_sk_other_00000000000000000000000000", "another's secret": "whsec_AAAAAAAAAAAAAAAAAAAAAAAA",
	} {
		message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "result": map[string]any{"text": text, text: 1}})
		if err != nil {
			t.Fatal(err)
		}
		got := s.message(message)
		var decoded any
		if err := json.Unmarshal(got, &decoded); err != nil {
			t.Errorf("%s: %v: %s", name, err, got)
		}
		for variable, value := range values {
			if variable != "CAURI_AIRTEL_PIN" && strings.Contains(fmt.Sprint(decoded), value) {
				t.Errorf("%s: %s is in %s", name, variable, got)
			}
		}
		if strings.Contains(string(got), "_other_") || strings.Contains(string(got), "AAAA") {
			t.Errorf("%s: %s", name, got)
		}
	}
	plain := []byte(`{"jsonrpc":"2.0","id":1,"result":{"text":"nothing of it \u00e9 +2250700001234"}}`)
	if got := s.message(plain); string(got) != string(plain) {
		t.Errorf("a message without a secret is changed: %s", got)
	}
}

// A receiver may tell a secret in another encoding.
func TestEncodedSecretsAreHidden(t *testing.T) {
	t.Parallel()
	s, secret := newSecrets(), "a secret of a sandbox"
	s.learn(map[string]string{"NAME": secret})
	for _, told := range []string{
		secret, base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)), url.QueryEscape(secret),
	} {
		if got := s.hidden("the key is " + told); !strings.HasPrefix(got, "the key is [NAME]") {
			t.Errorf("got %q", got)
		}
	}
}

// What cannot be cleaned is not sent. A question still gets an answer.
func TestFilterFailsClosed(t *testing.T) {
	t.Parallel()
	s := newSecrets()
	s.learn(map[string]string{"CAURI_API_KEY": testKey, "NUMBER": "123456789"})
	for name, c := range map[string]struct{ line, says string }{
		"a number":          {`{"jsonrpc":"2.0","id":1,"result":{"n":123456789}}`, "withheld"},
		"no JSON":           {`{"jsonrpc":"2.0","id":1,"result":` + testKey, ""},
		"a notification":    {`{"jsonrpc":"2.0","method":"x","params":{"n":123456789}}`, ""},
		"an id of a client": {`{"jsonrpc":"2.0","id":123456789,"result":{}}`, ""},
	} {
		got := string(s.message([]byte(c.line)))
		if s.has(got) || c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Lines leave whole, however they are written.
func TestFilterWritesLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newSecrets()
	s.learn(map[string]string{"CAURI_API_KEY": testKey})
	f := &filter{secrets: s, out: closing{&out}}
	text := `{"a":"` + testKey + `"}` + "\n" + `{"b":1}` + "\n"
	for i := range text {
		if _, err := f.Write([]byte(text[i : i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != `{"a":"[CAURI_API_KEY]"}`+"\n"+`{"b":1}`+"\n" {
		t.Errorf("%q", got)
	}
}
