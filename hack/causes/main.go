// Command causes writes the table of causes into docs/agents.md, from server/advice and server/grade, and the signatures' part of it into
// docs/troubleshooting.md.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/grade"
)

const (
	mark = "<!-- Written by `go run ./hack/causes`, from server/advice. -->\n"
	end  = "<!-- End of the causes. -->\n"
)

func main() {
	for page, prefixes := range map[string][]string{
		"docs/agents.md":          {""},
		"docs/troubleshooting.md": {"signature.", "event.", "payment.", "clock.", "worker."},
	} {
		if err := write(page, prefixes); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// write writes the causes whose codes begin with one of the prefixes into a page.
func write(page string, prefixes []string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), mark)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the causes: write the lines %q and %q", page, mark, end)
	}
	return os.WriteFile(page, []byte(before+mark+table(prefixes)+end+after), 0o644)
}

func table(prefixes []string) string {
	var out strings.Builder
	out.WriteString("\n| cause | for example | what to do |\n| --- | --- | --- |\n")
	for _, a := range append(advice.Causes(), grade.Causes()...) {
		code := string(a.Code)
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(code, p) }) {
			continue
		}
		what, do := a.Sentences()
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", code, cell(what), cell(do))
	}
	out.WriteString("\n")
	return out.String()
}

// cell returns a text for a cell of a table in Markdown, in which it is no markup.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "\n", " ").Replace(text)
}
