package report

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// twoRuns are runs that measured different cases.
func twoRuns() runs {
	first, second := &Report{Case: "create"}, &Report{Case: "create"}
	first.Against("8 connections", "/s", SampleOf(3000, 2900, 3100), SampleOf(5000, 5000, 5000)).WantAtLeast(0.6)
	first.Target("peak", 149, "MiB", 150)
	first.Figure("a detail", 1, "")
	second.Against("8 connections", "/s", SampleOf(2000), SampleOf(4000)).WantAtLeast(0.6)
	second.Target("peak", 20, "MiB", 150)
	second.Add(Figure{Name: "for its own sake", Value: SampleOf(5)}).Show()
	second.Problem("money is missing")
	begun := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	return runs{
		{
			Begun:    begun,
			Seconds:  1320,
			Settings: Settings{Rounds: 3, Length: Duration(2 * time.Second)},
			Cases:    []Report{*first, {Case: "start", Figures: []Figure{{Name: "api", Value: SampleOf(9), Unit: "ms", Shown: true}}}},
		},
		{Begun: begun.Add(time.Hour), Settings: Settings{Rounds: 1, Length: Duration(time.Second)}, Cases: []Report{*second}},
	}
}

func TestRunsStandBesideEachOther(t *testing.T) {
	t.Parallel()
	want := []line{
		{"create: 8 connections", ">= 0.6", "0.6 (0.58 to 0.62)", "0.5, NO", "1 of 2"},
		{"create: peak", "<= 150", "149 MiB", "20 MiB", "2 of 2"},
		{"create: for its own sake", "", "not measured", "5", ""},
		{"start: api", "", "9 ms", "not measured", ""},
	}
	if diff := cmp.Diff(want, twoRuns().table()); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"1. 21 November 2026, 08:00 UTC, on ", ", 22 minutes: 3 rounds of 2s for each side.\n", "WRONG: create: money is missing"} {
		if heading := twoRuns().heading(); !strings.Contains(heading, text) {
			t.Errorf("the heading does not have %q:\n%s", text, heading)
		}
	}
}

// A requested case that could not be measured counts as missed.
func TestASkippedRowIsNotHeld(t *testing.T) {
	t.Parallel()
	measured := twoRuns()
	measured[1].Cases = []Report{{Case: "create", Skipped: "there is no PgBouncer"}}
	if got, want := measured.table()[0], (line{"create: 8 connections", ">= 0.6", "0.6 (0.58 to 0.62)", "not measured", "1 of 2"}); !cmp.Equal(
		got,
		want,
	) {
		t.Errorf("got %q, want %q", got, want)
	}
	if heading := measured.heading(); !strings.Contains(heading, "   NOT MEASURED: create: there is no PgBouncer\n") {
		t.Errorf("the heading does not say so:\n%s", heading)
	}
}

// The tables of one run and of several runs are on pages of their own, which are written before anything is printed.
func TestRunsAreWrittenToTheirPage(t *testing.T) {
	t.Parallel()
	folder, files := writtenRuns(t)
	for name, c := range map[string]struct {
		files []string
		marks marks
		want  string
	}{
		"one":     {files[:1], marksOfRun, "| create: 8 connections | 3,000 /s (2,900 to 3,100) | 5,000 (5,000 to 5,000) | 0.6 (0.58 to 0.62) | >= 0.6 | yes |\n"},
		"several": {files, marksOfRuns, "| create: 8 connections | >= 0.6 | 0.6 (0.58 to 0.62) | 0.5, NO | 1 of 2 |\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := filepath.Join(folder, name+".md")
			if err := os.WriteFile(page, []byte(c.marks.begin+c.marks.end), 0o644); err != nil {
				t.Fatal(err)
			}
			var stderr strings.Builder
			stdout := writerFunc(func([]byte) (int, error) {
				if content, err := os.ReadFile(page); err != nil || !strings.Contains(string(content), c.want) {
					t.Errorf("the page does not have %q when the table is printed, but (error %v)\n%s", c.want, err, content)
				}
				return 0, io.ErrClosedPipe
			})
			if code := CompareRuns(
				t.Context(),
				append([]string{"-markdown", page}, c.files...),
				stdout,
				&stderr,
			); code != ExitMet ||
				stderr.Len() > 0 {
				t.Errorf("exit code %d: %s", code, stderr.String())
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// writtenRuns writes the runs to files.
func writtenRuns(t *testing.T) (folder string, files []string) {
	t.Helper()
	folder = t.TempDir()
	for i, one := range twoRuns() {
		files = append(files, filepath.Join(folder, string(rune('a'+i))+".json"))
		if err := one.Write(files[i], ""); err != nil {
			t.Fatal(err)
		}
	}
	return folder, files
}

func TestRunsAreReadFromTheirFiles(t *testing.T) {
	t.Parallel()
	folder, files := writtenRuns(t)
	got, err := readRuns(files)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(twoRuns(), got); diff != "" {
		t.Error(diff)
	}
	broken := filepath.Join(folder, "broken.json")
	if err := os.WriteFile(broken, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for what, files := range map[string][]string{"no run": nil, "a file that is not there": {files[0], filepath.Join(folder, "none.json")}, "no JSON": {files[0], broken}} {
		if _, err := readRuns(files); err == nil {
			t.Errorf("%s was read", what)
		}
	}
}
