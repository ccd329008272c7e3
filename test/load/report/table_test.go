package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// measuredCases are cases of every kind.
func measuredCases() []Report {
	b := &Report{Case: "create"}
	b.Against("8 connections", "/s", SampleOf(3000, 2900, 3100), SampleOf(5000, 5000, 5000)).WantAtLeast(0.6)
	b.Against("p99", "ms", SampleOf(12.34), SampleOf(4)).WantAtMost(2)
	b.Figure("a detail", 1, "")
	b.Against("a detail beside its baseline", "ms", SampleOf(3), SampleOf(4))
	b.Add(Figure{Name: "for its own sake", Value: SampleOf(0.123456)}).Show()
	b.Target("peak", 149, "MiB", 150)
	b.Problem("money is missing")
	return []Report{*b, {Case: "controller", Skipped: "there was no time left"}}
}

func TestTheTableTellsWhatHolds(t *testing.T) {
	t.Parallel()
	want := []line{
		{"create: 8 connections", "3,000 /s (2,900 to 3,100)", "5,000 (5,000 to 5,000)", "0.6 (0.58 to 0.62)", ">= 0.6", "yes"},
		{"create: p99", "12.3 ms", "4", "3.08", "<= 2", "NO"},
		{"create: for its own sake", "0.123", "", "", "", ""},
		{"create: peak", "149 MiB", "", "", "<= 150", "yes"},
		{"create: WRONG: money is missing", "", "", "", "", "NO"},
		{"controller: not measured, there was no time left", "", "", "", "", "NO"},
	}
	if diff := cmp.Diff(want, Table(measuredCases())); diff != "" {
		t.Error(diff)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{
		0: "0", 0.6: "0.6", 0.12345: "0.123", 12.34: "12.3", 99.94: "99.9", 99.96: "100", 1234.4: "1,234", 1234567: "1,234,567", -1500: "-1,500",
	} {
		if got := Number(value); got != want {
			t.Errorf("number(%v) = %s, want %s", value, got, want)
		}
	}
}

func TestThePageGetsTheTableBetweenItsMarks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "page.md")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# Performance\n\n" + marksOfRun.begin + "old\n" + marksOfRun.end + "\nAfter.\n")
	all := Figures{
		Begun:    time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
		Settings: Settings{Rounds: 3, Length: Duration(5 * time.Second)},
		Cases:    measuredCases(),
	}
	for range 2 { // the second time, it replaces the first table
		if err := writeMarkdown(file, marksOfRun, all.page()); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	if !strings.HasPrefix(page, "# Performance\n\n"+marksOfRun.begin+"21 November 2026") ||
		!strings.HasSuffix(page, marksOfRun.end+"\nAfter.\n") ||
		strings.Contains(page, "old\n") {
		t.Errorf("the page is\n%s", page)
	}
	if strings.Count(
		page,
		"| create: 8 connections | 3,000 /s (2,900 to 3,100) | 5,000 (5,000 to 5,000) | 0.6 (0.58 to 0.62) | >= 0.6 | yes |\n",
	) != 1 {
		t.Errorf("the page has no such line once:\n%s", page)
	}
	for _, text := range []string{"no marks\n", marksOfRun.begin + "no end\n"} {
		write(text)
		if err := writeMarkdown(file, marksOfRun, "x"); err == nil {
			t.Errorf("a page without marks was written: %q", text)
		}
	}
}

func TestFiguresSurviveJSON(t *testing.T) {
	t.Parallel()
	want := Figures{
		Begun: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), Seconds: 12, Cases: measuredCases(),
		Settings: Settings{Rounds: 3, Length: Duration(1500 * time.Millisecond), Sandboxes: 7},
	}
	file := filepath.Join(t.TempDir(), "bench.json")
	if err := want.Write(file, ""); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got Figures
	if err := json.Unmarshal(content, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(content), `"length": "1.5s"`) {
		t.Errorf("the length of a round is not readable:\n%s", content)
	}
}
