// Command chart writes the generated files of the Helm chart and of config/default. It copies the CRDs, the
// controller's rights, the alert rules and the dashboard to charts/cauri/files. It writes the table of values in the
// chart's README. It writes the objects that the chart renders to config/default. `make generate` runs it, from the
// root of the repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "writing the chart's files:", err)
		os.Exit(1)
	}
}

const chart = "charts/cauri"

// copies are the files that the chart includes, by the folder in charts/cauri/files.
var copies = map[string][]string{
	"crds":       {"config/crd/cauri.dev_*.yaml"},
	"rbac":       {"config/rbac/role.yaml", "config/rbac/view_role.yaml", "config/rbac/edit_role.yaml"},
	"monitoring": {"config/monitoring/rules.yaml", "config/monitoring/dashboard.json"},
}

func run() error {
	for folder, patterns := range copies {
		if err := copyInto(filepath.Join(chart, "files", folder), patterns); err != nil {
			return err
		}
	}
	if err := writeReadme(); err != nil {
		return err
	}
	return writeWorkloads()
}

// copyInto copies the files of the patterns to a folder, and removes all other files there.
func copyInto(folder string, patterns []string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			return fmt.Errorf("there is no %s (%w): run it from the root of the repository", pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(folder, filepath.Base(file)), content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
