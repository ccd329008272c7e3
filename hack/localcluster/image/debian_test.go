package image

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func TestMergedPath(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"./bin/sh": "usr/bin/sh", "./lib64/ld.so": "usr/lib64/ld.so", "./usr/bin/psql": "usr/bin/psql", "./etc/passwd": "etc/passwd",
		"./binary": "binary", "../../etc/passwd": "etc/passwd", "./bin/../../etc/passwd": "etc/passwd",
	} {
		if got := mergedPath(name); got != want {
			t.Errorf("mergedPath(%q) = %q, want %q", name, got, want)
		}
	}
}

// packaged returns the paths and content of packaged files.
func packaged(t *testing.T, entries []tar.Header) packagedFiles {
	t.Helper()
	var content bytes.Buffer
	archive := tar.NewWriter(&content)
	for _, header := range entries {
		text := []byte("content of " + header.Name)
		if header.Typeflag == tar.TypeReg {
			header.Size = int64(len(text))
		}
		if err := archive.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			if _, err := archive.Write(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	files := packagedFiles{}
	if err := files.read(&content, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return files
}

func TestChosenFilesOfPackages(t *testing.T) {
	t.Parallel()
	files := packaged(t, []tar.Header{
		{Typeflag: tar.TypeReg, Name: "./bin/dash", Mode: 0o4755},
		{Typeflag: tar.TypeReg, Name: "./usr/bin/other", Mode: 0o755},
		{Typeflag: tar.TypeReg, Name: "./usr/share/zone/Kigali", Mode: 0o644},
		{Typeflag: tar.TypeReg, Name: "./usr/share/zone/right/Kigali", Mode: 0o644},
		{Typeflag: tar.TypeReg, Name: "./usr/share/doc/dash/copyright", Mode: 0o644},
		{Typeflag: tar.TypeReg, Name: "./usr/lib/data/words", Mode: 0o644},
		{Typeflag: tar.TypeSymlink, Name: "./usr/share/zone/words", Linkname: "../../lib/data/words"},
		{Typeflag: tar.TypeSymlink, Name: "./usr/share/zone/local", Linkname: "/etc/localtime"},
		{Typeflag: tar.TypeLink, Name: "./usr/share/zone/Butare", Linkname: "./usr/share/zone/Kigali"},
	})
	chosen, err := files.choose([]string{"usr/bin/dash", "usr/share/zone/**"}, []string{"usr/share/zone/right/**"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"usr/bin/dash", "usr/lib/data/words", "usr/share/zone/Butare", "usr/share/zone/Kigali", "usr/share/zone/local", "usr/share/zone/words",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(chosen))); diff != "" {
		t.Error(diff)
	}
	if mode := chosen["usr/bin/dash"].mode; mode != 0o755 {
		t.Errorf("the mode of a program is %v, which gives it rights", mode)
	}
	_, err = files.choose([]string{"usr/bin/psql"}, nil)
	testkit.WantAdvice(t, err, "no package has usr/bin/psql")
}

func TestLibrariesComeWithPrograms(t *testing.T) {
	t.Parallel()
	program, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip("there is no /bin/sh")
	}
	libraries, interpreter, err := linkedWith(program)
	if err != nil || len(libraries) == 0 || interpreter == "" {
		t.Skipf("the shell of this machine is not linked with libraries: %v", err)
	}
	files := packagedFiles{"usr/bin/sh": {mode: 0o755, source: program}}
	_, err = files.choose([]string{"usr/bin/sh"}, nil)
	testkit.WantAdvice(t, err, "usr/bin/sh needs "+libraries[0])

	text := filepath.Join(t.TempDir(), "library")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	files[mergedPath(interpreter)] = layerEntry{mode: fs.ModeSymlink, target: "/lib/machine/" + libraries[0]}
	for _, library := range libraries {
		files["usr/lib/machine/"+library] = layerEntry{mode: 0o644, source: text}
	}
	files["usr/lib/machine/unneeded.so"] = layerEntry{mode: 0o644, source: text}
	chosen, err := files.choose([]string{"usr/bin/sh"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	delete(files, "usr/lib/machine/unneeded.so")
	if diff := cmp.Diff(slices.Sorted(maps.Keys(files)), slices.Sorted(maps.Keys(chosen))); diff != "" {
		t.Error(diff)
	}
}
