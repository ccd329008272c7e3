package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
)

func TestChooseVersion(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		asked   string
		tags    []string
		version string
		trial   bool
		problem string
	}{
		"the tag":                     {"", []string{"v0.1.0"}, "v0.1.0", false, ""},
		"the highest of two":          {"", []string{"v0.10.0", "v0.9.0", "vanilla"}, "v0.10.0", false, ""},
		"one of two":                  {"v0.9.0", []string{"v0.10.0", "v0.9.0"}, "v0.9.0", false, ""},
		"a pre-release with a tag":    {"v0.1.0-rc.1", []string{"v0.1.0-rc.1"}, "v0.1.0-rc.1", false, ""},
		"a trial":                     {"v0.1.0-test", nil, "v0.1.0-test", true, ""},
		"a trial beside a tag":        {"v0.2.0-test", []string{"v0.1.0"}, "v0.2.0-test", true, ""},
		"no tag":                      {"", []string{"vanilla"}, "", false, "HEAD has no tag with a version"},
		"a version without its tag":   {"v0.1.0", []string{"v0.2.0"}, "", false, "HEAD does not have the tag v0.1.0"},
		"no v":                        {"0.1.0", nil, "", false, "write v1.2.3"},
		"what no tag of an image has": {"v0.1.0-a+b", nil, "", false, "write v1.2.3"},
		"too short":                   {"v0.1", []string{"v0.1"}, "", false, "write v1.2.3"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			version, trial, err := chooseVersion(c.asked, c.tags)
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Fatalf("%q, %v; want the error %q", version, err, c.problem)
				}
				return
			}
			if err != nil || version != c.version || trial != c.trial {
				t.Errorf("%q, %v, %v; want %q, %v", version, trial, err, c.version, c.trial)
			}
		})
	}
}

// TestPrepare runs in its own checkout, because it tags and commits.
func TestPrepare(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git", args...)
		command.Env = append(
			os.Environ(),
			"GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=a",
			"GIT_AUTHOR_EMAIL=a@example.org",
			"GIT_COMMITTER_NAME=a",
			"GIT_COMMITTER_EMAIL=a@example.org",
			"GIT_COMMITTER_DATE=2026-11-21T10:00:00Z",
		)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	write := func(path, text string) {
		t.Helper()
		if _, err := writeFile(path, func(out io.Writer) error { _, err := io.WriteString(out, text); return err }); err != nil {
			t.Fatal(err)
		}
	}
	refuses := func(version, want string) {
		t.Helper()
		var r release
		if err := r.prepare(t.Context(), version, imageRepository); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("VERSION=%s: %v, want %q", version, err, want)
		}
	}

	run("init", "--quiet")
	refuses("v0.10.0-test", "checkout with a commit")
	write(changelogPath, strings.Replace(goodChangelog, "## 0.10.0 - 2026-11-21\n", "", 1))
	run("add", ".")
	run("commit", "--quiet", "-m", "one")
	run("tag", "v0.10.0")
	refuses("", "docs/changelog.md says nothing of 0.10.0")

	write(changelogPath, goodChangelog)
	refuses("", "there are changes that are not committed")
	var trial release
	if err := trial.prepare(t.Context(), "v0.10.0-test", imageRepository); err != nil || !trial.trial || !trial.Modified {
		t.Errorf("a trial with changed files: %+v, %v", trial, err)
	}
	if !strings.HasSuffix(trial.Revision(), "-modified") {
		t.Errorf("the revision %q does not say that files are changed", trial.Revision())
	}

	run("commit", "--quiet", "-am", "two")
	run("tag", "--force", "v0.10.0")
	var r release
	if err := r.prepare(t.Context(), "", imageRepository); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.November, 21, 10, 0, 0, 0, time.UTC)
	if r.Version != "v0.10.0" || r.trial || r.Modified || len(r.Revision()) != 40 || !r.Time.Equal(at) ||
		!strings.HasPrefix(r.notes, "### Added") {
		t.Errorf("%+v", r)
	}
	write("new.go", "package new\n")
	refuses("", "there are changes that are not committed")
}

func TestWithRepository(t *testing.T) {
	t.Parallel()
	values, err := os.ReadFile("../../charts/cauri/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	repository, err := name.NewRepository("images.example/team/cauri")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := withRepository(string(values), repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n  registry: images.example\n", "\n  repository: team/cauri\n"} {
		if !strings.Contains(changed, want) {
			t.Errorf("no line %q", want)
		}
	}
	if _, err := withRepository("image: {}\n", repository); err == nil {
		t.Error("values without the lines are taken")
	}
}

func TestArchivesAreTheSameBytes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.November, 21, 10, 0, 0, 0, time.UTC)
	// A chart as helm packages it, with the current time, which differs from run to run.
	chart := func(packaged time.Time) string {
		var helm, ours bytes.Buffer
		files := []packed{
			{"cauri/Chart.yaml", 0o644, []byte("name: cauri\n")},
			{"cauri/templates/a.yaml", 0o600, []byte("a: 1\n")},
			{"cauri/values.yaml", 0o644, nil},
		}
		if err := packFiles(&helm, "", files, packaged); err != nil {
			t.Fatal(err)
		}
		if err := repackChart(&ours, &helm, at); err != nil {
			t.Fatal(err)
		}
		return ours.String()
	}
	one := chart(at.Add(time.Hour))
	if one != chart(at.Add(2*time.Hour)) {
		t.Error("the same chart, packaged twice, is not the same")
	}
	compressed, err := gzip.NewReader(strings.NewReader(one))
	if err != nil {
		t.Fatal(err)
	}
	h, err := tar.NewReader(compressed).Next()
	if err != nil || h.Name != "cauri/Chart.yaml" || !h.ModTime.Equal(at) || h.Mode != 0o644 {
		t.Errorf("first comes %+v, %v", h, err)
	}
}

func TestFoldersAreUnpackedAsTheyWerePacked(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	if _, err := writeFile(
		filepath.Join(from, "blobs", "sha256", "a"),
		func(out io.Writer) error { _, err := io.WriteString(out, "blob"); return err },
	); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := packFolder(&archive, from, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := unpackFolder(to, &archive); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "blobs", "sha256", "a")); err != nil || string(got) != "blob" {
		t.Errorf("%q, %v", got, err)
	}
	var evil bytes.Buffer
	w := tar.NewWriter(&evil)
	if err := w.WriteHeader(&tar.Header{Name: "../x", Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if err := unpackFolder(to, &evil); err == nil {
		t.Error("a path out of the folder is taken")
	}
}
