package report

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Columns are the table's columns.
var Columns = []string{"case", "figure", "baseline", "ratio", "target", "holds"}

// line is a table line with one cell for each column.
type line = []string

// Table has the figures with a target and those that are always shown.
func Table(cases []Report) (lines []line) {
	for _, r := range cases {
		if r.Skipped != "" {
			lines = append(lines, line{r.Case + ": not measured, " + r.Skipped, "", "", "", "", "NO"})
			continue
		}
		for _, f := range r.Figures {
			if f.inTable() {
				lines = append(lines, r.line(f))
			}
		}
		for _, problem := range r.Problems {
			lines = append(lines, line{r.Case + ": WRONG: " + problem, "", "", "", "", "NO"})
		}
	}
	return lines
}

func (r Report) line(f Figure) line {
	l := line{r.Case + ": " + f.Name, f.Value.text(f.Unit), "", "", f.targetText(), ""}
	if f.Baseline != nil {
		l[2], l[3] = f.Baseline.text(""), f.Ratio.text("")
	}
	switch {
	case !f.hasTarget():
	case f.Holds():
		l[5] = "yes"
	default:
		l[5] = "NO"
	}
	return l
}

func (f Figure) targetText() string {
	var parts []string
	if f.AtLeast != nil {
		parts = append(parts, ">= "+Number(*f.AtLeast))
	}
	if f.AtMost != nil {
		parts = append(parts, "<= "+Number(*f.AtMost))
	}
	return strings.Join(parts, ", ")
}

// text is the median, with the spread if there is one.
func (s Sample) text(unit string) string {
	text := Number(s.Median)
	if unit != "" {
		text += " " + unit
	}
	if len(s.Rounds) > 1 {
		text += fmt.Sprintf(" (%s to %s)", Number(s.Low), Number(s.High))
	}
	return text
}

// Number formats a value with three significant digits, or all digits before the point.
func Number(value float64) string {
	if size := math.Abs(value); size < 99.95 {
		return strconv.FormatFloat(value, 'g', 3, 64)
	}
	text := strconv.FormatFloat(math.Abs(math.Round(value)), 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if value < 0 {
		text = "-" + text
	}
	return text
}

// PrintTable prints a table for a terminal.
func PrintTable(w io.Writer, columns []string, lines []line) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for _, l := range lines {
		fmt.Fprintln(t, strings.TrimRight(strings.Join(l, "\t"), "\t"))
	}
	_ = t.Flush()
}

// PrintDetails prints all figures of a case.
func (r Report) PrintDetails(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.Figures {
		l := r.line(f)
		verdict := l[4]
		if l[5] == "NO" {
			verdict = "MISSED " + verdict
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", f.Name, l[1], l[2], l[3], verdict)
	}
	fmt.Fprintf(t, "  machine\t%s\tbefore; %s after\n", r.Before, r.After)
	_ = t.Flush()
	for _, problem := range r.Problems {
		fmt.Fprintln(w, "  WRONG:", problem)
	}
}

// markdown formats a table for a page.
func markdown(columns []string, lines []line) string {
	var page strings.Builder
	fmt.Fprintf(&page, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	for _, l := range lines {
		cells := slices.Clone(l)
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
		}
		fmt.Fprintf(&page, "| %s |\n", strings.Join(cells, " | "))
	}
	return page.String()
}

// marks are the lines of a page around the generated table.
type marks struct{ begin, end string }

var (
	marksOfRun  = marks{"<!-- bench: begin -->\n", "<!-- bench: end -->\n"}
	marksOfRuns = marks{"<!-- runs: begin -->\n", "<!-- runs: end -->\n"}
)

// writeMarkdown writes a text between two marks of an existing page.
func writeMarkdown(file string, m marks, text string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(content), m.begin)
	_, after, ends := strings.Cut(rest, m.end)
	if !begins || !ends {
		return fmt.Errorf(
			"%s has no place for the table: add the lines %q and %q there",
			file,
			strings.TrimSpace(m.begin),
			strings.TrimSpace(m.end),
		)
	}
	return os.WriteFile(file, []byte(before+m.begin+text+m.end+after), 0o644)
}

// page is the table with a description of the run.
func (f Figures) page() string {
	return fmt.Sprintf(
		"%s on %s: %d rounds of %s for each side; median (lowest to highest).\n\n%s",
		f.Begun.UTC().Format("2 January 2006"),
		f.Machine,
		f.Settings.Rounds,
		f.Settings.Length,
		markdown(Columns, Table(f.Cases)),
	)
}
