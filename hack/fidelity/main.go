// Command fidelity writes the tables of the operators' own APIs into docs/fidelity.md, from the facts in their packages.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/cauri-dev/cauri/server/operators"
)

const (
	page = "docs/fidelity.md"
	mark = "<!-- Written by `go run ./hack/fidelity`, from server/operators: %s. -->\n"
	end  = "<!-- End. -->\n"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write() error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	var summaries, tables strings.Builder
	for _, api := range operators.NativeAPIs() {
		summaries.WriteString("\n" + api.Summary() + "\n")
		tables.WriteString("\n" + api.Fidelity() + "\n")
	}
	written := string(text)
	for what, part := range map[string]string{"in short": summaries.String(), "row by row": tables.String()} {
		if written, err = replaced(written, fmt.Sprintf(mark, what), part); err != nil {
			return err
		}
	}
	return os.WriteFile(page, []byte(written), 0o644)
}

// replaced returns the text with part between its marks.
func replaced(text, begin, part string) (string, error) {
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("%s has no place for the tables: write the lines %q and %q", page, begin, end)
	}
	return before + begin + part + end + after, nil
}
