package scripts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// hostile are names that Git takes for a tag, and a shell or make would run.
var hostile = []string{
	"v1.2.3';touch${IFS}ran;'", "v1.2.3\";touch${IFS}ran;\"", "v1.2.3$(touch${IFS}ran)", "v1.2.3`touch${IFS}ran`", "v1.2.3;touch${IFS}ran",
	"v1.2.3$(shell${IFS}touch${IFS}ran)", "v1.2.3${shell,touch,ran}", "v1.2.3|touch${IFS}ran",
}

// Whoever names a tag does not write shell: what the release job hands over arrives as it is.
func TestReleaseRunsNoTag(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	job := releaseJob(t)
	for _, tag := range hostile {
		c := &checkout{t: t, folder: t.TempDir()}
		c.write("Makefile", string(makefile))
		for _, name := range []string{"image", "ko", "helm", "localcluster"} {
			c.write("bin/"+name, fmt.Sprintf(program, c.folder))
		}
		c.write("path/make", "#!/bin/bash\nexec "+found(t, "make")+" --silent -o bin/image -o bin/ko -o bin/helm -o bin/localcluster \"$@\"\n")
		run := func(script string) error {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			command := exec.CommandContext(ctx, "bash", "-e", "-c", script)
			command.Dir = c.folder
			command.Env = append(os.Environ(), "PATH="+c.folder+"/path:"+os.Getenv("PATH"), "TAG="+tag, "IMAGE_REPOSITORY="+tag)
			out, err := command.CombinedOutput()
			if err != nil && !strings.Contains(string(out), "such as v1.2.3") {
				t.Errorf("%s: %v\n%s", tag, err, out)
			}
			return err
		}
		if run(job["Make the files of the release"]) != nil {
			continue
		}
		calls, _ := os.ReadFile(filepath.Join(c.folder, "calls"))
		if want := "image release --version=" + tag + " --image-repository=" + tag + " "; !strings.Contains(string(calls), want) {
			t.Errorf("the release is made by\n%s, want %s", calls, want)
		}
		if run(job["Refuse a tag that is no version"]) == nil {
			t.Errorf("the release job goes on with the tag %s", tag)
		}
		if _, err := os.Stat(filepath.Join(c.folder, "ran")); err == nil {
			t.Errorf("the tag %s was run", tag)
		}
	}
	for _, tag := range []string{"v0.1.0", "v1.2.3-rc.1"} {
		command := exec.CommandContext(t.Context(), "bash", "-e", "-c", job["Refuse a tag that is no version"])
		command.Env = []string{"TAG=" + tag}
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", tag, err, out)
		}
	}
}

// A recipe has no variable of a user in its text, where the shell would run what its value has of its own syntax.
func TestRecipesReadVariablesFromTheEnvironment(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`(?:^|[^$])\$[({](?:if |or )?[({$]*([A-Z_]+)`)
	for line := range strings.Lines(string(makefile)) {
		for _, use := range variable.FindAllStringSubmatch(line, -1) {
			if name := use[1]; strings.HasPrefix(line, "\t") && name != "MAKE" && name != "MAKEFILE_LIST" && name != "CURDIR" {
				t.Errorf("write \"$$%s\" for a variable of the environment: %s", name, strings.TrimSpace(line))
			}
		}
	}
}

// releaseJob are the scripts of the release job, by the names of their steps.
func releaseJob(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../.github/workflows/release.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	for _, step := range workflow.Jobs["release"].Steps {
		scripts[step.Name] = step.Run
	}
	return scripts
}

func found(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
