// Command load measures Cauri. It runs the real programs on its own Postgres with durable commits. It measures a
// baseline in the same minutes. After each case, an audit checks everything that was booked and delivered.
//
//	go run ./test/load -run 'create|hot'
//	go run ./test/load -json figures.json -markdown page.md
//	go run ./test/load runs -markdown docs/performance.md first.json second.json third.json
//	go run ./test/load profile -out bin/profiles
//	go run ./test/load soak -length 20m
//
// The exit code is 0 if all targets were met. It is 1 if a target was missed, a case could not be measured or an audit
// found a problem, and 2 if a case could not run. With -smoke, missed targets and skipped cases are reported but are no
// failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/test/load/cases"
	"github.com/cauri-dev/cauri/test/load/profile"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/load/soak"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	command, args := measure, os.Args[1:]
	if len(args) > 0 {
		switch args[0] {
		case "profile":
			command, args = profile.Run, args[1:]
		case "runs":
			command, args = report.CompareRuns, args[1:]
		case "soak":
			command, args = soak.Run, args[1:]
		}
	}
	code := command(ctx, args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// measure is the command that runs the cases.
func measure(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("run", "", "regular expression for case names; empty: all")
	list := flags.Bool("list", false, "list the cases")
	smoke := flags.Bool("smoke", false, "two minutes at most, one short round: fails only on errors, not on slow results")
	rounds := flags.Int("rounds", 3, "number of rounds of each comparison")
	length := flags.Duration("length", 5*time.Second, "duration of a round of one side")
	sandboxes := flags.Int("sandboxes", 10_000, "number of sandboxes in the case controller")
	file := flags.String("json", "", "file for the figures as JSON")
	program := report.ProgramFlag(flags)
	transactions := flags.Int("transactions", 1_000_000, "maximum number of transactions in the case growth, which starts with 10,000, and their number in the case console")
	page := flags.String("markdown", "", "Markdown page to write the table into, between its marks")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return report.ExitMet
	} else if err != nil {
		return report.ExitBroken
	}
	r := &cases.Run{
		Settings: report.Settings{Rounds: *rounds, Length: report.Duration(*length), Sandboxes: *sandboxes, Transactions: *transactions},
		Program:  *program,
		Progress: stdout,
	}
	if *smoke {
		r.Settings, r.Until = cases.SmokeSettings, time.Now().Add(cases.SmokeWithin)
	}
	selected, err := cases.Select(*pattern, *smoke)
	if err == nil {
		err = r.Settings.Check()
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return report.ExitBroken
	}
	if *list {
		for _, r := range selected {
			fmt.Fprintf(stdout, "%-12s %s\n", r.Name, r.Tells)
		}
		return report.ExitMet
	}
	all, err := r.All(ctx, selected)
	err = errors.Join(err, all.Write(*file, *page)) // before the table is printed: the reader may stop early
	fmt.Fprintln(stdout)
	report.PrintTable(stdout, report.Columns, report.Table(all.Cases))
	return report.ExitCode(all.Cases, *smoke, err, stderr)
}
