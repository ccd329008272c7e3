package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// twoRuns are runs that measured different things.
func twoRuns() runs {
	first, second := &bench{report: report{Row: "create"}}, &bench{report: report{Row: "create"}}
	first.against("8 connections", "/s", sampleOf(3000, 2900, 3100), sampleOf(5000, 5000, 5000)).atLeast(0.6)
	first.target("peak", 149, "MiB", 150)
	first.figure("a detail", 1, "")
	second.against("8 connections", "/s", sampleOf(2000), sampleOf(4000)).atLeast(0.6)
	second.target("peak", 20, "MiB", 150)
	second.add(figure{Name: "for its own sake", Value: sampleOf(5)}).shown()
	second.problem("money is missing")
	begun := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	return runs{
		{Begun: begun, Seconds: 1320, Settings: settings{Rounds: 3, Length: duration(2 * time.Second)}, Rows: []report{first.report, {Row: "start", Figures: []figure{{Name: "api", Value: sampleOf(9), Unit: "ms", Shown: true}}}}},
		{Begun: begun.Add(time.Hour), Settings: settings{Rounds: 1, Length: duration(time.Second)}, Rows: []report{second.report}},
	}
}

func TestRunsStandBesideEachOther(t *testing.T) {
	t.Parallel()
	want := [][]string{
		{"create: 8 connections", ">= 0.6", "0.6 (0.58 to 0.62)", "0.5, NO", "1 of 2"},
		{"create: peak", "<= 150", "149 MiB", "20 MiB", "2 of 2"},
		{"create: for its own sake", "", "not measured", "5", ""},
		{"start: api", "", "9 ms", "not measured", ""},
	}
	if diff := cmp.Diff(want, twoRuns().table()); diff != "" {
		t.Error(diff)
	}
	page := twoRuns().page()
	for _, text := range []string{"1. 21 November 2026, 08:00 UTC, on ", ", 22 minutes: 3 rounds of 2s for each side.\n", "WRONG: create: money is missing", "| row | target | run 1 | run 2 | held |\n"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not have %q:\n%s", text, page)
		}
	}
}

func TestRunsAreReadFromTheirFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var files []string
	for i, one := range twoRuns() {
		files = append(files, filepath.Join(folder, string(rune('a'+i))+".json"))
		if err := one.write(files[i], ""); err != nil {
			t.Fatal(err)
		}
	}
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
