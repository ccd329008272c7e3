package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/httpapi/apidoc/verify"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// verifiers are the programs of docs/webhooks.md in folder apidoc/verify, and how a driver in testdata/verify runs them.
var verifiers = map[string]struct {
	file, driver string
	run          []string // the first one must be on the machine
}{
	"Node.js": {"verify.mjs", "driver.mjs", []string{"node", "driver.mjs", "./verify.mjs"}},
	"Python":  {"verify.py", "driver.py", []string{"python3", "driver.py", "verify.py"}},
	"PHP":     {"verify.php", "driver.php", []string{"php", "driver.php", "./verify.php"}},
	"Java":    {"Verify.java", "Driver.java", []string{"javac", "Verify.java", "Driver.java"}},
}

// verification is a delivery with what its receiver has to say to it.
type verification struct {
	name   string
	header http.Header
	body   []byte
	secret string
	later  time.Duration // after the delivery
	want   bool
}

// verifications are deliveries of the sender, as they are and changed.
func verifications(t *testing.T, at time.Time) []verification {
	t.Helper()
	const secret, previous, plain = "whsec_bmV3LXNlY3JldC1vZi10aGUtc2FuZGJveA==", "whsec_cHJldmlvdXMtc2VjcmV0LTAwMDAwMDAw", "a secret of a user's own"
	body := []byte(`{"event":"payment.completed","description":"Deux billets à Abidjan","status":"SUCCESS", "raw":null}`)
	sent, rotated := delivered(t, at, body, secret), delivered(t, at, body, secret, previous)
	changed := func(name, value string) http.Header {
		header := sent.Clone()
		header.Set(name, value)
		return header
	}
	without := func(name string) http.Header {
		header := rotated.Clone()
		header.Del(name)
		return header
	}
	stale := strconv.FormatInt(at.Add(time.Hour).Unix(), 10)
	return []verification{
		{"as sent", sent, body, secret, time.Second, true},
		{"with a secret of another form", delivered(t, at, body, plain), body, plain, 0, true},
		{"rotated, with the new secret", rotated, body, secret, 0, true},
		{"rotated, with the previous secret", rotated, body, previous, 0, true},
		{"after five minutes", sent, body, secret, 5 * time.Minute, true},
		{"five minutes early", sent, body, secret, -5 * time.Minute, true},
		{"too old", sent, body, secret, 5*time.Minute + time.Second, false},
		{"too early", sent, body, secret, -5*time.Minute - time.Second, false},
		{"old, with the time of now", changed("webhook-timestamp", stale), body, secret, time.Hour, false},
		{"without a time", without("webhook-timestamp"), body, secret, 0, false},
		{"a time that is none", changed("webhook-timestamp", "now"), body, secret, 0, false},
		{"another body", sent, append(slices.Clone(body), ' '), secret, 0, false},
		{"another event's id", changed("webhook-id", "evt_1"), body, secret, 0, false},
		{"another secret", sent, body, previous, 0, false},
		{"no secret", sent, body, "", 0, false},
		{"no signature", without("X-Service-Signature"), body, secret, 0, false},
		{"no previous signature", without("X-Service-Signature-Previous"), body, previous, 0, false},
		{"no standard signature", without("webhook-signature"), body, secret, 0, false},
		{"a signature in capitals", changed("X-Service-Signature", strings.ToUpper(sent.Get("X-Service-Signature"))), body, secret, 0, false},
		{"a signature that is not ASCII", changed("X-Service-Signature", "sha256=é"), body, secret, 0, false},
		{"an empty signature", changed("webhook-signature", "v1,"), body, secret, 0, false},
	}
}

// delivered is the header with which the sender delivers a body.
func delivered(t *testing.T, at time.Time, body []byte, secret string, previous ...string) (header http.Header) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		if got, err := io.ReadAll(r.Body); err != nil || string(got) != string(body) {
			t.Errorf("the body is %q, %v", got, err)
		}
	}))
	defer receiver.Close()
	sender := webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", time.Now)
	result := sender.Send(t.Context(), webhooks.Delivery{
		URL: receiver.URL, Secret: secret, Previous: previous, ID: payments.ID{1}, Type: payments.Collection, Body: body, At: at,
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	return header
}

func TestVerificationInGo(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_780_000_000, 0)
	for _, c := range verifications(t, at) {
		if got := verify.Verified(c.header, c.body, c.secret, at.Add(c.later)); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestVerificationInOtherLanguages runs the programs whose languages are on the machine.
func TestVerificationInOtherLanguages(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_780_000_000, 0)
	cases := verifications(t, at)
	var input strings.Builder
	for _, c := range cases {
		fields := []string{strconv.FormatInt(at.Add(c.later).Unix(), 10), c.secret, string(c.body)}
		for _, name := range slices.Sorted(maps.Keys(c.header)) {
			fields = append(fields, name, c.header.Get(name))
		}
		for i, field := range fields {
			fields[i] = base64.StdEncoding.EncodeToString([]byte(field))
		}
		fmt.Fprintln(&input, strings.Join(fields, " "))
	}
	for language, v := range verifiers {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(v.run[0]); err != nil {
				t.Skipf("%s is not on this machine: its program is not run here (docs/development.md)", language)
			}
			folder := t.TempDir()
			copyTo(t, folder, "apidoc/verify/"+v.file)
			copyTo(t, folder, "testdata/verify/"+v.driver)
			out := runIn(t, folder, input.String(), v.run...)
			if language == "Java" {
				out = runIn(t, folder, input.String(), "java", "-cp", ".", "Driver")
			}
			answers := strings.Fields(out)
			if len(answers) != len(cases) {
				t.Fatalf("%d answers to %d deliveries: %q", len(answers), len(cases), answers)
			}
			for i, c := range cases {
				if answers[i] != strconv.FormatBool(c.want) {
					t.Errorf("%s: %s", c.name, answers[i])
				}
			}
		})
	}
}

func copyTo(t *testing.T, folder, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, filepath.Base(file)), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func runIn(t *testing.T, folder, input string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Stdin = folder, strings.NewReader(input)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", command, err, out, stderr.String())
	}
	return string(out)
}
