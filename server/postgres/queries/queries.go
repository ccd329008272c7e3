// Package queries has the statements from which sqlc generates package sqlc. Each file is a template of [text/template],
// so that statements share the fragments of fragments.sql, and
// the columns of [Columns]. Only generators and tests import it.
package queries

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed *.sql
var files embed.FS

// Expanded returns the statements by the name of their file, with the fragments in them.
func Expanded() (map[string]string, error) {
	all, err := template.New("").Funcs(template.FuncMap{
		"requestColumns": requestColumns, "requestValues": requestValues, "refundValues": refundValues,
		"requestArrays": requestArrays, "arrayValues": arrayValues,
	}).ParseFS(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("reading the statements: %w", err)
	}
	expanded := map[string]string{}
	for _, file := range all.Templates() {
		if !strings.HasSuffix(file.Name(), ".sql") || file.Name() == "fragments.sql" {
			continue
		}
		var text strings.Builder
		if err := file.Execute(&text, nil); err != nil {
			return nil, fmt.Errorf("expanding the statements: %w", err)
		}
		expanded[file.Name()] = text.String()
	}
	return expanded, nil
}
