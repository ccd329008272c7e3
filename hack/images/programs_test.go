package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// The program of this test has a record of its modules too.
func TestProgramSBOM(t *testing.T) {
	t.Parallel()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.November, 21, 10, 0, 0, 0, time.UTC)
	text, err := programSBOM("cauri-v1.2.3-darwin-arm64", "v1.2.3", program, at)
	if err != nil {
		t.Fatal(err)
	}
	var doc spdxDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Version != "SPDX-2.3" || doc.Creation.Created != "2026-11-21T10:00:00Z" || doc.Relationships[0].Related != doc.Packages[0].ID {
		t.Errorf("%+v", doc)
	}
	sums := map[string]string{} // by the package's URL
	for _, p := range doc.Packages {
		sum := ""
		if len(p.Checksums) > 0 {
			sum = p.Checksums[0].Value
		}
		sums[p.References[0].Locator] = sum
	}
	for url, digits := range sums {
		if strings.HasPrefix(url, "pkg:golang/github.com/spf13/cobra@v") && len(digits) != 64 {
			t.Errorf("%s has the sum %q", url, digits)
		}
	}
	if main := "pkg:golang/github.com/cauri-dev/cauri/hack/images@v1.2.3"; len(sums[main]) != 64 || len(sums) < 10 ||
		len(doc.Relationships) != len(doc.Packages) {
		t.Errorf("%d packages, %d relationships, %s has the sum %q", len(sums), len(doc.Relationships), main, sums[main])
	}
	if _, err := programSBOM("x", "v1.2.3", []byte("no program"), at); err == nil {
		t.Error("what is no program has an SBOM")
	}
}

func TestZipFiles(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.November, 21, 10, 0, 0, 0, time.UTC)
	pack := func() string {
		var out bytes.Buffer
		if err := zipFiles(&out, "cauri-v1.2.3-windows-amd64", []packed{{"cauri.exe", 0o755, []byte("program")}}, at); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	archive := pack()
	if archive != pack() {
		t.Error("the same files are not the same bytes")
	}
	files, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	if f := files.File[0]; f.Name != "cauri-v1.2.3-windows-amd64/cauri.exe" || f.Mode() != 0o755 || !f.Modified.Equal(at) {
		t.Errorf("%+v", f.FileHeader)
	}
}

func TestProgramsHaveALimit(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"ko-app/cauri", "Files/ko-app/cauri"} { // for Linux, for Windows
		image := testImage(t, v1.Config{}, tar.Header{Name: path, Typeflag: tar.TypeReg, Mode: 0o555, Size: 4})
		if program, err := smallProgramIn(image, 4); err != nil || len(program) != 4 {
			t.Errorf("%s: %d bytes, %v", path, len(program), err)
		}
		if _, err := smallProgramIn(image, 3); err == nil || !strings.Contains(err.Error(), "the limit is 3") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
