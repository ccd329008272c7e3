package report

import (
	"encoding/json"
	"errors"
	"os"
)

// Write writes the figures as JSON and into a page. An empty name means no file.
func (f Figures) Write(file, page string) error {
	var errs []error
	if file != "" {
		content, err := json.MarshalIndent(f, "", "  ")
		errs = append(errs, err)
		if err == nil {
			errs = append(errs, os.WriteFile(file, append(content, '\n'), 0o644))
		}
	}
	if page != "" {
		errs = append(errs, writeMarkdown(page, marksOfRun, f.page()))
	}
	return errors.Join(errs...)
}
