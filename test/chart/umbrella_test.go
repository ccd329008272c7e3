package chart

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A chart that depends on this one hands it `global`, and switches it on and off by a condition, which is `enabled` by convention.
func TestAsASubchart(t *testing.T) {
	t.Parallel()
	umbrella := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(umbrella, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("Chart.yaml", `apiVersion: v2
name: platform
version: 1.0.0
dependencies:
- name: cauri
  version: ">=0.0.0-0"
  condition: cauri.enabled
`)
	write("values.yaml", `global: {imageRegistry: registry.example.com}
cauri:
  enabled: true
  crds: {enabled: false}
`)
	if err := os.CopyFS(filepath.Join(umbrella, "charts", "cauri"), os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	names := func(args ...string) (found []string) {
		rendered, err := helm(t, append([]string{"template", release, umbrella, "--namespace=" + namespace}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range parse(t, rendered) {
			found = append(found, nameOf(object))
		}
		return found
	}
	var alone []string
	for _, object := range objects(t) {
		alone = append(alone, nameOf(object))
	}
	if diff := cmp.Diff(alone, names()); diff != "" {
		t.Errorf("objects (-alone +as a part of another chart):\n%s", diff)
	}
	if found := names("--set=cauri.enabled=false"); len(found) > 0 {
		t.Errorf("switched off, it renders %v", found)
	}
}
