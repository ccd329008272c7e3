package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

func TestKrewManifest(t *testing.T) {
	t.Parallel()
	r := release{source: source{}, dist: t.TempDir()}
	r.Version = "v1.2.3"
	archives := []string{"linux-amd64.tar.gz", "linux-arm64.tar.gz", "darwin-amd64.tar.gz", "darwin-arm64.tar.gz", "windows-amd64.zip",
		"windows-arm64.zip"}
	for _, archive := range archives {
		_, err := writeFile(r.file("cauri-v1.2.3-%s", archive), func(out io.Writer) error { _, err := io.WriteString(out, archive); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.makePlugin(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(r.file("%s", krewFile))
	if err != nil {
		t.Fatal(err)
	}
	manifest := string(text)
	for _, archive := range archives {
		sum, err := checksum(r.file("cauri-v1.2.3-%s", archive))
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(archive, ".")
		system, processor, _ := strings.Cut(name, "-")
		program := "cauri"
		if system == "windows" {
			program = "cauri.exe"
		}
		want := "        os: " + system + "\n        arch: " + processor + "\n" +
			"    uri: https://github.com/cauri-dev/cauri/releases/download/v1.2.3/cauri-v1.2.3-" + archive + "\n" +
			"    sha256: " + sum + "\n    files:\n    - {from: cauri-v1.2.3-" + name + "/" + program + ", to: .}\n"
		if !strings.Contains(manifest, want) {
			t.Errorf("the manifest has no\n%s\nin\n%s", want, manifest)
		}
	}
	if n := strings.Count(manifest, "    bin: "); n != len(archives) {
		t.Errorf("there are %d programs, want %d", n, len(archives))
	}
	if err := os.Remove(r.file("cauri-v1.2.3-%s", archives[0])); err != nil {
		t.Fatal(err)
	}
	if err := r.makePlugin(); err == nil {
		t.Error("an archive may be missing")
	}
}
