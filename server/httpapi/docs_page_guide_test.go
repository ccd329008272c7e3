package httpapi_test

import (
	"os"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

// The guide is written by hand. What it shows of code and names is held against the real thing.
func TestGuideIsUpToDate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(text)
	var wanted []string
	for _, s := range payments.Statuses {
		wanted = append(wanted, string(s))
	}
	for _, s := range payments.Scenarios {
		wanted = append(wanted, "`"+string(s)+"`")
	}
	for _, item := range theContract(t).document["paths"].(object) {
		for _, operation := range item.(object) {
			for status, answer := range operation.(object)["responses"].(object) {
				for code := range examplesOf(answer) {
					if status >= "400" {
						wanted = append(wanted, "| "+status+" | `"+code+"` |")
					}
				}
			}
		}
	}
	for _, want := range wanted {
		if !strings.Contains(guide, want) {
			t.Errorf("docs/api.md lacks %s", want)
		}
	}
}

// The programs that verify a webhook are shown as they are tested.
func TestWebhooksPageShowsTheVerification(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{"verify.go": "// Verified reports"} // from where
	for _, v := range verifiers {
		shown[v.file] = ""
	}
	for file, from := range shown {
		text, err := os.ReadFile("apidoc/verify/" + file)
		if err != nil {
			t.Fatal(err)
		}
		code := string(text)[strings.Index(string(text), from):]
		if !strings.Contains(string(page), code+"```\n") {
			t.Errorf("docs/webhooks.md does not show %s as it is", file)
		}
	}
}
