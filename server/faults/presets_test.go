package faults

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of presets in docs/faults.md again")

// docs/faults.md has the table of presets as it is now.
func TestPresetsInTheDocuments(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/faults.md", "<!-- presets: begin -->\n", "<!-- presets: end -->\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), begin)
	told, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no place for the presets", path)
	}
	want := "| preset | what happens | what a correct shop does | entry |\n| --- | --- | --- | --- |\n"
	for _, p := range Presets() {
		entry, err := json.Marshal(p.Fault)
		if err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("| `%s` | %s | %s | `%s` |\n", p.Name, p.What, p.Correct, entry)
	}
	switch {
	case told == want:
	case *update:
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("docs/faults.md has another table of presets: go test ./server/faults -run Presets -update")
	}
}

func TestPresetsHaveNames(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, p := range Presets() {
		if names[p.Name] || p.Fault.Name != p.Name || PresetNamed(p.Name) == nil || p.Fault.String() == p.Name {
			t.Errorf("the preset %+v", p)
		}
		names[p.Name] = true
	}
	if len(names) != 14 || PresetNamed("none") != nil {
		t.Errorf("there are %d presets", len(names))
	}
}
