package architecture

import (
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// The pipelines of docs/ci are YAML, their steps are shell scripts, and the page shows them as they stand.
func TestPipelinesOfTheDocuments(t *testing.T) {
	files, err := filepath.Glob(root + "docs/ci/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("found %q, %v", files, err)
	}
	page := read(t, "docs/ci.md")
	for _, file := range files {
		name := path.Join("docs/ci", filepath.Base(file))
		t.Run(filepath.Base(file), func(t *testing.T) {
			text := read(t, name)
			if !strings.Contains(page, "\n```yaml\n"+text+"```\n") {
				t.Errorf("docs/ci.md has no block with the content of %s", name)
			}
			var pipeline map[string]any
			if err := yaml.UnmarshalStrict([]byte(text), &pipeline); err != nil {
				t.Fatal(err)
			}
			found := scripts(pipeline)
			if len(found) == 0 {
				t.Fatalf("%s has no step that runs a script", name)
			}
			for _, script := range found {
				check := exec.CommandContext(t.Context(), "bash", "-n")
				check.Stdin = strings.NewReader(script)
				if out, err := check.CombinedOutput(); err != nil {
					t.Errorf("a step does not parse: %s\n%s", out, script)
				}
				if strings.Contains(script, "${{") {
					t.Errorf("a step has an expression put into its script, where whoever names a branch writes shell; hand it over by env:\n%s", script)
				}
			}
		})
	}
}

// scripts are those of a GitHub or a GitLab pipeline.
func scripts(node any) (found []string) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			found = append(found, scripts(child)...)
		}
	case map[string]any:
		for key, child := range n {
			switch key {
			case "run":
				found = append(found, child.(string))
			case "script", "before_script", "after_script":
				var lines []string
				for _, line := range child.([]any) {
					lines = append(lines, line.(string))
				}
				found = append(found, strings.Join(lines, "\n"))
			default:
				found = append(found, scripts(child)...)
			}
		}
	}
	return found
}
