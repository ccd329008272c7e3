package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

// readArchive returns the content of every file of a tarball and one line for each entry.
func readArchive(t *testing.T, content []byte) (files map[string][]byte, entries []string) {
	t.Helper()
	files = map[string][]byte{}
	archive := tar.NewReader(bytes.NewReader(content))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, entries
		}
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(epoch) || header.Uid != 0 || header.Gid != 0 || header.Uname != "" {
			t.Errorf("%s depends on the machine: %v, %d:%d %q", header.Name, header.ModTime, header.Uid, header.Gid, header.Uname)
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, strings.TrimSpace(header.FileInfo().Mode().String()+" "+header.Name+" "+header.Linkname))
	}
}

// sourceTree creates a folder with a program, a text and a link. Times and permissions are arguments, because they
// differ between machines.
func sourceTree(t *testing.T, mode os.FileMode, modified time.Time) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "share"), 0o700|mode&0o070); err != nil {
		t.Fatal(err)
	}
	for name, executable := range map[string]os.FileMode{"program": 0o100, "share/text": 0} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chmod(path, mode|executable), os.Chtimes(path, modified, modified)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("program", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	return folder
}

func buildTestImage(t *testing.T, folder string) []byte {
	t.Helper()
	made := image{
		name: "cauri.local/test:1", architecture: "amd64", entrypoint: []string{"/opt/program", "--first"}, command: []string{"second"},
		env: []string{"A=b c"}, user: "65532:65532", workdir: "/", stopSignal: "SIGINT",
	}
	output := filepath.Join(t.TempDir(), "images", "test.tar")
	if err := made.build(output, nil, []string{folder + ":/opt"}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestAnImageDependsOnContentAlone(t *testing.T) {
	t.Parallel()
	first := buildTestImage(t, sourceTree(t, 0o600, time.Now()))
	second := buildTestImage(t, sourceTree(t, 0o664, time.Now().Add(-time.Hour)))
	if !bytes.Equal(first, second) {
		t.Error("other times and permissions make another image")
	}
	changed := sourceTree(t, 0o600, time.Now())
	if err := os.WriteFile(filepath.Join(changed, "program"), []byte("another one"), 0o700); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first, buildTestImage(t, changed)) {
		t.Error("another program makes the same image")
	}
}

func TestImageArchive(t *testing.T) {
	t.Parallel()
	files, _ := readArchive(t, buildTestImage(t, sourceTree(t, 0o600, time.Now())))
	var contents []archiveEntry
	if err := json.Unmarshal(files["manifest.json"], &contents); err != nil || len(contents) != 1 || len(contents[0].Layers) != 1 {
		t.Fatalf("table of contents: %s, %v", files["manifest.json"], err)
	}
	if diff := cmp.Diff([]string{"cauri.local/test:1"}, contents[0].RepoTags); diff != "" {
		t.Error(diff)
	}
	var config imageConfig
	if err := json.Unmarshal(files[contents[0].Config], &config); err != nil {
		t.Fatal(err)
	}
	content := files[contents[0].Layers[0]]
	digest := sha256.Sum256(content)
	want := imageConfig{
		Architecture: "amd64", OS: "linux", Created: epoch,
		Config: imageExecution{
			User: "65532:65532", Env: []string{imagePath, "A=b c"}, Entrypoint: []string{"/opt/program", "--first"}, Cmd: []string{"second"},
			WorkingDir: "/", StopSignal: "SIGINT",
		},
		RootFS: imageRootFS{Type: "layers", DiffIDs: []string{"sha256:" + hex.EncodeToString(digest[:])}},
	}
	if diff := cmp.Diff(want, config); diff != "" {
		t.Error(diff)
	}
	_, entries := readArchive(t, content)
	wantEntries := []string{
		"drwxr-xr-x opt/", "Lrwxrwxrwx opt/link program", "-rwxr-xr-x opt/program", "drwxr-xr-x opt/share/", "-rw-r--r-- opt/share/text",
	}
	if diff := cmp.Diff(wantEntries, entries); diff != "" {
		t.Error(diff)
	}
}

func TestImageTakesTarballsAsLayersBelowItsFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	lower := filepath.Join(folder, "lower.tar")
	if err := (layer{"etc/passwd": {mode: 0o644, content: []byte("root")}}).writeFile(lower); err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(folder, "out.tar")
	if err := (image{name: "cauri.local/test:1"}).build(output, []string{lower}, []string{lower + ":/data/lower.tar"}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := readArchive(t, content)
	var contents []archiveEntry
	if err := json.Unmarshal(files["manifest.json"], &contents); err != nil || len(contents[0].Layers) != 2 {
		t.Fatalf("table of contents: %s, %v", files["manifest.json"], err)
	}
	if first, _ := readArchive(t, files[contents[0].Layers[0]]); string(first["etc/passwd"]) != "root" {
		t.Errorf("the lowest layer holds %v", first)
	}
}

func TestImageArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		says []string
	}{
		"no name":      {[]string{"-o", "x.tar", "a:/a"}, []string{"--name=", "whole name", "cauri.local/merchant:e2e"}},
		"no host":      {[]string{"--name", "merchant:1", "-o", "x.tar", "a:/a"}, []string{"whole name"}},
		"no tag":       {[]string{"--name", "cauri.local/merchant", "-o", "x.tar", "a:/a"}, []string{"whole name"}},
		"port, no tag": {[]string{"--name", "cauri.local:5000/merchant", "-o", "x.tar", "a:/a"}, []string{"whole name"}},
		"no output":    {[]string{"--name", "cauri.local/merchant:1", "a:/a"}, []string{"--output"}},
		"variable": {
			[]string{"--name", "cauri.local/merchant:1", "-o", "x.tar", "--env", "A", "a:/a"},
			[]string{"--env=A", "NAME=value"},
		},
		"no place":         {[]string{"--name", "cauri.local/merchant:1", "-o", "x.tar", "bin/a"}, []string{`"bin/a"`, "FILE:/PATH"}},
		"place not from /": {[]string{"--name", "cauri.local/merchant:1", "-o", "x.tar", "bin/a:a"}, []string{"FILE:/PATH"}},
		"nothing in it":    {[]string{"--name", "cauri.local/merchant:1", "-o", "x.tar"}, []string{"nothing", "--tar"}},
		"missing file":     {[]string{"--name", "cauri.local/merchant:1", "-o", "x.tar", "/no/such/file:/a"}, []string{"/no/such/file"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := NewCommand()
			cmd.SetArgs(c.args)
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			testkit.WantAdvice(t, cmd.Execute(), c.says...)
		})
	}
}
