// Command load measures Cauri: the real programs on a Postgres of its own that keeps what it commits, each figure beside a floor that is
// measured in the same minutes, and after each row an audit of everything that was booked and delivered.
//
//	go run ./test/load -run 'create|hot'
//	go run ./test/load -json figures.json -markdown page.md
//	go run ./test/load runs -markdown docs/performance.md first.json second.json third.json
//	go run ./test/load profile -out bin/profiles
//	go run ./test/load soak -length 20m
//
// The exit code is 0 if all targets were met, 1 if one was not, a row could not be measured or an audit found something, and 2 if a row could not run. With -smoke a
// target that was missed, or a row for which no time is left, is told and no failure.
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
	"syscall"
	"time"
)

// Exit codes.
const (
	exitMet    = 0
	exitMissed = 1
	exitBroken = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	command, args := measure, os.Args[1:]
	if len(args) > 0 {
		switch args[0] {
		case "profile":
			command, args = profile, args[1:]
		case "runs":
			command, args = compareRuns, args[1:]
		case "soak":
			command, args = soak, args[1:]
		}
	}
	code := command(ctx, args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is one run of the program.
type run struct {
	settings settings
	program  string // to measure; empty: the work tree's
	programs programs
	progress io.Writer
	// until is when no further row is begun; zero: never.
	until time.Time
}

// smokeSettings are those of a short run, which is to see that everything works and conserves.
var smokeSettings = settings{Rounds: 1, Length: duration(time.Second), Transactions: 100_000, Small: true}

// smokeWithin is how long after its begin a short run begins no further row.
const smokeWithin = 100 * time.Second

// measure is the command that measures the rows.
func measure(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("run", "", "regular expression of the names of rows; empty: all")
	list := flags.Bool("list", false, "list the rows")
	smoke := flags.Bool("smoke", false, "two minutes at most, one short round: only what is broken fails, never what is slow")
	rounds := flags.Int("rounds", 3, "rounds of each comparison")
	length := flags.Duration("length", 5*time.Second, "of a round of one side")
	sandboxes := flags.Int("sandboxes", 10_000, "sandboxes of the row controller")
	file := flags.String("json", "", "file to write the figures to")
	program := programFlag(flags)
	transactions := flags.Int("transactions", 1_000_000, "transactions of the row growth, at most: it begins with 10,000")
	page := flags.String("markdown", "", "page to put the table into, between its marks")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitMet
	} else if err != nil {
		return exitBroken
	}
	r := &run{settings: settings{Rounds: *rounds, Length: duration(*length), Sandboxes: *sandboxes, Transactions: *transactions}, program: *program, progress: stdout}
	if *smoke {
		r.settings, r.until = smokeSettings, time.Now().Add(smokeWithin)
	}
	selected, err := selectRows(*pattern, *smoke)
	if err == nil {
		err = r.settings.check()
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitBroken
	}
	if *list {
		for _, r := range selected {
			fmt.Fprintf(stdout, "%-12s %s\n", r.name, r.tells)
		}
		return exitMet
	}
	all, err := r.all(ctx, selected)
	err = errors.Join(err, all.write(*file, *page)) // before the table is printed: nobody may read it to its end
	fmt.Fprintln(stdout)
	printTable(stdout, columns, table(all.Rows))
	return exitCode(all.Rows, *smoke, err, stderr)
}

// programFlag declares the flag for another program than that of the work tree: an older one, to compare them.
func programFlag(flags *flag.FlagSet) *string {
	return flags.String("cauri", "", "program to measure; empty: the one of the work tree, built now")
}

func (s settings) check() error {
	if s.Rounds < 1 || s.Length < duration(100*time.Millisecond) || s.Sandboxes < 0 || s.Transactions < 100 {
		return fmt.Errorf("-rounds=%d -length=%s -sandboxes=%d -transactions=%d: write 1 round or more, of 100ms or more, sandboxes from 0, and transactions from 100", s.Rounds, s.Length, s.Sandboxes, s.Transactions)
	}
	return nil
}

// all measures rows one after the other. After an error it returns what it has.
func (r *run) all(ctx context.Context, selected []row) (all figures, err error) {
	begun := time.Now()
	all = figures{Begun: begun, Settings: r.settings, Machine: machineNow()}
	defer func() { all.Seconds, all.Charts = time.Since(begun).Seconds(), chartsOf(all.Rows) }()
	folder, err := os.MkdirTemp("", "cauri-load-")
	if err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if r.programs, err = buildPrograms(ctx, folder, r.program); err != nil {
		return all, err
	}
	for _, row := range selected {
		if !r.until.IsZero() && time.Now().After(r.until) {
			all.Rows = append(all.Rows, report{Row: row.name, Tells: row.tells, Skipped: "there was no time left"})
			continue
		}
		fmt.Fprintf(r.progress, "%s: %s\n", row.name, row.tells)
		result, err := row.measure(ctx, r)
		if errors.Is(err, errCannotMeasure) {
			result.Skipped, err = err.Error(), nil
			fmt.Fprintln(r.progress, "  "+result.Skipped)
		}
		if err != nil {
			return all, fmt.Errorf("%s: %w", row.name, err)
		}
		result.printDetails(r.progress)
		all.Rows = append(all.Rows, result)
	}
	return all, nil
}

// write writes the figures as JSON and into a page; an empty name is of a file that is not asked for.
func (f figures) write(file, page string) error {
	var errs []error
	if file != "" {
		content, err := json.MarshalIndent(f, "", "  ")
		errs = append(errs, err)
		if err == nil {
			errs = append(errs, os.WriteFile(file, append(content, '\n'), 0o644))
		}
	}
	if page != "" {
		errs = append(errs, writeMarkdown(page, marksOfRun, f.page()))
	}
	return errors.Join(errs...)
}

// exitCode says how a run ended. Of a short run only what is broken counts.
func exitCode(rows []report, smoke bool, err error, stderr io.Writer) int {
	if err != nil {
		fmt.Fprintln(stderr, "load:", err)
		return exitBroken
	}
	for _, r := range rows {
		if len(r.Problems) > 0 || !smoke && !r.holds() {
			return exitMissed
		}
	}
	return exitMet
}
