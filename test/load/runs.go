package main

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

// compareRuns is the command that puts several runs beside each other: what one run says of a machine whose speed changes is little. Of a single
// run it makes the table again that the run printed.
func compareRuns(_ context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("load runs", flag.ContinueOnError)
	flags.SetOutput(stderr)
	page := flags.String("markdown", "", "page to put the table into, between its marks")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitMet
	} else if err != nil {
		return exitBroken
	}
	runs, err := readRuns(flags.Args())
	switch {
	case err != nil:
	case len(runs) == 1:
		printTable(stdout, columns, table(runs[0].Rows))
		err = runs[0].write("", *page)
	default:
		printTable(stdout, runs.columns(), runs.table())
		if *page != "" {
			err = writeMarkdown(*page, marksOfRuns, runs.page())
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "load runs:", err)
		return exitBroken
	}
	return exitMet
}

// runs are the figures of several runs of the program, in the order in which they are shown.
type runs []figures

func readRuns(files []string) (runs, error) {
	if len(files) == 0 {
		return nil, errors.New("write the files of the runs, as -json wrote them: load runs first.json second.json")
	}
	var all runs
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var one figures
		if err := json.Unmarshal(content, &one); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func (r runs) columns() []string {
	columns := []string{"row", "target"}
	for i := range r {
		columns = append(columns, fmt.Sprintf("run %d", i+1))
	}
	return append(columns, "held")
}

// table has a line for each figure that the tables of the runs have, in the order in which they come: the ratio to the floor where
// there is one, and the value elsewhere.
func (r runs) table() (lines [][]string) {
	type place struct{ row, figure string }
	var order []place
	found := map[place][]*figure{} // by run
	for i, one := range r {
		for _, row := range one.Rows {
			at := len(order) // a figure that only a later run has stands at the end of its row
			if last := lastIndex(order, func(p place) bool { return p.row == row.Row }); last >= 0 {
				at = last + 1
			}
			for _, f := range row.Figures {
				if !f.inTable() {
					continue
				}
				p := place{row.Row, f.Name}
				if found[p] == nil {
					order = slices.Insert(order, at, p)
					at++
					found[p] = make([]*figure, len(r))
				}
				found[p][i] = &f
			}
		}
	}
	for _, p := range order {
		lines = append(lines, compared(p.row+": "+p.figure, found[p]))
	}
	return lines
}

func lastIndex[T any](all []T, is func(T) bool) int {
	for i, each := range slices.Backward(all) {
		if is(each) {
			return i
		}
	}
	return -1
}

// compared is the line of a figure, as each run measured it; nil is of a run that did not.
func compared(name string, measured []*figure) []string {
	var target string
	cells := make([]string, len(measured))
	var held, judged int
	for i, f := range measured {
		if f == nil {
			cells[i] = "not measured"
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
		if f.holds() {
			held++
		} else {
			cells[i] += ", NO"
		}
	}
	line := append([]string{name, target}, cells...)
	if judged == 0 {
		return append(line, "")
	}
	return append(line, fmt.Sprintf("%d of %d", held, judged))
}

// page is the table with how each run came about. What audits found is told, too: its figures are worth nothing.
func (r runs) page() string {
	var text strings.Builder
	for i, one := range r {
		fmt.Fprintf(&text, "%d. %s, on %s, %.0f minutes: %d rounds of %s for each side.\n", i+1, one.Begun.UTC().Format("2 January 2006, 15:04 UTC"), one.Machine,
			one.Seconds/60, one.Settings.Rounds, one.Settings.Length)
		for _, row := range one.Rows {
			for _, problem := range row.Problems {
				fmt.Fprintf(&text, "   WRONG: %s: %s\n", row.Row, problem)
			}
		}
	}
	return text.String() + "\n" + markdown(r.columns(), r.table())
}
