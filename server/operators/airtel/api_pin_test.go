package airtel

import (
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators/operatorapi/operatorapitest"
)

// pins.tsv has a key, and the PIN 4711 as libraries encrypted it with that key: Node.js 20, PHP 8.2, OpenJDK 17, Ruby 3.1, Python's
// cryptography 48 and Go, each by its default and by the paddings that clients of Airtel ask for.
//
//go:embed testdata/pins.tsv
var pins string

// pinSandbox is a sandbox whose PIN is 4711.
type pinSandbox struct{ operatorapitest.Recorder }

func (pinSandbox) Checks(name, value string) bool { return name == pinCheck && value == "4711" }

func TestPINsOfLibraries(t *testing.T) {
	t.Parallel()
	s := pinSandbox{operatorapitest.Recorder{T: t}}
	read := 0
	for line := range strings.Lines(pins) {
		library, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		text = strings.ReplaceAll(text, `\r\n`, "\r\n") // Java's encoder for MIME breaks lines
		if s.Key == nil {
			der, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			key, err := x509.ParsePKCS8PrivateKey(der)
			if err != nil {
				t.Fatal(err)
			}
			s.Key = key.(*rsa.PrivateKey)
			continue
		}
		if err := checkPIN(t.Context(), s, text); err != nil {
			t.Errorf("%s: %v", library, err)
		}
		read++
		if err := checkPIN(t.Context(), operatorapitest.Recorder{T: t, Key: s.Key}, "A"+text[1:]); err == nil {
			t.Errorf("%s: another text is read too", library)
		}
	}
	if read < 18 {
		t.Errorf("only %d texts are read", read)
	}
}
