// Package soak keeps an installation under load for a long time and shows what grows.
package soak

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/cases"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/profile"
	"github.com/cauri-dev/cauri/test/load/report"
)

// Run is the command that runs an installation for a long time at half of its highest rate and looks for growth.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("load soak", flag.ContinueOnError)
	flags.SetOutput(stderr)
	length := flags.Duration("length", 20*time.Minute, "duration of the load")
	file := flags.String("json", "", "file for the figures as JSON")
	program := report.ProgramFlag(flags)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return report.ExitMet
	} else if err != nil {
		return report.ExitBroken
	}
	result, err := runSoak(ctx, *program, *length, stdout)
	if *file != "" && err == nil {
		var content []byte
		if content, err = json.MarshalIndent(result, "", "  "); err == nil {
			err = os.WriteFile(*file, append(content, '\n'), 0o644)
		}
	}
	return report.ExitCode([]report.Report{result.Report}, false, err, stderr)
}

// soaked is the result of a soak.
type soaked struct {
	report.Report
	Begun   time.Time `json:"begun"`
	Limit   float64   `json:"limit"` // highest rate of created and delivered transactions, per second
	Rate    float64   `json:"rate"`  // rate of the soak, half of the limit
	Minutes []minute  `json:"minutes"`
}

// limitLength is the duration of the search for the limit.
const limitLength = 15 * time.Second

func runSoak(ctx context.Context, program string, length time.Duration, stdout io.Writer) (result soaked, err error) {
	if length < 10*time.Second {
		return result, fmt.Errorf("-length=%s: must be 10s or more", length)
	}
	folder, err := os.MkdirTemp("", "cauri-load-")
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	built, err := bench.BuildPrograms(ctx, folder, program)
	if err != nil {
		return result, err
	}
	b, end, err := bench.Open(ctx, built, report.Settings{Rounds: 1}, stdout)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, end()) }()
	b.Report = report.Report{Case: "soak", Tells: "half of the highest rate, for " + length.String(), Before: report.MachineNow()}
	result = soaked{Begun: time.Now()}
	if err := soak(ctx, b, length, stdout, &result); err != nil {
		return result, fmt.Errorf("%w\n%s", err, b.Logs(10))
	}
	if err := b.Audit(ctx); err != nil {
		return result, err
	}
	b.Report.After, b.Report.Seconds = report.MachineNow(), time.Since(result.Begun).Seconds()
	result.Report = b.Report
	result.PrintDetails(stdout)
	return result, nil
}

func soak(ctx context.Context, b *bench.Bench, length time.Duration, stdout io.Writer, result *soaked) error {
	s := &bench.Receiver{} // too many events to distinguish them
	if err := s.Open(); err != nil {
		return err
	}
	defer s.Close()
	apis, err := b.Apis(ctx, 1)
	if err != nil {
		return err
	}
	workers, err := b.Workers(ctx, 1)
	if err != nil {
		return err
	}
	l := &bench.Assembly{Bench: b, Apis: apis, Workers: workers}
	subjects, err := profile.Mixed(ctx, l, s.URL)
	if err != nil {
		return err
	}
	if result.Limit, err = limit(ctx, l, subjects, s); err != nil {
		return err
	}
	result.Rate = result.Limit / 2
	fmt.Fprintf(
		stdout,
		"limit: %s transactions/s created and delivered; load from now on: %s/s for %s\n",
		report.Number(result.Limit),
		report.Number(result.Rate),
		length,
	)
	before, err := b.Booked(ctx)
	if err != nil {
		return err
	}
	accepted, err := minutes(ctx, l, subjects, length, stdout, result)
	if err != nil {
		return err
	}
	after, err := b.Booked(ctx)
	if err != nil {
		return err
	}
	if after-before != accepted {
		b.Problem("%d payments were accepted and %d booked", accepted, after-before)
	}
	if err := drained(ctx, b, s, accepted); err != nil {
		return err
	}
	judge(b, result.Minutes)
	return nil
}

// drained waits until everything is settled and delivered, and checks the result.
func drained(ctx context.Context, b *bench.Bench, s *bench.Receiver, accepted int64) error {
	for _, table := range []string{"transactions", "events"} {
		if err := cases.NoneDue(ctx, b, table); err != nil {
			return err
		}
	}
	if came, _ := s.Empty(); int64(came) < accepted {
		b.Problem("%d payments were accepted and %d events arrived", accepted, came)
	}
	left, err := b.Count(ctx, "select count(*) from events where state <> 'delivered'")
	if err == nil && left > 0 {
		b.Problem("%d events were not delivered", left)
	}
	return err
}

// limit measures the highest rate of transactions that are created, settled and delivered, per second.
func limit(ctx context.Context, l *bench.Assembly, subjects []bench.Subject, s *bench.Receiver) (float64, error) {
	begun := time.Now()
	results, err := profile.LoadAll(
		ctx,
		subjects,
		16,
		func(ctx context.Context, g *generator.Generator) generator.Result { return g.Closed(ctx, limitLength) },
	)
	if err != nil {
		return 0, err
	}
	var accepted int64
	for _, r := range results {
		accepted += r.Accepted
	}
	err = drained(ctx, l.Bench, s, accepted)
	return float64(accepted) / time.Since(begun).Seconds(), err
}

// minutes runs the load minute by minute and returns the number of accepted requests.
func minutes(
	ctx context.Context,
	l *bench.Assembly,
	subjects []bench.Subject,
	length time.Duration,
	stdout io.Writer,
	result *soaked,
) (accepted int64, err error) {
	step := min(time.Minute, length/10)
	var generators []*generator.Generator
	for _, s := range subjects {
		g, err := generator.Dial(ctx, s.Target, bench.OpenConnections)
		if err != nil {
			return 0, err
		}
		defer g.Close()
		generators = append(generators, g)
	}
	fmt.Fprintln(stdout, minuteHead)
	var all []generator.Result
	defer func() { l.Bench.Shed("the api", all...) }()
	for begun := time.Now(); time.Since(begun) < length-step/2; {
		watched := watch(ctx, l, step)
		results := make([]generator.Result, len(generators))
		if err := bench.InParallel(ctx, len(generators), len(generators), func(ctx context.Context, i int) error {
			results[i] = generators[i].Open(ctx, result.Rate/float64(len(generators)), step)
			return context.Cause(ctx)
		}); err != nil {
			return accepted, err
		}
		oldest, err := watched()
		if err != nil {
			return accepted, err
		}
		m, err := endOfMinute(ctx, l, oldest)
		if err != nil {
			return accepted, err
		}
		accepted += m.count(results)
		all = append(all, results...)
		m.Seconds = time.Since(begun).Seconds()
		fmt.Fprintln(stdout, m)
		for i, r := range results {
			if err := r.Err(); err != nil {
				l.Bench.Problem("%s: %v", subjects[i].Name, err)
			}
		}
		result.Minutes = append(result.Minutes, m)
	}
	return accepted, nil
}
