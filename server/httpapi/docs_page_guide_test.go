package httpapi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
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
	for _, want := range wanted {
		if !strings.Contains(guide, want) {
			t.Errorf("docs/api.md lacks %s", want)
		}
	}
}

// The table of errors is the one of the description.
func TestGuideHasTheErrors(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| HTTP | `error` | when | what to send instead |\n| --- | --- | --- | --- |\n"
	for _, c := range apidoc.ErrorCases {
		want += fmt.Sprintf("| %d | `%s` | %s | %s |\n", c.Example.Status, c.Example.Code, c.When, c.Instead())
		if c.When == "" || c.Instead() == "" {
			t.Errorf("%s does not say when it is answered, or what to send instead", c.Example.Code)
		}
	}
	start := strings.Index(string(guide), "| HTTP |")
	got, _, _ := strings.Cut(string(guide)[start:], "\n\n")
	if diff := cmp.Diff(want, got+"\n"); diff != "" {
		t.Errorf("the table of errors in docs/api.md (-want +got):\n%s", diff)
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
