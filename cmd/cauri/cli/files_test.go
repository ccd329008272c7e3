package cli

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"

	"github.com/cauri-dev/cauri/server/webhooks"
)

// inUTF16 is a text as Windows PowerShell writes it with >, without the line break at its end.
func inUTF16(text string) []byte {
	written := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		written = binary.LittleEndian.AppendUint16(written, unit)
	}
	return written
}

// Whatever program wrote a file, it is read.
func TestFilesOfWindows(t *testing.T) {
	f := newFixture(t)
	f.config.API.Faults = true
	f.apply(t)
	encodings := map[string]func(text string) []byte{"UTF-16": inUTF16, "a mark": func(text string) []byte { return append([]byte("\xef\xbb\xbf"), text...) }}
	for name, encoded := range encodings {
		folder := t.TempDir()
		file := func(name, text string) string {
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path, encoded(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		env := "--env-file=" + file("env", "CAURI_URI="+f.url+"\r\nCAURI_API_KEY="+testKey+"\r\n")
		run(t, Options{}, "payers", env).want(t, ExitSuccess, alice)
		expect := file("expect.yaml", "within: 1m\r\nsettle: 0s\r\nexpect:\r\n- testClient: {msisdn: \"+250788000001\", balance: 50000}\r\n")
		run(t, Options{}, "expect", "-f", expect, env).want(t, ExitSuccess, "met")
		runFrom(t, Options{}, string(encoded("within: 1m\nsettle: 0s\nexpect: [{transactions: {count: 0}}]")), "expect", "-f", "-", env).want(t, ExitSuccess)
		run(t, Options{}, "faults", "on", "-f", file("fault.yaml", "name: é\r\nwebhook: {drop: true}\r\n"), env).want(t, ExitRefused, "name")
		headers := "X-Service-Signature: " + webhooks.Signature(listenSecret, []byte(listenedEvent)) + "\r\nwebhook-id: evt_1\r\nwebhook-timestamp: 1780228800\r\n" +
			"webhook-signature: " + webhooks.StandardSignature(listenSecret, "evt_1", listenedAt, []byte(listenedEvent)) + "\r\n"
		secret := "--secret-file=" + file("secret", listenSecret+"\r\n")
		run(t, Options{}, "verify", file("request", headers+"\r\n"+listenedEvent), secret).want(t, ExitSuccess)
		run(t, Options{}, "verify", file("body", listenedEvent), "--headers="+file("headers", headers), secret).want(t, ExitSuccess)
		runFrom(t, Options{}, string(encoded(headers+"\r\n"+listenedEvent)), "verify", secret).want(t, ExitSuccess)
		if t.Failed() {
			t.Fatalf("in %s", name)
		}
	}
}
