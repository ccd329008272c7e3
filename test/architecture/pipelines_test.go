package architecture

import (
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// The pipelines of docs/ci are YAML, their steps are shell scripts, and the page shows them as they stand.
func TestPipelinesOfTheDocuments(t *testing.T) {
	files, err := filepath.Glob(root + "docs/ci/*.yaml")
	if err != nil || len(files) < 6 {
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

// A job gets no more rights than it needs, and the jobs of a matrix do not share a namespace.
func TestPipelinesOfGitHub(t *testing.T) {
	for _, name := range append(glob(t, ".github/workflows/*.yaml"), glob(t, "docs/ci/*.yaml")...) {
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct{ Env map[string]string }
		}
		if err := yaml.Unmarshal([]byte(read(t, name)), &workflow); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if workflow.Jobs != nil && workflow.Permissions == nil {
			t.Errorf("%s has no permissions: write `permissions: {contents: read}`, and more in the job that needs it", name)
		}
		for job, j := range workflow.Jobs {
			if namespace := j.Env["NAMESPACE"]; namespace != "" && !strings.Contains(namespace, "strategy.job-index") {
				t.Errorf("%s: the jobs of a matrix of %s share the namespace %s", name, job, namespace)
			}
		}
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

// The workflows and actions of the repository name others by commit, with the version beside it, and run no expression as shell.
func TestWorkflowsRunWhatIsReviewed(t *testing.T) {
	files := append(glob(t, ".github/workflows/*.yaml"), glob(t, ".github/actions/*/action.yml")...)
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.*)$`)
	pinned := regexp.MustCompile(`^\./|^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, name := range files {
		text := read(t, name)
		for _, use := range uses.FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(use[1]) {
				t.Errorf("%s uses %s: write the commit, and the version as a comment: name@<40 digits> # v1.2.3", name, use[1])
			}
		}
		var workflow map[string]any
		if err := yaml.UnmarshalStrict([]byte(text), &workflow); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, script := range scripts(workflow) {
			if strings.Contains(script, "${{") {
				t.Errorf("%s: hand an expression to a script by env:\n%s", name, script)
			}
		}
	}
}

func glob(t *testing.T, pattern string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(root + pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no %s, %v", pattern, err)
	}
	for _, file := range files {
		names = append(names, strings.TrimPrefix(filepath.ToSlash(file), root))
	}
	return names
}
