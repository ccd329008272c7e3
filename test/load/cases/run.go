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
	Program  string // to measure; empty: the work tree's
	programs bench.Programs
	Progress io.Writer
	// Until is when no further row is begun; zero: never.
	Until time.Time
}

// SmokeSettings are those of a short run, which is to see that everything works and conserves.
var SmokeSettings = report.Settings{Rounds: 1, Length: report.Duration(time.Second), Transactions: 100_000, Small: true}

// SmokeWithin is how long after its begin a short run begins no further row.
const SmokeWithin = 100 * time.Second

// All measures rows one after the other. After an error it returns what it has.
func (r *Run) All(ctx context.Context, selected []row) (all report.Figures, err error) {
	begun := time.Now()
	all = report.Figures{Begun: begun, Settings: r.Settings, Machine: report.MachineNow()}
	defer func() { all.Seconds, all.Charts = time.Since(begun).Seconds(), report.ChartsOf(all.Rows) }()
	folder, err := os.MkdirTemp("", "cauri-load-")
	if err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if r.programs, err = bench.BuildPrograms(ctx, folder, r.Program); err != nil {
		return all, err
	}
	for _, row := range selected {
		if !r.Until.IsZero() && time.Now().After(r.Until) {
			all.Rows = append(all.Rows, report.Report{Row: row.Name, Tells: row.Tells, Skipped: "there was no time left"})
			continue
		}
		fmt.Fprintf(r.Progress, "%s: %s\n", row.Name, row.Tells)
		result, err := row.measure(ctx, r)
		if errors.Is(err, report.ErrCannotMeasure) {
			result.Skipped, err = err.Error(), nil
			fmt.Fprintln(r.Progress, "  "+result.Skipped)
		}
		if err != nil {
			return all, fmt.Errorf("%s: %w", row.Name, err)
		}
		result.PrintDetails(r.Progress)
		all.Rows = append(all.Rows, result)
	}
	return all, nil
}
