package source

import (
	"os"
	"path/filepath"
	"testing"
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
