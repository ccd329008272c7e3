package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The lines of the README before and after the table of values.
const (
	tableBegins = "<!-- The table is written by `make generate` from values.yaml. -->\n"
	tableEnds   = "<!-- The end of the table. -->\n"
)

// writeReadme writes the table of values to the chart's README, from values.yaml and its comments.
func writeReadme() error {
	values, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(values, &document); err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	rows, err := rowsOf("", document.Content[0])
	if err != nil {
		return err
	}
	path := filepath.Join(chart, "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(readme), tableBegins)
	_, after, ended := strings.Cut(rest, tableEnds)
	if !found || !ended {
		return fmt.Errorf("%s has no lines %q and %q for the table of values to stand between", path, tableBegins, tableEnds)
	}
	var table strings.Builder
	table.WriteString("| value | default | |\n| --- | --- | --- |\n")
	for _, r := range rows {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", r.path, r.preset, r.means)
	}
	return os.WriteFile(path, []byte(before+tableBegins+table.String()+tableEnds+after), 0o644)
}

// row is a line of the table.
type row struct{ path, preset, means string }

// rowsOf returns the rows of a mapping. It returns an error if neither a value nor a mapping that contains it has a
// comment.
func rowsOf(path string, mapping *yaml.Node) ([]row, error) {
	var rows []row
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		means := explanation(key.HeadComment)
		if explainsParts(value) {
			if means != "" {
				rows = append(rows, row{path: at, means: means})
			}
			parts, err := rowsOf(at, value)
			if err != nil {
				return nil, err
			}
			rows = append(rows, parts...)
			continue
		}
		if means == "" {
			return nil, fmt.Errorf("values.yaml does not explain %s: write a comment above it", at)
		}
		preset, err := presetOf(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		rows = append(rows, row{at, preset, means})
	}
	return rows, nil
}

// explainsParts reports whether a value is a mapping with a comment on an entry.
func explainsParts(mapping *yaml.Node) bool {
	if mapping.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].HeadComment != "" || explainsParts(mapping.Content[i+1]) {
			return true
		}
	}
	return false
}

func explanation(comment string) string {
	var words []string
	for line := range strings.Lines(comment) {
		words = append(words, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#")))
	}
	return strings.ReplaceAll(strings.Join(words, " "), "|", `\|`)
}

func presetOf(value *yaml.Node) (string, error) {
	var plain any
	if err := value.Decode(&plain); err != nil {
		return "", err
	}
	encoded, err := json.Marshal(plain)
	return "`" + string(encoded) + "`", err
}
