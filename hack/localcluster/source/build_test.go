package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestKubernetesVersion(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ goMod, want string }{
		"one line":     {"module x\n\nrequire k8s.io/kubernetes v1.36.3\n", "v1.36.3"},
		"block":        {"require (\n\tk8s.io/kubectl v0.0.0\n\tk8s.io/kubernetes v1.37.0-rc.1 // indirect\n)\n", "v1.37.0-rc.1"},
		"not required": {"replace k8s.io/kubernetes => ../x\n", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "go.mod")
			if err := os.WriteFile(file, []byte(c.goMod), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := RequiredVersion(file, "k8s.io/kubernetes")
			if got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("requiredVersion = %q, %v", got, err)
			}
		})
	}
}

func TestEveryStateOfTheSourceHasItsOwnBuild(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(source, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		write(name, "1")
	}
	seen := map[string]string{}
	for _, change := range []struct{ name, file, content string }{
		{"at first", "main.go", "1"},
		{"other source", "main.go", "2"},
		{"other modules", "go.mod", "2"},
		{"other sums", "go.sum", "2"},
		{"another file", "extra.go", "2"},
	} {
		write(change.file, change.content)
		hash, err := hashSource(source)
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[hash]; ok {
			t.Errorf("%s: the same build as %s", change.name, before)
		}
		seen[hash] = change.name
	}
	before, _ := hashSource(source)
	write("README.md", "no part of the program")
	if after, _ := hashSource(source); after != before {
		t.Error("a file that is not built changes the build")
	}
}

// The packages that are counted before are those that are compiled, so that the progress ends at its total.
func TestProgressReachesItsEnd(t *testing.T) {
	t.Parallel()
	unique := fmt.Sprint(time.Now().UnixNano()) // so that no cache has the packages
	source := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module progress.test\n\ngo 1.26\n", "main.go": "package main\n\nimport _ \"progress.test/a\"\n\nfunc main() {}\n",
		"a/a.go": "package a\n\nimport _ \"progress.test/b\"\n\nconst A = " + unique + "\n", "b/b.go": "package b\n\nconst B = " + unique + "\n",
	} {
		path := filepath.Join(source, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	build := Build{Name: "progress", source: source, Folder: filepath.Join(t.TempDir(), "built"), Meanwhile: "Meanwhile, wait."}
	var said bytes.Buffer
	if err := build.build(t.Context(), &said); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "\n  Meanwhile, wait.\n") {
		t.Errorf("said %q", &said)
	}
	all, err := build.packages(t.Context(), io.Discard)
	if err != nil || all > 1 { // the program itself: Go does not keep what it links
		t.Errorf("%d packages would be compiled again: %v", all, err)
	}
	if err := os.WriteFile(filepath.Join(source, "b", "b.go"), []byte("package b\n\nconst B = \"other"+unique+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	said.Reset()
	build.Folder += "-again"
	if err := build.build(t.Context(), &said); err != nil || !strings.Contains(said.String(), "\n  built 3 packages in ") {
		t.Errorf("said %q, %v", &said, err)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"compiled none of 2578 packages yet":             progress(0, 2578, 10*time.Second),
		"compiled 645 of 2578 packages, about 3m0s left": progress(645, 2578, time.Minute),
		"compiled all 2578 packages, linking them":       progress(2578, 2578, 4*time.Minute),
		"compiled all 1 packages, linking them":          progress(2, 1, time.Minute), // another build shares the cache
	} {
		if got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}
