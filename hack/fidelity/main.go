// Command fidelity writes the tables of the operators' own APIs into docs/fidelity.md, from the facts in their packages.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/cauri-dev/cauri/server/operators"
)

const (
	page  = "docs/fidelity.md"
	begin = "<!-- The tables are written by `go run ./hack/fidelity`, from server/operators. -->\n"
	end   = "<!-- End of the tables. -->\n"
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
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the tables: write the lines %q and %q", page, begin, end)
	}
	var tables strings.Builder
	for _, api := range operators.NativeAPIs() {
		tables.WriteString("\n" + api.Fidelity() + "\n")
	}
	return os.WriteFile(page, []byte(before+begin+tables.String()+end+after), 0o644)
}
