package download

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	programURL = "files.example.com/v1/program"
	archiveURL = "files.example.com/v1/tools.tar.gz"
)

// mirror serves files. An answer can be put in front of each file's own.
type mirror struct {
	*httptest.Server
	files map[string][]byte

	mu       sync.Mutex
	first    map[string][]http.HandlerFunc // by URL, for the first requests
	requests []string                      // URL and range
}

func newMirror(t *testing.T) *mirror {
	t.Helper()
	m := &mirror{first: map[string][]http.HandlerFunc{}, files: map[string][]byte{
		programURL: bytes.Repeat([]byte("program "), 20_000),
		archiveURL: archive(t, map[string]string{"tools-v1/one": "one", "tools-v1/two": "two", "tools-v1/README.md": "no program"}),
	}}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	url := strings.TrimPrefix(r.URL.Path, "/mirror/")
	m.mu.Lock()
	m.requests = append(m.requests, strings.TrimSpace(url+" "+r.Header.Get("Range")))
	var answer http.HandlerFunc
	if answers := m.first[url]; len(answers) > 0 {
		answer, m.first[url] = answers[0], answers[1:]
	}
	m.mu.Unlock()
	content, known := m.files[url]
	switch {
	case answer != nil:
		answer(w, r)
	case known:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	default:
		http.NotFound(w, r)
	}
}

// half sends half of a file and ends the connection with or without a reset.
func (m *mirror) half(t *testing.T, url string, reset bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		content := m.files[url]
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		fmt.Fprintf(connection, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(content))
		connection.Write(content[:len(content)/2])
		if reset {
			connection.(*net.TCPConn).SetLinger(0)
		}
	}
}

func answer(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// seen returns the requests since the last call.
func (m *mirror) seen() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := m.requests
	m.requests = nil
	return seen
}

// set is a set of both files, with their sums.
func (m *mirror) set(t *testing.T) Set {
	t.Helper()
	cache := t.TempDir()
	long := sha512.Sum512(m.files[archiveURL])
	settings := Settings{mirror: m.URL + "/mirror"}
	return Set{
		Name: "tools-v1", What: "tools v1", Folder: filepath.Join(cache, "tools-v1-0123"), settings: settings,
		files: []File{
			{URL: programURL, Sum: sha256Of(m.files[programURL])},
			{URL: archiveURL, Sum: hex.EncodeToString(long[:]), Programs: []string{"one", "two"}},
		},
		fetcher: func(out io.Writer) fetcher {
			f := newFetcher(settings, out)
			f.stall = time.Minute
			return f
		},
	}
}

func sha256Of(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	entries := tar.NewWriter(zipped)
	for name, content := range files {
		if err := entries.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := entries.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	for _, writer := range []io.Closer{entries, zipped} {
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return packed.Bytes()
}

// wantWhole fails unless all programs are there and can be executed, and nothing else.
func (m *mirror) wantWhole(t *testing.T, set Set) {
	t.Helper()
	for name, want := range map[string]string{"program": string(m.files[programURL]), "one": "one", "two": "two"} {
		path := filepath.Join(set.Folder, name)
		content, err := os.ReadFile(path)
		if err != nil || string(content) != want {
			t.Fatalf("%s: %d bytes, %v", name, len(content), err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s cannot be executed: %v, %v", name, info.Mode(), err)
		}
	}
	entries, err := os.ReadDir(set.Folder)
	if err != nil || len(entries) != 4 { // with the sums
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := os.Stat(set.Folder + ".partial"); !os.IsNotExist(err) {
		t.Errorf("the unfinished folder is still there: %v", err)
	}
}
