package architecture

import (
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every fuzz target stands in the list that `make fuzz` runs.
func TestEveryFuzzTargetIsRun(t *testing.T) {
	listed := map[string]bool{}
	for line := range strings.Lines(read(t, "hack/fuzz-targets.txt")) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) < 2 || len(words) > 3 || len(words) == 3 && words[2] != "money" {
			t.Errorf("%q: write a package, a function, and nothing or money", line)
			continue
		}
		listed[words[0]+" "+words[1]] = true
	}
	found := map[string]bool{}
	for file, names := range testFunctions(t, "Fuzz") {
		for _, name := range names {
			found[fmt.Sprintf("./%s %s", path.Dir(file), name)] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(listed))); diff != "" {
		t.Errorf("hack/fuzz-targets.txt (-there +listed):\n%s", diff)
	}
}

// testFunctions are the functions of the repository's tests whose names begin with a word, by file.
func testFunctions(t *testing.T, word string) map[string][]string {
	t.Helper()
	listing := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "*_test.go")
	listing.Dir = root
	out, err := listing.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for file := range strings.FieldsSeq(string(out)) {
		for line := range strings.Lines(read(t, file)) {
			if name, _, ok := strings.Cut(strings.TrimPrefix(line, "func "), "("); ok && strings.HasPrefix(line, "func "+word) {
				found[file] = append(found[file], name)
			}
		}
	}
	return found
}
