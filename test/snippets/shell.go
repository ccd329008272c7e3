package snippets

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Patience only ends what hangs: a snippet may compile a program on a busy machine.
const Patience = 5 * time.Minute

// Shell is a reader of a document: a folder, and a shell that keeps its variables from one snippet to the next.
type Shell struct {
	*testing.T
	Folder    string            // where the commands run
	State     string            // the folder of the shell, which is in PATH
	Variables []string          // beside those of the test
	Replace   *strings.Replacer // what a test has in another place than the reader, such as ports
}

// NewShell returns a shell in an empty folder. curl fails in it if the answer is an error.
func NewShell(t *testing.T, replace *strings.Replacer, variables ...string) *Shell {
	t.Helper()
	s := &Shell{T: t, Folder: t.TempDir(), State: t.TempDir(), Replace: replace}
	for name, text := range map[string]string{".curlrc": "fail-with-body\n", "variables": "", "printed": ""} {
		s.Write(s.State, name, text)
	}
	s.Variables = append(variables, "SESSION="+s.State, "CURL_HOME="+s.State, "PATH="+s.State+":"+os.Getenv("PATH"))
	return s
}

// Link puts links to files or folders of the work tree into a folder.
func (s *Shell) Link(folder string, targets ...string) {
	s.Helper()
	for _, target := range targets {
		path, err := filepath.Abs(target)
		if err == nil {
			err = os.Symlink(path, filepath.Join(folder, filepath.Base(target)))
		}
		if err != nil {
			s.Fatal(err)
		}
	}
}

// Write writes a file.
func (s *Shell) Write(folder, name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

// before is what runs before each snippet: the variables of the snippets before it, and `last TX`, the last id of a kind that was printed.
const before = `set -eo pipefail
last() { grep -hoE "$1_[0-9A-Z]{26}" "$SESSION/printed" "$SESSION/now" | tail -n 1; }
. "$SESSION/variables"
set -a
`

// keepVariables runs after each snippet. It replaces the file at once, since a snippet that has printed enough is ended at any moment.
const keepVariables = `
export -p >"$SESSION/variables.new"
mv "$SESSION/variables.new" "$SESSION/variables"
`

// Prepare does what the marks of a snippet say that the reader has: a file of its text, and what a command makes.
func (s *Shell) Prepare(one Snippet) {
	s.Helper()
	if given := one.Marks["given"]; given != "" {
		s.script(one, given, "")
	}
	if name := one.Marks["file"]; name != "" {
		s.Write(s.Folder, name, s.Replace.Replace(one.Body))
	}
}

// Run runs a snippet of commands, until its output matches if a mark asks for it. It returns what was printed, and fails the test if a
// command fails.
func (s *Shell) Run(one Snippet) string {
	s.Helper()
	return s.script(one, one.Body, one.Marks["prints"])
}

func (s *Shell) script(one Snippet, script, prints string) string {
	s.Helper()
	want := regexp.MustCompile(prints)
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		printed, err := s.once(script, want, prints != "")
		if err == nil && want.MatchString(printed) {
			return printed
		}
		if prints == "" || time.Since(begun) > Patience {
			s.Fatalf("%s: %v\n%s\nprinted\n%s", one, err, script, printed)
		}
	}
}

// once runs a script until it ends, or until its output matches, for those that print without an end.
func (s *Shell) once(script string, want *regexp.Regexp, stop bool) (string, error) {
	path := filepath.Join(s.State, "now")
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = out.Close() }()
	deadline, cancel := context.WithTimeout(s.Context(), Patience)
	defer cancel()
	c := s.Bash(deadline, script+keepVariables, out)
	if err := c.Start(); err != nil {
		return "", err
	}
	s.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }) // what it has started in the background
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	printed := func() string {
		text, _ := os.ReadFile(path) // it was just made
		return string(text)
	}
	for {
		select {
		case err := <-ended:
			s.Append("printed", printed())
			return printed(), err
		case <-time.After(50 * time.Millisecond):
			if stop && want.MatchString(printed()) {
				cancel()
				<-ended
				return printed(), nil
			}
		}
	}
}

// Bash returns a command that runs a script, with the variables of the snippets before it, in a process group, which ends with ctx.
func (s *Shell) Bash(ctx context.Context, script string, out *os.File) *exec.Cmd {
	c := exec.CommandContext(ctx, "bash", "-c", before+s.Replace.Replace(script))
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.Dir, c.Env, c.Stdout, c.Stderr = s.Folder, append(os.Environ(), s.Variables...), out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// Append adds to a file of the shell.
func (s *Shell) Append(name, text string) {
	s.Helper()
	file, err := os.OpenFile(filepath.Join(s.State, name), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(text)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		s.Fatal(err)
	}
}
