package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func TestVersionOfAComponent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, file := filepath.Join(dir, "program"), filepath.Join(dir, "file")
	write := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	base := Component{Name: "x", Program: program, Args: []string{"--a=1"}, Env: []string{"B=1"}, Files: []string{file}, Address: "here"}
	cases := map[string]struct {
		change func(c *Component)
		same   bool
	}{
		"nothing":                    {func(*Component) {}, true},
		"what is only told":          {func(c *Component) { c.Address, c.Hint = "there", "?" }, true},
		"program written once more":  {func(*Component) { write(program, "1") }, true},
		"program built again":        {func(*Component) { write(program, "2") }, false},
		"argument":                   {func(c *Component) { c.Args = []string{"--a=2"} }, false},
		"environment":                {func(c *Component) { c.Env = []string{"B=2"} }, false},
		"content of a file it reads": {func(*Component) { write(file, "2") }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { // sequential, because the cases share the files
			write(program, "1")
			write(file, "1")
			before, err := base.version()
			if err != nil {
				t.Fatal(err)
			}
			changed := base
			c.change(&changed)
			after, err := changed.version()
			if err != nil {
				t.Fatal(err)
			}
			if (before == after) != c.same {
				t.Errorf("same version: %t, want %t", before == after, c.same)
			}
		})
	}
}

func TestChildEnvironment(t *testing.T) {
	t.Setenv("KUBECONFIG", "/somewhere/else")
	t.Setenv("PGPASSWORD", "secret")
	t.Setenv("CAURI_DATABASE_URL", "postgres://elsewhere")
	t.Setenv("DATABASE_URL", "postgres://elsewhere")
	t.Setenv("OTEL_SERVICE_NAME", "kept")
	got := map[string]string{}
	for _, entry := range ChildEnvironment([]string{"DATABASE_URL=postgres://here"}) {
		name, value, _ := strings.Cut(entry, "=")
		got[name] = value
	}
	for _, name := range []string{"KUBECONFIG", "PGPASSWORD", "CAURI_DATABASE_URL"} {
		if value, ok := got[name]; ok {
			t.Errorf("%s=%s is passed on", name, value)
		}
	}
	if got["DATABASE_URL"] != "postgres://here" || got["OTEL_SERVICE_NAME"] != "kept" {
		t.Errorf("environment of a child: %v", got)
	}
}

func TestFailureShowsTheEndOfTheLog(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "worker.log")
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	text.WriteString(strings.Repeat("x", 1000) + "\n")
	if err := os.WriteFile(log, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := host.LastLines(log, 3)
	if diff := cmp.Diff([]string{"line 38", "line 39", strings.Repeat("x", 300) + "..."}, lines); diff != "" {
		t.Error(diff)
	}
	testkit.WantAdvice(
		t,
		Failure{Name: "worker", Log: log, Err: fmt.Errorf("ended"), Hint: "fix it"},
		"worker: ended",
		log,
		"line 26",
		"what to do: fix it",
	)
	testkit.WantAdvice(t, Failure{Name: "worker", Log: log + "x", Err: fmt.Errorf("ended")}, "(empty)")
}
