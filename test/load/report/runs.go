package report

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// CompareRuns is the command that compares several runs. On a machine whose speed varies, a single run is not
// meaningful. For one run it prints the table of that run again.
func CompareRuns(_ context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("load runs", flag.ContinueOnError)
	flags.SetOutput(stderr)
	page := flags.String("markdown", "", "Markdown page to write the table into, between its marks")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return ExitMet
	} else if err != nil {
		return ExitBroken
	}
	runs, err := readRuns(flags.Args())
	if err == nil && *page != "" { // before the table is printed: a reader that stops early, such as head, ends the program
		err = runs.write(*page)
	}
	if err != nil {
		fmt.Fprintln(stderr, "load runs:", err)
		return ExitBroken
	}
	if len(runs) == 1 {
		PrintTable(stdout, Columns, Table(runs[0].Cases))
		return ExitMet
	}
	fmt.Fprintln(stdout, runs.heading())
	PrintTable(stdout, runs.columns(), runs.table())
	return ExitMet
}

// runs are the figures of several runs, in display order.
type runs []Figures

func readRuns(files []string) (runs, error) {
	if len(files) == 0 {
		return nil, errors.New("name the JSON files of the runs: load runs first.json second.json")
	}
	var all runs
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var one Figures
		if err := json.Unmarshal(content, &one); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for _, r := range one.Cases {
			for i := range r.Figures { // files of earlier runs call the baseline a floor
				r.Figures[i].Name = strings.ReplaceAll(r.Figures[i].Name, "floor", "baseline")
			}
		}
		all = append(all, one)
	}
	return all, nil
}

func (r runs) columns() []string {
	columns := []string{"case", "target"}
	for i := range r {
		columns = append(columns, fmt.Sprintf("run %d", i+1))
	}
	return append(columns, "held")
}

// table has a line for each figure of the runs' tables: the ratio to the baseline if there is one, otherwise the value.
// A figure that only a later run has is at the end of its case.
func (r runs) table() (lines []line) {
	type figuresOf struct {
		name     string
		measured []*Figure // by run
	}
	var cases []string
	found := map[string][]figuresOf{} // by case
	skipped := map[string][]bool{}    // by case and run
	for i, one := range r {
		for _, c := range one.Cases {
			if !slices.Contains(cases, c.Case) {
				cases = append(cases, c.Case)
				skipped[c.Case] = make([]bool, len(r))
			}
			skipped[c.Case][i] = c.Skipped != ""
			for _, f := range c.Figures {
				if !f.inTable() {
					continue
				}
				at := slices.IndexFunc(found[c.Case], func(known figuresOf) bool { return known.name == f.Name })
				if at < 0 {
					at = len(found[c.Case])
					found[c.Case] = append(found[c.Case], figuresOf{f.Name, make([]*Figure, len(r))})
				}
				found[c.Case][at].measured[i] = &f
			}
		}
	}
	for _, name := range cases {
		for _, f := range found[name] {
			lines = append(lines, compared(name+": "+f.name, f.measured, skipped[name]))
		}
	}
	return lines
}

// compared is the table line of a figure, with the result of each run; nil means that a run has none. A run that
// skipped the case missed its target.
func compared(name string, measured []*Figure, skipped []bool) line {
	var target string
	cells := make([]string, len(measured))
	var held, judged, missing int
	for i, f := range measured {
		if f == nil {
			cells[i] = "not measured"
			if skipped[i] {
				missing++
			}
			continue
		}
		unit := f.Unit
		if f.Ratio != nil {
			unit = ""
		}
		cells[i] = f.judged().text(unit)
		if !f.hasTarget() {
			continue
		}
		target = f.targetText()
		judged++
		if f.Holds() {
			held++
		} else {
			cells[i] += ", NO"
		}
	}
	l := append(line{name, target}, cells...)
	if judged == 0 {
		return append(l, "")
	}
	return append(l, fmt.Sprintf("%d of %d", held, judged+missing))
}

// heading describes each run, the cases that it could not measure, and the problems that audits found. Figures of such
// cases are not valid.
func (r runs) heading() string {
	var text strings.Builder
	for i, one := range r {
		fmt.Fprintf(
			&text,
			"%d. %s, on %s, %.0f minutes: %d rounds of %s for each side.\n",
			i+1,
			one.Begun.UTC().Format("2 January 2006, 15:04 UTC"),
			one.Machine,
			one.Seconds/60,
			one.Settings.Rounds,
			one.Settings.Length,
		)
		for _, c := range one.Cases {
			if c.Skipped != "" {
				fmt.Fprintf(&text, "   NOT MEASURED: %s: %s\n", c.Case, c.Skipped)
			}
			for _, problem := range c.Problems {
				fmt.Fprintf(&text, "   WRONG: %s: %s\n", c.Case, problem)
			}
		}
	}
	return text.String()
}

// write writes the table into a page, between the marks for one run or for several.
func (r runs) write(page string) error {
	if len(r) == 1 {
		return writeMarkdown(page, marksOfRun, r[0].page())
	}
	return writeMarkdown(page, marksOfRuns, r.heading()+"\n"+markdown(r.columns(), r.table()))
}
