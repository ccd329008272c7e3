package download

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func TestProgramsAreDownloadedOnce(t *testing.T) {
	t.Parallel()
	m := newMirror(t)
	set := m.set(t)
	var said bytes.Buffer
	if err := set.Ensure(t.Context(), &said); err != nil {
		t.Fatal(err)
	}
	m.wantWhole(t, set)
	if seen := m.seen(); !slices.Equal(seen, []string{programURL, archiveURL}) {
		t.Errorf("requests %q", seen)
	}
	if !strings.Contains(said.String(), "downloading tools v1 from "+m.URL) || strings.Contains(said.String(), "WARNING") {
		t.Errorf("said %q", &said)
	}
	if !set.Kept(&said) {
		t.Error("it is not kept")
	}
	if err := set.Ensure(t.Context(), io.Discard); err != nil || len(m.seen()) > 0 {
		t.Errorf("it was downloaded again: %v", err)
	}
}

func TestAWrongSumIsRefused(t *testing.T) {
	t.Parallel()
	for _, url := range []string{programURL, archiveURL} {
		m := newMirror(t)
		set := m.set(t)
		other := slices.Clone(m.files[url])
		other[len(other)/2]++
		m.files[url] = other
		err := set.Ensure(t.Context(), io.Discard)
		var wrong WrongSum
		if !errors.As(err, &wrong) || wrong.Got == wrong.Want {
			t.Fatalf("%s: %v", url, err)
		}
		testkit.WantAdvice(t, err, m.URL+"/mirror/"+url, wrong.Got, wrong.Want, MirrorVariable, SwitchVariable+"=off")
		for _, left := range []string{set.Folder, filepath.Join(set.Folder+".partial", filepath.Base(url))} {
			if _, err := os.Stat(left); !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", left, err)
			}
		}
		if requests := m.seen(); requests[len(requests)-1] != url || len(requests) > 2 {
			t.Errorf("requests %q", requests)
		}
	}
}

func TestABrokenDownloadContinues(t *testing.T) {
	t.Parallel()
	for name, reset := range map[string]bool{"short body": false, "reset": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMirror(t)
			set := m.set(t)
			broken := m.half(t, programURL, reset)
			m.first[programURL] = []http.HandlerFunc{broken, broken}
			err := set.Ensure(t.Context(), io.Discard)
			if !errors.Is(err, errBroken) {
				t.Fatalf("twice broken: %v", err)
			}
			if seen := m.seen(); len(seen) != 2 || seen[0] != programURL {
				t.Errorf("tried %q", seen)
			}
			m.first[programURL] = []http.HandlerFunc{broken}
			if err := set.Ensure(t.Context(), io.Discard); err != nil { // broken once more, then whole
				t.Fatal(err)
			}
			m.wantWhole(t, set)
			seen := m.seen()
			if last := seen[len(seen)-2]; !reset && last != programURL+" bytes=80000-" {
				t.Errorf("did not continue: %q", seen)
			}
		})
	}
}

// The beginning may be of another file, if a mirror has changed it.
func TestAContinuedFileWithAWrongSumIsDownloadedWhole(t *testing.T) {
	t.Parallel()
	m := newMirror(t)
	set := m.set(t)
	partial := set.Folder + ".partial"
	for name, content := range map[string]string{"program": "other", "tools.tar.gz": strings.Repeat("longer than the file ", 1000)} {
		if err := os.MkdirAll(partial, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(partial, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := set.Ensure(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	m.wantWhole(t, set)
	want := []string{programURL + " bytes=5-", programURL, archiveURL + " bytes=21000-", archiveURL}
	if seen := m.seen(); !slices.Equal(seen, want) {
		t.Errorf("requests %q", seen)
	}
}

func TestErrorsOfAServer(t *testing.T) {
	t.Parallel()
	m := newMirror(t)
	m.first[programURL] = []http.HandlerFunc{answer(http.StatusServiceUnavailable)} // once
	set := m.set(t)
	if err := set.Ensure(t.Context(), io.Discard); err != nil {
		t.Errorf("a server that recovers: %v", err)
	}

	delete(m.files, archiveURL)
	m.seen()
	set.Folder += "-2"
	err := set.Ensure(t.Context(), io.Discard)
	testkit.WantAdvice(t, err, "tools.tar.gz", "404 Not Found", archiveURL)
	if seen := m.seen(); !slices.Equal(seen, []string{programURL, archiveURL}) {
		t.Errorf("requests %q", seen)
	}

	m.Close()
	set.Folder += "-3"
	testkit.WantAdvice(t, set.Ensure(t.Context(), io.Discard), "program", "refused")
}

func TestAServerThatSendsNothingMore(t *testing.T) {
	t.Parallel()
	m := newMirror(t)
	hang := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "160000")
		w.Write([]byte("program "))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	m.first[programURL] = []http.HandlerFunc{hang, hang}
	set := m.set(t)
	fetcherOf := set.fetcher
	set.fetcher = func(out io.Writer) fetcher {
		f := fetcherOf(out)
		f.stall = 50 * time.Millisecond
		return f
	}
	testkit.WantAdvice(t, set.Ensure(t.Context(), io.Discard), "program", "no data for 50ms")
	set.fetcher = fetcherOf
	if err := set.Ensure(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	m.wantWhole(t, set)
}

func TestLimitsAndProgress(t *testing.T) {
	t.Parallel()
	m := newMirror(t)
	set := m.set(t)
	fetcherOf := set.fetcher
	set.fetcher = func(out io.Writer) fetcher {
		f := fetcherOf(out)
		f.most = 100_000
		return f
	}
	testkit.WantAdvice(t, set.Ensure(t.Context(), io.Discard), programURL, "larger than")
	set.fetcher = func(out io.Writer) fetcher {
		f := fetcherOf(out)
		f.silence = 0
		return f
	}
	var said bytes.Buffer
	if err := set.Ensure(t.Context(), &said); err != nil {
		t.Fatal(err)
	}
	m.wantWhole(t, set)
	for _, part := range []string{"  program                   0 of 0 MB\n", "  program                   0 MB (", "  downloaded and checked in"} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("%q is not in %q", part, &said)
		}
	}
}

func TestADamagedProgramIsDownloadedAgain(t *testing.T) {
	t.Parallel()
	m := newMirror(t)
	set := m.set(t)
	for _, damage := range []func(path string) error{
		func(path string) error { return os.WriteFile(path, []byte("on3"), 0o755) },
		func(path string) error { return os.Truncate(path, 0) },
		os.Remove,
	} {
		if err := set.Ensure(t.Context(), io.Discard); err != nil {
			t.Fatal(err)
		}
		if err := damage(filepath.Join(set.Folder, "one")); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		if set.Kept(&said) || !strings.Contains(said.String(), "one is damaged") {
			t.Fatalf("the damage is not seen: %q", &said)
		}
		if err := set.Ensure(t.Context(), io.Discard); err != nil {
			t.Fatal(err)
		}
		m.wantWhole(t, set)
	}
}
