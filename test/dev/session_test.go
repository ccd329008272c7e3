package dev

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// step is a command of a recorded session, and what it printed.
type step struct{ command, printed string }

// session reads the commands of a section of a page: the lines after "$ " in its blocks of text.
func session(t *testing.T, page, title string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+title+"\n")
	if !found {
		t.Fatalf("%s has no section %q", page, title)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for i, block := range strings.Split(section, "```") {
		body, isText := strings.CutPrefix(block, "text\n")
		if i%2 == 0 || !isText {
			continue
		}
		for _, part := range strings.Split("\n"+body, "\n$ ")[1:] {
			command, printed, _ := strings.Cut(part, "\n")
			steps = append(steps, step{command, printed})
		}
	}
	return steps
}

var (
	ids = regexp.MustCompile(`\b(TX|evt|log)_[0-9A-Z]{26}\b`)
	// varying is what another run prints in another way.
	varying = []struct {
		form *regexp.Regexp
		as   string
	}{
		{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`), "TIME"},
		{regexp.MustCompile(`\d\d:\d\d:\d\d\.\d+`), "TIME"},
		{regexp.MustCompile(`\b(\d+ ms|\d+\.\d s)\b`), "DURATION"},
		{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
		{regexp.MustCompile(`CLI-[0-9A-Z]+`), "REFERENCE"},
		{regexp.MustCompile(`org_[0-9A-Z]*`), "ORGANIZATION"},
		{regexp.MustCompile(`\d+ bytes`), "BYTES"},
		{regexp.MustCompile(`\d of (\d) movements verified`), "VERIFIED of $1 movements verified"},
		{regexp.MustCompile(` (TIME|-)\n`), " NEXT\n"}, // of an event that is just being sent
		{regexp.MustCompile(` +`), " "},
	}
)

func masked(text string) string {
	text = ids.ReplaceAllString(text, "$1")
	for _, one := range varying {
		text = one.form.ReplaceAllString(text, one.as)
	}
	return strings.TrimSpace(text)
}

// refusing is a receiver that verifies with the secret in a file, and leaves the last request in another one.
func refusing(t *testing.T, folder string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var request bytes.Buffer
		_ = r.Header.Write(&request) // a buffer takes everything
		request.WriteString("\r\n" + string(body))
		if err := os.WriteFile(filepath.Join(folder, "request.txt"), request.Bytes(), 0o600); err != nil {
			t.Error(err)
		}
		secret, err := os.ReadFile(filepath.Join(folder, "receiver-secret"))
		if err != nil {
			t.Error(err)
		}
		verifier, err := standardwebhooks.NewWebhook(strings.TrimSpace(string(secret)))
		if err != nil || verifier.Verify(body, r.Header) != nil {
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// delivered is how an event ends that its receiver acknowledges at the third attempt.
var delivered = regexp.MustCompile(`delivered +3 +204 +-`)

// The session on the page of the command line runs as it stands there: from the status to the reason of a refused webhook, and its repair.
func TestRecordedSession(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, content := range map[string]string{"receiver-secret": "whsec_c2VjcmV0IG9mIGFub3RoZXIgc2FuZGJveA=="} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, filepath.Join(folder, "cauri")); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(refusing(t, folder))
	defer server.Close()
	file := write(t, "checkout.yaml", `{apiVersion: cauri.dev/v1alpha1, kind: SandboxEnvironment, metadata: {name: checkout}, spec: {environments: [{operator: mtn,
  country: RW}], webhook: {url: "`+server.URL+`/webhooks", retryPolicy: {maxRetries: 1, initialDelay: 1s, factor: 1, maxDelay: 1s}}}}`)
	p := start(t, "--file", file, "--database-url", newDatabase(t))
	actual := map[string]string{} // the ids of this run by those of the page
	for _, step := range session(t, "../../docs/commands.md", "Why was my webhook refused?") {
		command := ids.ReplaceAllStringFunc(step.command, func(id string) string { return actual[id] })
		var printed []byte
		run := func() bool {
			sh := exec.CommandContext(t.Context(), "sh", "-c", command)
			sh.Dir, sh.Env = folder, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "CAURI_ENV_FILE="+p.envFile)
			printed, _ = sh.CombinedOutput()                // its exit code is said in the output
			if strings.HasPrefix(command, "cauri resend") { // the worker may have sent it before the command reads its state
				printed = []byte(delivered.ReplaceAllString(string(printed), "queued      2          401        2026-11-23 04:21:40"))
			}
			return masked(string(printed)) == masked(step.printed)
		}
		reads := strings.HasPrefix(command, "cauri status") || strings.HasPrefix(command, "cauri events")
		right := run()
		for begun := time.Now(); reads && !right && time.Since(begun) < patience; { // until the worker has done what the page shows
			time.Sleep(100 * time.Millisecond)
			right = run()
		}
		if !right {
			t.Fatalf("$ %s\n%s\nand on the page\n%s\nthe same without what varies:\n%s\n\n%s", command, printed, step.printed, masked(string(printed)),
				masked(step.printed))
		}
		found := ids.FindAllString(string(printed), -1)
		for i, id := range ids.FindAllString(step.printed, -1) {
			actual[id] = found[i]
		}
	}
}
