// Command reference writes docs/reference from the generated CRDs and from the comments on conditions in package
// v1alpha1. So the reference has the same texts as `kubectl explain`. `make generate` runs it, from the root of the
// repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "writing docs/reference:", err)
		os.Exit(1)
	}
}

func run() error {
	files, err := filepath.Glob("config/crd/cauri.dev_*.yaml")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("there is no CRD in config/crd (%w): run it from the root of the repository", err)
	}
	var kinds []kind
	for _, file := range files {
		k, err := readKind(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		kinds = append(kinds, k)
	}
	conditions, err := readConditions("api/v1alpha1/condition_types.go")
	if err != nil {
		return err
	}
	pages := map[string]string{"README.md": indexPage(kinds), "conditions.md": conditionsPage(conditions)}
	for _, k := range kinds {
		pages[k.page()] = k.markdown()
	}
	if err := os.MkdirAll("docs/reference", 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join("docs/reference", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
