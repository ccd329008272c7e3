// Command crd joins the lines of the descriptions in the CRDs of controller-gen. controller-gen keeps the line breaks
// of the comments in the Go source, but kubectl explain wraps lines itself. `make generate` runs it, from the root of
// the repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := run("config/crd/cauri.dev_*.yaml"); err != nil {
		fmt.Fprintln(os.Stderr, "joining the lines of descriptions:", err)
		os.Exit(1)
	}
}

func run(pattern string) error {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		return fmt.Errorf("there is no CRD at %s (%w): run it from the root of the repository", pattern, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(joined(string(text))), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// block matches the first line of a description with line breaks.
var block = regexp.MustCompile(`^( *)description: \|-\n$`)

// joined returns a CRD with one line for each paragraph of its descriptions.
func joined(crd string) string {
	var out strings.Builder
	var description []string
	indent := -1 // indentation of the description's lines; -1: not in a description
	end := func() {
		for _, line := range flowing(description) {
			if line != "" {
				line = strings.Repeat(" ", indent) + line
			}
			out.WriteString(line + "\n")
		}
		description, indent = nil, -1
	}
	for line := range strings.Lines(crd) {
		text := strings.TrimSuffix(line, "\n")
		if indent >= 0 && (text == "" || strings.HasPrefix(text, strings.Repeat(" ", indent))) {
			description = append(description, text[min(indent, len(text)):])
			continue
		}
		if indent >= 0 {
			end()
		}
		out.WriteString(line)
		if head := block.FindStringSubmatch(line); head != nil {
			indent = len(head[1]) + 2
		}
	}
	if indent >= 0 {
		end()
	}
	return out.String()
}

// item matches the beginning of an item of a list, and of an indented line, such as a line of an example.
var item = regexp.MustCompile(`^([-*] |[0-9]+[.] |\s)`)

// flowing joins the lines of each paragraph. Items of lists keep their lines.
func flowing(lines []string) (all []string) {
	for i, line := range lines {
		if i > 0 && line != "" && lines[i-1] != "" && !item.MatchString(line) {
			all[len(all)-1] += " " + line
		} else {
			all = append(all, line)
		}
	}
	return all
}
