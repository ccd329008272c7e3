// Package runner stands in for GitHub's runner: it runs the scripts of the repository's own actions as a job does.
package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Job is a job whose steps share files and variables.
type Job struct {
	// Env are the variables of the job, NAME=value.
	Env []string
	// Masked are the values that a step has asked to hide in logs.
	Masked []string

	folder string
}

// New returns a job with its files in a folder, which must exist. It sees only the variables of env and those that a runner sets.
func New(folder string, env ...string) (*Job, error) {
	j := &Job{folder: folder, Env: append([]string{
		"RUNNER_TEMP=" + filepath.Join(folder, "temp"), "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "GITHUB_RUN_ID=42", "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_STEP_SUMMARY=" + filepath.Join(folder, "summary"),
	}, env...)}
	return j, os.MkdirAll(filepath.Join(folder, "temp"), 0o755)
}

// Temp is the path of a file in RUNNER_TEMP.
func (j *Job) Temp(name string) string { return filepath.Join(j.folder, "temp", name) }

// Summary is what the steps have written for the page of the run, so far.
func (j *Job) Summary() string {
	text, _ := os.ReadFile(filepath.Join(j.folder, "summary")) // there is none before a step writes it
	return string(text)
}

// action has the fields of action.yml that are read.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			Run, Shell string
			Env        map[string]string
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{\s*([\w.-]+)\s*\}\}`)

// Use runs the steps of the action in a folder that run a script. It returns the outputs of the step, and what it printed. Variables that
// it leaves are added to the job. An error says how the script ended; an input that the action does not have is one too.
func (j *Job) Use(ctx context.Context, folder string, inputs map[string]string) (outputs map[string]string, printed string, err error) {
	a, err := readAction(folder)
	if err != nil {
		return nil, "", err
	}
	values := map[string]string{"github.action_ref": "main"}
	for name, input := range a.Inputs {
		values["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		if _, known := values["inputs."+name]; !known {
			return nil, "", fmt.Errorf("the action has no input %s", name)
		}
		values["inputs."+name] = value
	}
	for _, step := range a.Runs.Steps {
		if step.Run == "" {
			continue
		}
		env := []string{"GITHUB_ACTION_PATH=" + folder}
		for name, value := range step.Env {
			env = append(env, name+"="+expression.ReplaceAllStringFunc(value, func(e string) string {
				return values[expression.FindStringSubmatch(e)[1]]
			}))
		}
		out, err := j.run(ctx, step.Run, env)
		printed += out
		if err != nil {
			return nil, printed, err
		}
	}
	outputs, err = j.collect()
	return outputs, printed, err
}

// readAction reads all files of an action, because only what a test reads itself makes Go forget its last result when it changes.
func readAction(folder string) (a action, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil && name == "action.yml" {
			err = yaml.Unmarshal(text, &a)
		}
		return err
	})
	return a, err
}

// unescape decodes the value of a command as GitHub's runner does.
var unescape = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%")

// NeedJQ skips a test on a machine without jq, which GitHub's runners have. `make test` installs it as root.
func NeedJQ(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil && os.Geteuid() != 0 {
		t.Skip("jq is not installed: run `bin/localcluster jq` as root, or `apt-get install jq`")
	}
}

// run runs a script in the folder of the job.
func (j *Job) run(ctx context.Context, script string, env []string) (string, error) {
	command := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
	command.Dir = j.folder
	files := []string{"GITHUB_OUTPUT=" + j.file("output"), "GITHUB_ENV=" + j.file("env"), "GITHUB_PATH=" + j.file("paths")}
	command.Env = slices.Concat(j.Env, files, env)
	printed := j.file("printed")
	out, err := os.Create(printed) // a file, because a process that goes on would keep a pipe open
	if err != nil {
		return "", err
	}
	command.Stdout, command.Stderr = out, out
	err = errors.Join(command.Run(), out.Close())
	text, readErr := os.ReadFile(printed)
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "::add-mask::"); found {
			j.Masked = append(j.Masked, unescape.Replace(strings.TrimSpace(value)))
		}
	}
	return string(text), errors.Join(err, readErr)
}

func (j *Job) file(name string) string { return filepath.Join(j.folder, name) }

// collect reads and removes what a step has left. A folder of GITHUB_PATH becomes the first of PATH.
func (j *Job) collect() (outputs map[string]string, err error) {
	outputs = map[string]string{}
	for _, name := range []string{"output", "env", "paths"} {
		text, err := os.ReadFile(j.file(name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			key, value, found := strings.Cut(line, "=")
			switch {
			case name == "paths":
				j.Env = append(j.Env, "PATH="+line+":"+j.variable("PATH"))
			case !found:
				return nil, fmt.Errorf("a step wrote the line %q: want NAME=value", line)
			case name == "output":
				outputs[key] = value
			default:
				j.Env = append(j.Env, line)
			}
		}
		if err := os.Remove(j.file(name)); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// variable is the value of a variable of the job.
func (j *Job) variable(name string) (value string) {
	for _, line := range j.Env {
		if found, is := strings.CutPrefix(line, name+"="); is {
			value = found
		}
	}
	return value
}
