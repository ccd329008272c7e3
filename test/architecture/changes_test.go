package architecture

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A change is one that contributors make often. Its steps are in the order in which the tests ask for them.
type change struct {
	row      string     // the first cell of its row in docs/where.md, whose second cell has the files of all steps
	generate string     // what `make generate` runs for it, before each test; empty for nothing
	update   [][]string // arguments of go test that write what follows from the whole change, as its tests ask for
	steps    []step
}

// A step is a part of a change.
type step struct {
	edits []edit
	test  []string // arguments of go test, which fails before the step and passes after the change; nil for the first step
	says  string   // a part of what it prints, or generate
}

// An edit inserts a text before another one, which a file has once.
type edit struct{ file, before, insert string }

// docs/where.md names the files of each change, and no others.
func TestFilesOfChangesAreDocumented(t *testing.T) {
	page := read(t, "docs/where.md")
	for _, c := range changes {
		want := map[string]bool{}
		for _, s := range c.steps {
			for _, e := range s.edits {
				want[e.file] = true
				if n := strings.Count(read(t, e.file), e.before); n != 1 {
					t.Errorf("%s: %s has %q %d times", c.row, e.file, e.before, n)
				}
			}
		}
		_, row, found := strings.Cut(page, "\n| "+c.row+" |")
		row, _, _ = strings.Cut(row, "\n")
		got := map[string]bool{}
		for _, target := range links(row) {
			if file := strings.TrimPrefix(target, "../"); !strings.HasPrefix(target, "decisions/") && !strings.Contains(target, "#") {
				if file == target {
					file = "docs/" + target
				}
				got[file] = true
			}
		}
		for file := range want {
			if !found || !got[file] {
				t.Errorf("docs/where.md: the row %q has to name %s", c.row, file)
			}
		}
		for file := range got {
			if !want[file] {
				t.Errorf("docs/where.md: the row %q names %s, which the change does not need", c.row, file)
			}
		}
	}
}

// In a copy of the source, each step of a change is asked for by a test that fails without it, and the whole change is complete.
func TestEachStepOfAChangeIsAskedFor(t *testing.T) {
	if os.Getenv("CAURI_TEST_WHOLE") == "" {
		t.Skip("set CAURI_TEST_WHOLE=1: it compiles a copy of the source for each step")
	}
	for _, c := range changes {
		t.Run(c.row, func(t *testing.T) {
			copied := copySource(t)
			if c.generate != "" {
				linkSQLC(t, copied)
			}
			for i, s := range c.steps {
				if out, ok := c.ask(copied, s.test); i > 0 && (ok || !strings.Contains(out, s.says)) {
					t.Errorf("before step %d, go test %s has to fail and to say %q:\n%s", i+1, strings.Join(s.test, " "), s.says, out)
				}
				for _, e := range s.edits {
					insert(t, filepath.Join(copied, e.file), e)
				}
			}
			for _, args := range c.update {
				goTest(copied, args)
			}
			for i, s := range c.steps[1:] {
				if out, ok := c.ask(copied, s.test); !ok {
					t.Errorf("after all steps, the test of step %d fails:\n%s", i+2, out)
				}
			}
		})
	}
}

// ask generates what follows from the steps so far, and runs the test of the next one.
func (c *change) ask(folder string, test []string) (out string, ok bool) {
	if test == nil {
		return "", true
	}
	if c.generate != "" {
		cmd := exec.Command("sh", "-ec", c.generate)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			return string(out), false
		}
	}
	return goTest(folder, test)
}

func goTest(folder string, args []string) (string, bool) {
	cmd := exec.Command("go", append([]string{"test", "-vet=off", "-count=1"}, args...)...) // a copy has no cached result
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func insert(t *testing.T, file string, e edit) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), e.before, e.insert+e.before, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// linkSQLC puts the program of this tree into a copy.
func linkSQLC(t *testing.T, copied string) {
	t.Helper()
	build := exec.Command("make", "--no-print-directory", "bin/sqlc")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program, err := filepath.Abs(filepath.Join(root, "bin/sqlc"))
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(copied, "bin"), 0o755), os.Symlink(program, filepath.Join(copied, "bin/sqlc")))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copySource copies the files that git knows into a new folder.
func copySource(t *testing.T) string {
	t.Helper()
	copied := t.TempDir()
	known, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Collect(strings.SplitSeq(strings.TrimSuffix(string(known), "\x00"), "\x00"))
	list := exec.Command("cp", append([]string{"--parents", "--no-dereference", "--preserve=mode", "-t", copied}, names...)...)
	list.Dir = root
	if out, err := list.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return copied
}
