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
	function := func(file, from string) string {
		t.Helper()
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, after, found := strings.Cut(string(code), from)
		if !found {
			t.Fatalf("%s has no %q", file, from)
		}
		return from + after
	}
	wanted := []string{
		function("apidoc/verify/verify.go", "// Verified reports"),
		function("apidoc/verify/verify.mjs", "import {"),
	}
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
