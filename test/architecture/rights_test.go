package architecture

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// The table of the controller's rights in docs/security.md is that of its ClusterRole.
func TestRightsOfTheControllerAreToldAsTheyAre(t *testing.T) {
	document, _, _ := strings.Cut(strings.TrimPrefix(read(t, "config/rbac/role.yaml"), "---\n"), "\n---\n")
	var role struct {
		Kind  string
		Rules []struct{ APIGroups, Resources, Verbs []string }
	}
	if err := yaml.Unmarshal([]byte(document), &role); err != nil || role.Kind != "ClusterRole" || len(role.Rules) < 5 {
		t.Fatalf("%v: %+v", err, role)
	}
	given := map[string][]string{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			given[resource] = append(given[resource], rule.Verbs...)
		}
	}
	_, section, _ := strings.Cut(read(t, "docs/security.md"), "\n## Rights in Kubernetes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	told := map[string][]string{}
	var resources []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || strings.Contains(cells[1], "---") || strings.Contains(cells[1], "in its own namespace") ||
			strings.TrimSpace(cells[1]) == "resource" {
			continue
		}
		if name := strings.TrimSpace(cells[1]); name != "" { // a group in code, and names
			if strings.HasPrefix(name, "`") {
				_, name, _ = strings.Cut(name, "` ")
			}
			resources = strings.Split(name, ", ")
		}
		for _, resource := range resources {
			told[resource] = append(told[resource], strings.Split(strings.TrimSpace(cells[2]), ", ")...)
		}
	}
	for _, verbs := range []map[string][]string{given, told} {
		for _, resource := range slices.Sorted(maps.Keys(verbs)) {
			slices.Sort(verbs[resource])
			verbs[resource] = slices.Compact(verbs[resource])
		}
	}
	if diff := cmp.Diff(given, told); diff != "" {
		t.Errorf("docs/security.md (-config/rbac/role.yaml +told):\n%s", diff)
	}
}
