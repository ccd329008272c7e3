package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// What AGENTS.md names is there: its targets in the Makefile, its folders and files in the tree.
func TestAgentsFileNamesWhatIsThere(t *testing.T) {
	text, makefile := read(t, "AGENTS.md"), read(t, "Makefile")
	if lines := strings.Count(text, "\n"); lines > 120 {
		t.Errorf("AGENTS.md has %d lines, want at most 120", lines)
	}
	targets := regexp.MustCompile("`make ([a-z0-9-]+)").FindAllStringSubmatch(text, -1)
	for _, target := range targets {
		if !strings.Contains(makefile, "\n"+target[1]+":") {
			t.Errorf("AGENTS.md names `make %s`, which the Makefile does not have", target[1])
		}
	}
	paths := 0
	for _, span := range regexp.MustCompile("`([a-z][A-Za-z0-9_./*-]*|\\./[a-z/]+)`").FindAllStringSubmatch(text, -1) {
		name := strings.TrimPrefix(span[1], "./")
		if top, _, _ := strings.Cut(name, "/"); top == "bin" || !strings.Contains(name, "/") && filepath.Ext(name) == "" && !isFolder(name) {
			continue // a built program, or a word of code
		}
		paths++
		if found, err := filepath.Glob(filepath.Join(root, name)); err != nil || len(found) == 0 {
			t.Errorf("AGENTS.md names %s, which is not there", name)
		}
	}
	for _, command := range regexp.MustCompile(`go (?:run|test) (\./[a-z0-9/]+)|PKG=(\./[a-z0-9/]+)`).FindAllStringSubmatch(text, -1) {
		paths++
		if !isFolder(command[1] + command[2]) {
			t.Errorf("AGENTS.md names %s, which is not there", command[0])
		}
	}
	if len(targets) < 8 || paths < 30 {
		t.Errorf("found only %d targets and %d paths: are they written in another way by now?", len(targets), paths)
	}
}

func isFolder(name string) bool {
	info, err := os.Stat(filepath.Join(root, name))
	return err == nil && info.IsDir()
}

// A skill has the form of agentskills.io, as programs that load skills check it.
func TestSkillHasItsForm(t *testing.T) {
	text := read(t, "skills/cauri/SKILL.md")
	parts := strings.SplitN(text, "---\n", 3)
	if len(parts) != 3 || parts[0] != "" {
		t.Fatal("the skill does not begin with its front matter between lines ---")
	}
	var front struct{ Name, Description, License, Compatibility string }
	if err := yaml.UnmarshalStrict([]byte(parts[1]), &front); err != nil {
		t.Fatal(err)
	}
	if front.Name != "cauri" || front.License != "Apache-2.0" {
		t.Errorf("its name is %q, its license %q", front.Name, front.License)
	}
	for field, length := range map[string][2]int{
		"description": {len(front.Description), 1024}, "compatibility": {len(front.Compatibility), 500}, "body's lines": {strings.Count(parts[2], "\n"), 200},
	} {
		if length[0] == 0 || length[0] > length[1] {
			t.Errorf("its %s: %d, want at most %d", field, length[0], length[1])
		}
	}
}

// No text for programs has a key. Examples of keys are in the documents of people alone, as `cauri dev` prints them.
func TestTextsForProgramsHaveNoKey(t *testing.T) {
	files := []string{"AGENTS.md", "llms.txt", "docs/agents.md"}
	for _, pattern := range []string{"skills/*/*.md", "skills/*/*/*.md", "server/httpapi/apidoc/page/*.md", "server/httpapi/apidoc/page/api/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("there is no %s, %v", pattern, err)
		}
		for _, file := range found {
			files = append(files, strings.TrimPrefix(filepath.ToSlash(file), root))
		}
	}
	key := regexp.MustCompile(`cauri_sk_(test|live)_\w{8,}|whsec_[\w+/]{8,}|Bearer [\w.-]{16,}`)
	for _, file := range files {
		if found := key.FindString(read(t, file)); found != "" {
			t.Errorf("%s has a key: %s", file, found)
		}
	}
	if len(files) < 45 {
		t.Errorf("looked at only %d files", len(files))
	}
}
