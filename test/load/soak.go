package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cauri-dev/cauri/test/load/generator"
)

// soak is the command that puts half of what is possible on everything, for long, and looks for what grows.
func soak(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("load soak", flag.ContinueOnError)
	flags.SetOutput(stderr)
	length := flags.Duration("length", 20*time.Minute, "of the load")
	file := flags.String("json", "", "file to write the figures to")
	program := programFlag(flags)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitMet
	} else if err != nil {
		return exitBroken
	}
	result, err := runSoak(ctx, *program, *length, stdout)
	if *file != "" && err == nil {
		var content []byte
		if content, err = json.MarshalIndent(result, "", "  "); err == nil {
			err = os.WriteFile(*file, append(content, '\n'), 0o644)
		}
	}
	return exitCode([]report{result.report}, false, err, stderr)
}

// soaked is what a soak came to.
type soaked struct {
	report
	Begun   time.Time `json:"begun"`
	Limit   float64   `json:"limit"` // transactions a second that were created and delivered when nothing held them back
	Rate    float64   `json:"rate"`  // half of it, which was put on
	Minutes []minute  `json:"minutes"`
}

// limitLength is for how long the limit is looked for.
const limitLength = 15 * time.Second

func runSoak(ctx context.Context, program string, length time.Duration, stdout io.Writer) (result soaked, err error) {
	if length < 10*time.Second {
		return result, fmt.Errorf("-length=%s: write 10s or more", length)
	}
	folder, err := os.MkdirTemp("", "cauri-load-")
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	built, err := buildPrograms(ctx, folder, program)
	if err != nil {
		return result, err
	}
	b, end, err := openBench(ctx, built, settings{Rounds: 1}, stdout)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, end()) }()
	b.report = report{Row: "soak", Tells: "half of what is possible, for " + length.String(), Before: machineNow()}
	result = soaked{Begun: time.Now()}
	if err := b.soak(ctx, length, stdout, &result); err != nil {
		return result, fmt.Errorf("%w\n%s", err, b.Logs(10))
	}
	if err := b.audit(ctx); err != nil {
		return result, err
	}
	b.report.After, b.report.Seconds = machineNow(), time.Since(result.Begun).Seconds()
	result.report = b.report
	result.printDetails(stdout)
	return result, nil
}

func (b *bench) soak(ctx context.Context, length time.Duration, stdout io.Writer, result *soaked) error {
	s := &sink{} // so many events are not told apart
	if err := s.open(); err != nil {
		return err
	}
	defer s.close()
	apis, err := b.apis(ctx, 1)
	if err != nil {
		return err
	}
	workers, err := b.workers(ctx, 1)
	if err != nil {
		return err
	}
	l := &assembly{bench: b, apis: apis, workers: workers}
	subjects, err := l.mixed(ctx, s.url)
	if err != nil {
		return err
	}
	if result.Limit, err = l.limit(ctx, subjects, s); err != nil {
		return err
	}
	result.Rate = result.Limit / 2
	fmt.Fprintf(stdout, "limit: %s transactions/s created and delivered; %s/s arrive from now on, for %s\n", number(result.Limit), number(result.Rate), length)
	before, err := b.booked(ctx)
	if err != nil {
		return err
	}
	accepted, err := l.minutes(ctx, subjects, length, stdout, result)
	if err != nil {
		return err
	}
	after, err := b.booked(ctx)
	if err != nil {
		return err
	}
	if after-before != accepted {
		b.problem("%d payments were accepted and %d booked", accepted, after-before)
	}
	if err := b.drained(ctx, s, accepted); err != nil {
		return err
	}
	b.judge(result.Minutes)
	return nil
}

// drained waits until everything is settled and delivered, and checks that it was.
func (b *bench) drained(ctx context.Context, s *sink, accepted int64) error {
	for _, table := range []string{"transactions", "events"} {
		if err := b.noneDue(ctx, table); err != nil {
			return err
		}
	}
	if came, _ := s.empty(); int64(came) < accepted {
		b.problem("%d payments were accepted and %d events arrived", accepted, came)
	}
	left, err := b.Count(ctx, "select count(*) from events where state <> 'delivered'")
	if err == nil && left > 0 {
		b.problem("%d events were not delivered", left)
	}
	return err
}

// limit measures how many transactions a second are created, settled and delivered.
func (l *assembly) limit(ctx context.Context, subjects []subject, s *sink) (float64, error) {
	begun := time.Now()
	results, err := loadAll(ctx, subjects, 16, func(ctx context.Context, g *generator.Generator) generator.Result { return g.Closed(ctx, limitLength) })
	if err != nil {
		return 0, err
	}
	var accepted int64
	for _, r := range results {
		accepted += r.Accepted
	}
	err = l.bench.drained(ctx, s, accepted)
	return float64(accepted) / time.Since(begun).Seconds(), err
}

// minutes puts the load on, minute by minute, and returns how many requests were accepted.
func (l *assembly) minutes(ctx context.Context, subjects []subject, length time.Duration, stdout io.Writer, result *soaked) (accepted int64, err error) {
	step := min(time.Minute, length/10)
	var generators []*generator.Generator
	for _, s := range subjects {
		g, err := generator.Dial(ctx, s.target, openConnections)
		if err != nil {
			return 0, err
		}
		defer g.Close()
		generators = append(generators, g)
	}
	fmt.Fprintln(stdout, minuteHead)
	var all []generator.Result
	defer func() { l.bench.shed("the api", all...) }()
	for begun := time.Now(); time.Since(begun) < length-step/2; {
		watched := l.watch(ctx, step)
		results := make([]generator.Result, len(generators))
		if err := inParallel(ctx, len(generators), len(generators), func(ctx context.Context, i int) error {
			results[i] = generators[i].Open(ctx, result.Rate/float64(len(generators)), step)
			return context.Cause(ctx)
		}); err != nil {
			return accepted, err
		}
		oldest, err := watched()
		if err != nil {
			return accepted, err
		}
		m, err := l.endOfMinute(ctx, oldest)
		if err != nil {
			return accepted, err
		}
		accepted += m.count(results)
		all = append(all, results...)
		m.Seconds = time.Since(begun).Seconds()
		fmt.Fprintln(stdout, m)
		for i, r := range results {
			if err := r.Err(); err != nil {
				l.bench.problem("%s: %v", subjects[i].name, err)
			}
		}
		result.Minutes = append(result.Minutes, m)
	}
	return accepted, nil
}
