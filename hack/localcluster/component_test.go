package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	base := component{name: "x", program: program, args: []string{"--a=1"}, env: []string{"B=1"}, files: []string{file}, address: "here"}
	cases := map[string]struct {
		change func(c *component)
		same   bool
	}{
		"nothing":                    {func(*component) {}, true},
		"what is only told":          {func(c *component) { c.address, c.hint = "there", "?" }, true},
		"program written once more":  {func(*component) { write(program, "1") }, true},
		"program built anew":         {func(*component) { write(program, "2") }, false},
		"argument":                   {func(c *component) { c.args = []string{"--a=2"} }, false},
		"environment":                {func(c *component) { c.env = []string{"B=2"} }, false},
		"content of a file it reads": {func(*component) { write(file, "2") }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { // one after the other: they share the files
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
	t.Setenv(databaseVariable, "postgres://elsewhere")
	t.Setenv("DATABASE_URL", "postgres://elsewhere")
	t.Setenv("OTEL_SERVICE_NAME", "kept")
	got := map[string]string{}
	for _, entry := range childEnvironment([]string{"DATABASE_URL=postgres://here"}) {
		name, value, _ := strings.Cut(entry, "=")
		got[name] = value
	}
	for _, name := range []string{"KUBECONFIG", "PGPASSWORD", databaseVariable} {
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
	lines := lastLines(log, 3)
	if diff := cmp.Diff([]string{"line 38", "line 39", strings.Repeat("x", 300) + "..."}, lines); diff != "" {
		t.Error(diff)
	}
	wantAdvice(t, failure{name: "worker", log: log, err: fmt.Errorf("ended"), hint: "mend it"}, "worker: ended", log, "line 26", "what to do: mend it")
	wantAdvice(t, failure{name: "worker", log: log + "x", err: fmt.Errorf("ended")}, "(empty)")
}
