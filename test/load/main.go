// Command load measures Cauri under load: the real programs on a Postgres of its own that keeps what it commits, load at a
// fixed rate wherever times are told (a client that waits for its answers would hide the stalls), and after each scenario an
// audit of everything that was booked and delivered.
//
//	go run ./test/load -run settle10k
//	go run ./test/load -json figures.json
//
// The exit code is 0 if all targets were met, 1 if one was not or the audit found something, and 2 if a scenario could not run.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"text/tabwriter"
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// Exit codes.
const (
	exitMet    = 0
	exitMissed = 1
	exitBroken = 2
)

// scenarioLimit bounds a scenario in all: that of the controller takes half an hour at its full size.
const scenarioLimit = 45 * time.Minute

// scenario is one measurement.
type scenario struct {
	name  string
	tells string
	run   func(context.Context, *bench) error
}

var scenarios = []scenario{
	{"settle10k", "10,000 payments of one merchant are due at one moment; two workers settle them", settle10k},
	{"deliver500", "500 events a second fall due for a minute; two workers deliver them", deliver500},
	{"pay500", "500 payments a second for a minute through the api; two workers deliver their events", pay500},
	{"fair", "a sandbox beside one with 100,000 events to send, one that hangs and 50 dead ones", fair},
	{"controller", "many sandboxes, each with two test clients: made, found by a restart, left alone (-sandboxes says how many)", controller},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := measure(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func measure(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.SetOutput(stderr)
	run := flags.String("run", "", "regular expression of the names of scenarios; empty: all")
	file := flags.String("json", "", "file to write the figures to")
	list := flags.Bool("list", false, "list the scenarios")
	sandboxes := flags.Int("sandboxes", 10_000, "sandboxes of the scenario controller")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitMet
	} else if err != nil {
		return exitBroken
	}
	selected, err := selectScenarios(*run)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitBroken
	}
	if *list {
		for _, s := range selected {
			fmt.Fprintf(stdout, "%-12s %s\n", s.name, s.tells)
		}
		return exitMet
	}
	reports, err := runAll(ctx, selected, *sandboxes, stdout)
	if *file != "" {
		err = errors.Join(err, writeJSON(*file, reports))
	}
	return exitCode(reports, err, stderr)
}

func selectScenarios(pattern string) ([]scenario, error) {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	var selected []scenario
	for _, s := range scenarios {
		if expression.MatchString(s.name) {
			selected = append(selected, s)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("-run=%s: no scenario has such a name; -list shows them", pattern)
	}
	return selected, nil
}

// runAll runs scenarios one after the other, each on a Postgres of its own, so that none finds what another one left.
func runAll(ctx context.Context, selected []scenario, sandboxes int, stdout io.Writer) (reports []report, err error) {
	folder, err := os.MkdirTemp("", "cauri-load-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	binary, err := system.Build(ctx, folder)
	if err != nil {
		return nil, err
	}
	for _, s := range selected {
		fmt.Fprintf(stdout, "%s: %s\n", s.name, s.tells)
		r, err := runOne(ctx, s, sandboxes, binary)
		if err != nil {
			return reports, fmt.Errorf("%s: %w", s.name, err)
		}
		r.print(stdout)
		reports = append(reports, r)
	}
	return reports, nil
}

func runOne(ctx context.Context, s scenario, sandboxes int, binary string) (r report, err error) {
	ctx, cancel := context.WithTimeout(ctx, scenarioLimit)
	defer cancel()
	postgres, err := system.StartPostgres(ctx)
	if err != nil {
		return report{}, err
	}
	defer func() { err = errors.Join(err, postgres.Close()) }()
	installed, err := system.Open(ctx, postgres, binary)
	if err != nil {
		return report{}, err
	}
	defer func() { err = errors.Join(err, installed.Close()) }()
	b := &bench{System: installed, sandboxes: sandboxes, report: report{Scenario: s.name, Tells: s.tells, Begun: time.Now(), Before: machineNow()}}
	if err := s.run(ctx, b); err != nil {
		return report{}, fmt.Errorf("%w\n%s", err, installed.Logs(10))
	}
	problems, err := installed.Audit(ctx)
	if err != nil {
		return report{}, err
	}
	b.report.Problems = append(b.report.Problems, problems...)
	b.report.After = machineNow()
	return b.report, nil
}

func writeJSON(file string, reports []report) error {
	content, err := json.MarshalIndent(reports, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(content, '\n'), 0o644)
}

func exitCode(reports []report, err error, stderr io.Writer) int {
	if err != nil {
		fmt.Fprintln(stderr, "load:", err)
		return exitBroken
	}
	for _, r := range reports {
		if !r.met() {
			return exitMissed
		}
	}
	return exitMet
}

// print shows the figures as a table.
func (r report) print(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.Figures {
		verdict := ""
		switch {
		case f.AtMost == nil:
		case f.met():
			verdict = fmt.Sprintf("target: at most %v", *f.AtMost)
		default:
			verdict = fmt.Sprintf("MISSED the target: at most %v", *f.AtMost)
		}
		fmt.Fprintf(table, "  %s\t%.4g %s\t%s\n", f.Name, f.Value, f.Unit, verdict)
	}
	fmt.Fprintf(table, "  machine\t%s\tbefore; %s after\n", r.Before, r.After)
	_ = table.Flush()
	for _, problem := range r.Problems {
		fmt.Fprintln(w, "  WRONG:", problem)
	}
}
