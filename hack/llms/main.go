// Command llms writes llms.txt of the repository from docs/README.md and the first sentences of the pages. `make generate` runs it.
package main

import (
	"fmt"
	"os"

	"github.com/cauri-dev/cauri/server/manual"
)

func main() {
	text := manual.Index(func(file string) string { return "docs/" + file })
	if err := os.WriteFile("llms.txt", []byte(text), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "writing llms.txt:", err)
		os.Exit(1)
	}
}
