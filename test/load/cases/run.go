package cases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
)

// Run is one run of the program.
type Run struct {
	Settings report.Settings
	Program  string // program to measure; empty: build the work tree
	programs bench.Programs
	Progress io.Writer
	// Until is the time after which no case starts; zero: never.
	Until time.Time
}

// SmokeSettings are the settings of a smoke run, which only checks that everything works and conserves money.
var SmokeSettings = report.Settings{Rounds: 1, Length: report.Duration(time.Second), Transactions: 100_000, Small: true}

// SmokeWithin is the time after which a smoke run starts no more cases.
const SmokeWithin = 100 * time.Second

// All runs the cases one after the other. After an error it returns the results so far.
func (r *Run) All(ctx context.Context, selected []Case) (all report.Figures, err error) {
	begun := time.Now()
	all = report.Figures{Begun: begun, Settings: r.Settings, Machine: report.MachineNow()}
	defer func() { all.Seconds, all.Charts = time.Since(begun).Seconds(), report.ChartsOf(all.Cases) }()
	folder, err := os.MkdirTemp("", "cauri-load-")
	if err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if r.programs, err = bench.BuildPrograms(ctx, folder, r.Program); err != nil {
		return all, err
	}
	for _, c := range selected {
		if !r.Until.IsZero() && time.Now().After(r.Until) {
			all.Cases = append(all.Cases, report.Report{Case: c.Name, Tells: c.Tells, Skipped: "there was no time left"})
			continue
		}
		fmt.Fprintf(r.Progress, "%s: %s\n", c.Name, c.Tells)
		result, err := c.measure(ctx, r)
		if errors.Is(err, report.ErrCannotMeasure) {
			result.Skipped, err = err.Error(), nil
			fmt.Fprintln(r.Progress, "  "+result.Skipped)
		}
		if err != nil {
			return all, fmt.Errorf("%s: %w", c.Name, err)
		}
		result.PrintDetails(r.Progress)
		all.Cases = append(all.Cases, result)
	}
	return all, nil
}
